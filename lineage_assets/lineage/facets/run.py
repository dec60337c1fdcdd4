"""The facets of a run: when, with what, whose try, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from openlineage.client import facet_v2 as standard
from openlineage.client.facet_v2 import RunFacet

from lineage_assets.ledger.record import PartitionRecord
from lineage_assets.lineage.facets import MOST_NAMED, PRODUCER
from lineage_assets.lineage.facets.own import (
    LineageAssetsAttemptRunFacet,
    LineageAssetsBackfillRunFacet,
    LineageAssetsBlockRunFacet,
    LineageAssetsReuseRunFacet,
)
from lineage_assets.lineage.ids import backfill_lineage_run_id
from lineage_assets.lineage.parents import parent_of
from lineage_assets.lineage.turns import Block, Computation, LineageRun, Mistake, Note, Reuse
from lineage_assets.partitions import PartitionSet, key_of


def frame_facets(partitions: PartitionSet, spark_version: str, adapter_version: str) -> dict[str, RunFacet]:
    """When the partitions are of, and by what they are made: of very many runs the same."""
    first, last = partitions.ranges[0]
    return {
        "nominalTime": standard.nominal_time_run.NominalTimeRunFacet(
            f"{key_of(first)}T00:00:00Z", f"{key_of(last + 1)}T00:00:00Z", producer=PRODUCER
        ),
        "processing_engine": standard.processing_engine_run.ProcessingEngineRunFacet(
            spark_version, "spark", adapter_version, producer=PRODUCER
        ),
    }


def run_facets(run: LineageRun, notes: Iterable[Note], *, with_parent: bool) -> dict[str, RunFacet]:
    """The other facets of one run; the same at START and at the end but for the notes."""
    told = list(notes)
    computed = computation_of(told)
    first, last = run.partitions.ranges[0]
    facets: dict[str, RunFacet] = {
        "lineageAssets_attempt": LineageAssetsAttemptRunFacet(
            dagsterRunId=run.run_id,
            assetKeys=[list(asset) for asset in run.assets],
            attempt=run.number,
            codeVersion=run.code_version,
            partition=key_of(first) if first == last else None,
            partitions=None if first == last else {"first": key_of(first), "last": key_of(last)},
            applicationId=computed.application_id,
            drift=list(computed.drift) or None,
            producer=PRODUCER,
        ),
        "tags": _tags(run),
    }
    if run.backfill is not None:
        facets["lineageAssets_backfill"] = backfill_facet(run.backfill, backfill_lineage_run_id(run.backfill))
    parent = _parent(run) if with_parent else None
    if parent is not None:
        facets["parent"] = parent
    for note in told:
        named = _note_facet(note)
        if named is not None:
            facets[named[0]] = named[1]
    return facets


def computation_of(notes: Iterable[Note]) -> Computation:
    """What Spark said of itself, where it did."""
    return next((note for note in notes if isinstance(note, Computation)), Computation())


def backfill_facet(
    backfill: str, lineage_run: UUID, story: Mapping[str, Any] | None = None
) -> LineageAssetsBackfillRunFacet:
    """Which backfill: its id and its own lineage run; on that run also who asked for what, and what came of it."""
    told = story if story is not None else {}
    return LineageAssetsBackfillRunFacet(id=backfill, run={"runId": str(lineage_run)}, **told, producer=PRODUCER)


def error_facet(message: str) -> RunFacet:
    return standard.error_message_run.ErrorMessageRunFacet(message, "PYTHON", producer=PRODUCER)


def _tags(run: LineageRun) -> RunFacet:
    """What a receiver without our facets can still search by."""
    said = {"dagster_run_id": run.run_id, "code_version": run.code_version}
    if run.backfill is not None:
        said["dagster_backfill"] = run.backfill
    fields = [standard.tags_run.TagsRunFacetFields(key, value, "DAGSTER") for key, value in sorted(said.items())]
    return standard.tags_run.TagsRunFacet(fields, producer=PRODUCER)


def _parent(run: LineageRun) -> RunFacet | None:
    parent = parent_of(run.job, run.run_id)
    if parent is None:
        return None
    of = standard.parent_run
    job, run_id = parent
    root = of.Root(of.RootRun(str(run_id)), of.RootJob(job.namespace, job.name))
    if run.backfill is not None and run.backfill_job is not None:
        root = of.Root(of.RootRun(str(backfill_lineage_run_id(run.backfill))), of.RootJob(*run.backfill_job))
    return of.ParentRunFacet(of.Run(str(run_id)), of.Job(job.namespace, job.name), root, producer=PRODUCER)


def _note_facet(note: Note) -> tuple[str, RunFacet] | None:
    match note:
        case Mistake(message):
            return "errorMessage", error_facet(message)
        case Block(cause, by):
            blocking = [{"assetKey": list(ref.asset), "partition": ref.partition} for ref in by[:MOST_NAMED]]
            facet = LineageAssetsBlockRunFacet(cause.kind, cause.message, blocking, len(by), producer=PRODUCER)
            return "lineageAssets_block", facet
        case Reuse(records):
            made = [_made(record) for record in records[:MOST_NAMED]]
            return "lineageAssets_reuse", LineageAssetsReuseRunFacet(made, len(records), producer=PRODUCER)
        case Computation():
            return None  # in the facets that every run has


def _made(record: PartitionRecord) -> dict[str, Any]:
    return {
        "assetKey": list(record.asset),
        "partition": record.partition,
        "dagsterRunId": record.made_by,
        "dataVersion": record.fingerprint,
    }
