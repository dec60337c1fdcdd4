"""The story of the bad days, told on real Spark: a feed breaks, what is downstream waits, one backfill repairs it.

Acts and answers what came of it; prints nothing, so that the demo and the end-to-end test tell the same story.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from time import monotonic

from dagster import AssetKey as DagsterAssetKey
from dagster import DagsterExecutionInterruptedError, DagsterInstance

from lineage_assets.assets.asked import ADOPT_TAG
from lineage_assets.backfill.interrupts import hearing_signals
from lineage_assets.backfill.lane import quiet
from lineage_assets.cli.project import Project
from lineage_assets.cli.terminal import own_terminal
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.dagster_log import read_histories, records_of_run
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.partitions import PartitionSet, key_of
from lineage_assets.pipelines.food_delivery import feed

FIRST, LAST = date(2021, 5, 24), date(2021, 6, 12)
HISTORY_ENDS = date(2021, 6, 3)
BAD_FIRST, BAD_LAST = date(2021, 6, 4), date(2021, 6, 6)


@dataclass(frozen=True, slots=True)
class RunResult:
    """One Dagster run over all assets: how it ended, and the verdict on every partition it was asked for."""

    run_id: str
    first: date
    last: date
    is_success: bool
    seconds: float
    records: tuple[PartitionRecord, ...]

    def count(self, state: State) -> int:
        return sum(record.state is state for record in self.records)


@dataclass(frozen=True, slots=True)
class Story:
    """The pipeline of a project on an instance, with its landing folder."""

    project: Project
    instance: DagsterInstance
    landing: Path

    def drop_feed(self, faults: feed.Faults = feed.BAD_DAYS) -> None:
        feed.drop(self.landing, FIRST, LAST, faults=faults)

    def repair_feed(self) -> None:
        feed.repair(self.landing)

    def history(self) -> RunResult:
        """Everything up to the last good day, in one range."""
        return self.run(FIRST, HISTORY_ENDS)

    def days(self) -> Iterator[RunResult]:
        """The days after it, one by one, all jobs each, as a scheduler would."""
        for number in range((LAST - HISTORY_ENDS).days):
            day = HISTORY_ENDS + timedelta(days=number + 1)
            yield self.run(day, day)

    def adopt(self, asset: AssetKey, first: date, last: date) -> RunResult:
        """Take in what the table of one asset holds."""
        return self.run(first, last, only=asset, tags={ADOPT_TAG: "true"})

    def run(
        self, first: date, last: date, *, only: AssetKey | None = None, tags: Mapping[str, str] | None = None
    ) -> RunResult:
        """All assets or one for a range, in one Dagster run; it ends, whatever its partitions do.

        What the run prints goes to a log. Ctrl-C, which Dagster may take for a failure of the run, is passed on.
        """
        started = monotonic()
        job = self.project.definitions.resolve_implicit_global_asset_job_def()
        with own_terminal(self.landing.parent / "logs" / "runs.log"), _passing_on_interrupts():
            result = job.execute_in_process(
                instance=self.instance,
                asset_selection=None if only is None else [DagsterAssetKey(only)],
                raise_on_error=False,
                run_config=quiet(job),
                tags={
                    "dagster/asset_partition_range_start": first.isoformat(),
                    "dagster/asset_partition_range_end": last.isoformat(),
                    **(tags if tags is not None else {}),
                },
            )
        # By partition, so that of several attempts the last one counts.
        verdicts = {(one.asset, one.partition): one for one in records_of_run(self.instance, result.run_id)}
        records = tuple(verdicts.values())
        return RunResult(result.run_id, first, last, result.success, monotonic() - started, records)

    def verdicts(self) -> Mapping[AssetKey, Mapping[str, PartitionRecord]]:
        """The newest verdict on every partition."""
        histories = read_histories(self.instance, self.project.graph.order)
        return {asset: history.verdicts for asset, history in histories.items()}


@contextmanager
def _passing_on_interrupts() -> Iterator[None]:
    """Whatever Dagster makes of a Ctrl-C, a failure of the run or nothing: here it ends what goes on."""
    with hearing_signals() as heard:
        try:
            yield
        except DagsterExecutionInterruptedError:
            raise KeyboardInterrupt from None
        if heard.interrupted():
            raise KeyboardInterrupt


def days_of(first: date, last: date) -> tuple[str, ...]:
    return tuple(key_of(day) for day in PartitionSet.between(first.toordinal(), last.toordinal()))
