"""From what the gate, the intake and Spark said to one record a partition. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from lineage_assets.assets.asked import Asked
from lineage_assets.assets.programs import Ready
from lineage_assets.assets.reuse import landing_version_of
from lineage_assets.graph import AssetKey, AssetNode, name_of
from lineage_assets.ledger.gate import Blocked
from lineage_assets.ledger.record import (
    Assertion,
    Attempt,
    Cause,
    ColumnSource,
    PartitionRecord,
    State,
    Transformation,
)
from lineage_assets.ledger.scene import SceneText
from lineage_assets.partitions import PartitionSet
from lineage_assets.redaction import redact_text
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Observed, PartitionReport, Report, Source


@dataclass(frozen=True, slots=True)
class Making:
    """What is the same in every record of one attempt."""

    asked: Asked
    number: int
    code_version: str
    started: datetime
    range_run: bool
    scenes: Mapping[AssetKey, SceneText]

    def attempts(self, partitions: PartitionSet, owner: str) -> tuple[Attempt, ...]:
        return tuple(
            Attempt(
                asset=node.key,
                run_id=self.asked.run_id,
                number=self.number,
                partitions=partitions,
                started=self.started,
                code_version=self.code_version,
                owner=owner,
                backfill=self.asked.backfill,
                backfill_job=self.asked.backfill_job,
                range_run=self.range_run,
                scene=self.scenes[node.key],
            )
            for node in self.asked.nodes
        )

    def record(self, node: AssetNode, partition: str, state: State, ended: datetime) -> PartitionRecord:
        return PartitionRecord(
            asset=node.key,
            partition=partition,
            state=state,
            run_id=self.asked.run_id,
            number=self.number,
            started=self.started,
            ended=ended,
            code_version=self.code_version,
            backfill=self.asked.backfill,
            range_run=self.range_run,
        )

    def blocked(self, partition: str, verdict: Blocked, ended: datetime) -> Iterator[PartitionRecord]:
        for node in self.asked.nodes:
            record = self.record(node, partition, State.BLOCKED, ended)
            yield replace(record, cause=verdict.cause, blocked_by=verdict.refs)

    def all_failed(self, partitions: Iterable[str], cause: Cause, ended: datetime) -> Iterator[PartitionRecord]:
        for partition in partitions:
            for node in self.asked.nodes:
                yield replace(self.record(node, partition, State.FAILED, ended), cause=cause)

    def reused(self, node: AssetNode, standing: PartitionRecord, ended: datetime) -> PartitionRecord:
        record = self.record(node, standing.partition, State.REUSED, ended)
        return replace(
            record,
            rows=standing.rows,
            fingerprint=standing.fingerprint,
            inputs=standing.inputs,
            input_rows=standing.input_rows,
            input_snapshots=standing.input_snapshots,
            landing=standing.landing,
            snapshot=standing.snapshot,
            made_by=standing.made_by,
            columns=standing.columns,
            row_sources=standing.row_sources,
            size_bytes=standing.size_bytes,
            files=standing.files,
            nulls=standing.nulls,
            assertions=standing.assertions,
        )

    def computed(
        self,
        program: Program,
        report: Report,
        ready: Mapping[str, Ready],
        drift: tuple[str, ...],
        ended: datetime,
    ) -> Iterator[PartitionRecord]:
        """One record a partition and asset of what Spark reported."""
        problem = report.observed.problem
        warning = None if problem is None or program.existing else f"Spark's own events are missing: {problem}"
        for node in self.asked.nodes:
            made = report.outputs[name_of(node.key)]
            columns, row_sources = _sources(program, node, report.observed)
            for partition, one in sorted(made.partitions.items()):
                state = State.GOOD if one.published else State.FAILED
                record = self.record(node, partition, state, ended)
                yield replace(
                    record,
                    cause=_cause(one),
                    rows=one.rows,
                    fingerprint=one.fingerprint,
                    inputs=ready[partition].go.versions,
                    input_rows=ready[partition].go.rows,
                    input_snapshots=_snapshots(report, ready[partition]),
                    spark_version=report.spark_version or None,
                    application_id=report.application_id or None,
                    landing=landing_version_of(ready[partition]),
                    snapshot=made.snapshot if one.published else None,
                    made_by=self.asked.run_id if one.published else None,
                    columns=columns,
                    row_sources=row_sources,
                    size_bytes=one.size_bytes,
                    files=one.files,
                    nulls=one.nulls,
                    assertions=tuple(Assertion(**asdict(asked)) for asked in one.assertions),
                    drift=drift,
                    warning=warning if one.warning is None else one.warning,
                )


def _cause(report: PartitionReport) -> Cause | None:
    if report.published:
        return None
    kind = report.cause if report.cause is not None else "job failed"
    return Cause(kind, redact_text(report.message) if report.message is not None else kind)


def _snapshots(report: Report, ready: Ready) -> dict[AssetKey, int]:
    """Per input the snapshot at which a partition's days of it were read, where that was one."""
    by_asset = {tuple(name.split("/")): pinned for name, pinned in report.snapshots.items()}
    found = {asset: pinned.of(ready.go.versions.get(asset, {})) for asset, pinned in by_asset.items()}
    return {asset: snapshot for asset, snapshot in found.items() if snapshot is not None}


def _sources(
    program: Program, node: AssetNode, observed: Observed
) -> tuple[dict[str, tuple[ColumnSource, ...]], tuple[ColumnSource, ...]]:
    """What the columns of one asset are made from, and what decides on its rows, in declared names."""
    table = next((output.table for output in program.outputs if output.asset == name_of(node.key)), None)
    if table is None:
        return {}, ()
    tables = {read.table: tuple(read.asset.split("/")) for read in program.tables}
    columns = {column: _named(sources, tables) for column, sources in observed.columns.get(table, {}).items()}
    return {column: made for column, made in columns.items() if made}, _named(
        observed.row_sources.get(table, ()), tables
    )


def _named(sources: Iterable[Source], tables: Mapping[str, AssetKey]) -> tuple[ColumnSource, ...]:
    """Sources by the names of the declared inputs; of anything else there is no asset to name."""
    return tuple(
        ColumnSource(
            tables[source.dataset],
            source.column,
            tuple(Transformation(step.type, step.subtype, step.masking) for step in source.transformations),
        )
        for source in sources
        if source.dataset in tables
    )
