"""Marquez held against the ledger, a job at a time: each ended attempt is there, as it ended; nothing is believed.

Reads the log of the assets that share a job, then pages through the runs that Marquez has of it. Changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from dagster import DagsterInstance, RunsFilter

from lineage_assets.graph import AssetKey
from lineage_assets.ledger.dagster_log import facts_of_run
from lineage_assets.ledger.record import Fact, PartitionRecord, State
from lineage_assets.ledger.scene import parse_scene
from lineage_assets.ledger.unreadable import UnreadableRecordError
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.projection import started
from lineage_assets.lineage.retelling import OpenAttempt, attempts_in
from lineage_assets.lineage.turns import Turn, TurnType
from lineage_assets.marquez.client import MarquezClient
from lineage_assets.marquez.errors import NotInMarquezError
from lineage_assets.marquez.shapes import Run
from lineage_assets.partitions import PartitionSet, set_of
from lineage_assets.reconcile.closings import is_live
from lineage_assets.reconcile.expected import (
    STATES,
    DatasetName,
    Expected,
    JobReport,
    Kind,
    difference,
    gathered,
    partitions_of,
)
from lineage_assets.reconcile.selection import Selection
from lineage_assets.reconcile.whole_log import follow_log, goes_on, job_groups

JobName = tuple[str, str]
"""Namespace and name."""
Difference = tuple[Kind, str, PartitionSet]
_RUN_IDS = 200
"""Named in one query."""


@dataclass(slots=True)
class _Job:
    """What the ledger says of one job."""

    assets: set[AssetKey] = field(default_factory=set)
    ended: dict[UUID, Expected] = field(default_factory=dict)
    underway: set[UUID] = field(default_factory=set)
    unclosed: list[Difference] = field(default_factory=list)
    datasets: set[DatasetName] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Verification:
    """A comparison of one ledger with one server."""

    instance: DagsterInstance
    client: MarquezClient
    selection: Selection
    saw: Callable[[JobName, int], None] = lambda _job, _runs: None
    """Told of each job, and again of each hundred runs of it."""
    unreadable: list[UnreadableRecordError] = field(default_factory=list)
    """What the log holds that cannot be read; what it says was not compared."""

    def missed(self, record: UnreadableRecordError) -> None:
        self.unreadable.append(record)

    def reports(self, assets: Iterable[AssetKey]) -> Iterator[JobReport]:
        """A report a job, of the assets given that are selected; jobs that never ended an attempt have none."""
        for group in job_groups(self.instance, assets):
            if any(self.selection.has_asset(asset) for asset in group):
                jobs = self._by_ledger(group)
                while jobs:
                    name = min(jobs)
                    yield self._report(name, jobs.pop(name))

    def backfills(self, told: Iterable[tuple[datetime, tuple[Event, ...]]]) -> Iterator[JobReport]:
        """The same of the jobs that backfills are runs of."""
        jobs: dict[JobName, _Job] = {}
        for _, events in told:
            end = events[-1]
            namespace = str(json.loads(end.body)["job"]["namespace"])
            known = Expected("", (), PartitionSet(), STATES[end.type], None, ())
            jobs.setdefault((namespace, end.job), _Job()).ended[end.lineage_run_id] = known
        for name in sorted(jobs):
            yield self._report(name, jobs[name])

    def _by_ledger(self, group: set[AssetKey]) -> dict[JobName, _Job]:
        jobs: dict[JobName, _Job] = {}
        for _, attempt in attempts_in(follow_log(self.instance, sorted(group), self.missed)):
            if any(self.selection.days(one.partitions) for one in attempt.attempts):
                job = parse_scene(attempt.attempts[0].scene).node.job
                self._keep(attempt, jobs.setdefault((job.namespace, job.name), _Job()))
        return jobs

    def _keep(self, attempt: OpenAttempt, job: _Job) -> None:
        job.assets.update(one.asset for one in attempt.attempts)
        for turn in attempt.turns():
            if turn.type is not TurnType.START and self.selection.days(turn.run.partitions):
                job.ended[turn.run.lineage_run_id] = Expected.of(turn)
                job.datasets |= _datasets(turn)
        if not attempt.is_over:
            # Whether it goes on or died, Marquez may know its runs.
            job.underway |= {turn.run.lineage_run_id for turn in _begun(attempt)} - job.ended.keys()
            is_whole = all(one.run_id != attempt.attempts[0].run_id for one in self.unreadable)
            if is_whole and not goes_on(self.instance, attempt):
                left = PartitionSet.of(day for days in attempt.left.values() for day in days)
                job.unclosed.append((Kind.OPEN, "its process is gone", left))

    def _report(self, name: JobName, job: _Job) -> JobReport:
        self.saw(name, 0)
        compared, wrong, unknown = len(job.ended), list[tuple[Expected, Kind, str]](), 0
        for number, found in enumerate(self._runs(name)):
            expected = job.ended.pop(UUID(found.id), None)
            if expected is not None:
                other = difference(expected, found)
                wrong += [] if other is None else [(expected, *other)]
            elif UUID(found.id) not in job.underway:
                unknown += self._is_meant(found)
            if number % 100 == 0:
                self.saw(name, number)
        wrong += [(expected, Kind.MISSING, "") for expected in job.ended.values()]
        live = self._live({expected.run_id for expected, _, _ in wrong})
        differences = [(kind, why, one.partitions) for one, kind, why in wrong if one.run_id not in live]
        return JobReport(
            *name,
            assets=tuple(sorted(job.assets)),
            compared=compared,
            found=gathered([*differences, *job.unclosed]),
            unknown=unknown,
            underway=len(wrong) - len(differences) + len(job.underway),
            is_missing=compared > 0 and not self._has_job(name),
            missing_datasets=tuple(one[1] for one in sorted(job.datasets) if not self._has_dataset(one)),
        )

    def _runs(self, name: JobName) -> Iterator[Run]:
        """Each run once, however pages shift while runs begin."""
        seen = set[str]()
        try:
            for run in self.client.each_run(*name):
                if run.id not in seen:
                    seen.add(run.id)
                    yield run
        except NotInMarquezError:
            return

    def _is_meant(self, found: Run) -> bool:
        partitions = partitions_of(found)
        return bool(self.selection.days(partitions)) or (not partitions and self.selection.is_every_day)

    def _live(self, run_ids: set[str]) -> set[str]:
        """Those of the Dagster runs whose own processes may yet tell of them."""
        live = set[str]()
        ids = sorted(run_ids)
        for start in range(0, len(ids), _RUN_IDS):
            for record in self.instance.get_run_records(RunsFilter(run_ids=ids[start : start + _RUN_IDS])):
                run_id = record.dagster_run.run_id
                if not record.dagster_run.is_finished and is_live(record, self._facts(run_id)):
                    live.add(run_id)
        return live

    def _facts(self, run_id: str) -> tuple[Fact, ...]:
        try:
            return facts_of_run(self.instance, run_id)
        except UnreadableRecordError:
            return ()  # named where the log was read

    def _has_job(self, name: JobName) -> bool:
        try:
            self.client.job(*name)
        except NotInMarquezError:
            return False
        return True

    def _has_dataset(self, name: DatasetName) -> bool:
        try:
            self.client.dataset(*name)
        except NotInMarquezError:
            return False
        return True


def _begun(attempt: OpenAttempt) -> Iterator[Turn]:
    """The START of each lineage run that the process of an open attempt has told, or may have."""
    records = (one for one in attempt.outcomes if isinstance(one, PartitionRecord))
    blocked = set_of(record.partition for record in records if record.state is State.BLOCKED)
    return started(attempt.attempts, attempt.attempts[0].partitions - blocked)


def _datasets(turn: Turn) -> set[DatasetName]:
    named = (*(one.dataset for one in turn.inputs), *(one.dataset for one in turn.outputs))
    return {(dataset.namespace, dataset.name) for dataset in named}
