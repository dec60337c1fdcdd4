"""Ledgers in these tests: facts written into the log of a Dagster instance, each under its run, and what they tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID, uuid5

from dagster import AssetMaterialization, AssetObservation, DagsterEvent, DagsterEventType, DagsterInstance, DagsterRun
from dagster import DagsterRunStatus as Status
from dagster._core.events import AssetObservationData, StepMaterializationData

from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.dagster_log import attempt_event, bad_event, closing_event, good_event
from lineage_assets.ledger.owner import OWNER_TAG
from lineage_assets.ledger.record import Attempt, Cause, Closing, Fact, PartitionRecord, PartitionRef, State
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.foreground import Audience
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.retelling import attempts_in
from lineage_assets.partitions import key_of, set_of
from lineage_assets.reconcile.bookmark import Bookmark
from lineage_assets.reconcile.replay import Progress, Source, chapters, deliver
from lineage_assets.reconcile.selection import Selection
from lineage_assets.reconcile.whole_log import follow_log, goes_on, logged_assets
from tests.lineage.facts import DISCOUNTS, MENUS, ORDERS, STARTED, TOP, WEEKLY, attempt, graph, verdict
from tests.support.graphs import days

_RUNS = UUID("bd1d3f0e-1111-4222-8333-444455556666")
SCHEMA_CHANGE = Cause("schema change", 'the column "menu_id" is missing')
UPSTREAM = Cause("upstream", "reads what is bad: orders 2021-06-04 (schema change)")
ROOT = PartitionRef(ORDERS, "2021-06-04")


def graph_in(namespace: str) -> AssetGraph:
    """The corner of food_delivery with names of one test only."""
    return AssetGraph.of(
        replace(
            node,
            job=replace(node.job, namespace=namespace),
            dataset=None if node.dataset is None else replace(node.dataset, namespace=namespace),
        )
        for node in graph().nodes.values()
    )


def run_of(namespace: str, number: int) -> str:
    return str(uuid5(_RUNS, f"{namespace} {number}"))


def write(instance: DagsterInstance, facts: Iterable[Fact], status: Status = Status.SUCCESS) -> None:
    """Log the facts in order, each in its run."""
    for fact in facts:
        if not instance.has_run(fact.run_id):
            tags = {OWNER_TAG: fact.owner} if isinstance(fact, Attempt) else {}
            instance.add_run(DagsterRun(job_name="shop", run_id=fact.run_id, status=status, tags=tags))
        said = _event(fact)
        if isinstance(said, AssetMaterialization):
            kind, data = DagsterEventType.ASSET_MATERIALIZATION, StepMaterializationData(said)
        else:
            kind, data = DagsterEventType.ASSET_OBSERVATION, AssetObservationData(said)
        instance.report_dagster_event(DagsterEvent(kind.value, "shop", event_specific_data=data), fact.run_id)


def _event(fact: Fact) -> AssetMaterialization | AssetObservation:
    match fact:
        case Attempt():
            return attempt_event(fact)
        case Closing():
            return closing_event(fact)
        case _ if fact.state.is_bad:
            return bad_event(fact)
        case _:
            return good_event(fact, metadata={}, tags={})


@dataclass(frozen=True)
class World:
    """Days of a small shop as its runs recorded them: good, failed, blocked, repaired, in a range, cut off."""

    namespace: str

    @property
    def graph(self) -> AssetGraph:
        return graph_in(self.namespace)

    def attempts(self) -> list[tuple[list[Attempt], list[PartitionRecord | Closing]]]:
        """Each attempt with what came of it, in the order in which they ended."""
        of = self.graph
        week = {ORDERS: {key_of(day): "f" * 32 for day in days("2021-05-28", "2021-06-03")}}
        both, good, bad = days("2021-06-03", "2021-06-04"), days("2021-06-03"), days("2021-06-04")
        one = {"run_id": run_of(self.namespace, 1)}
        two = self._run(2, hours=1)
        three = self._run(3, hours=2)
        four = self._run(4, hours=3)
        again = {**four, "backfill": self.namespace}
        year = days("2021-05-24", "2021-06-02")
        cut = Closing(MENUS, three["run_id"], 1, bad, three["ended"], Cause("killed", "the process is gone"))
        blocked = verdict("2021-06-04", State.BLOCKED, WEEKLY, cause=UPSTREAM, blocked_by=(ROOT,), **one)
        return [
            (
                [attempt(year, of=of, range_run=True, **one)],
                [verdict(key_of(day), range_run=True, **one) for day in year],
            ),
            (
                [attempt(both, of=of, **one)],
                [verdict("2021-06-03", **one), verdict("2021-06-04", State.FAILED, cause=SCHEMA_CHANGE, **one)],
            ),
            ([attempt(both, WEEKLY, of=of, **one)], [blocked, verdict("2021-06-03", asset=WEEKLY, inputs=week, **one)]),
            (
                [attempt(good, asset, of=of, **_times(two)) for asset in (TOP, DISCOUNTS)],
                [verdict("2021-06-03", asset=asset, **two) for asset in (TOP, DISCOUNTS)],
            ),
            ([attempt(both, MENUS, of=of, **_times(three))], [verdict("2021-06-03", asset=MENUS, **three), cut]),
            ([attempt(bad, of=of, **_times(again))], [verdict("2021-06-04", rows=130, snapshot=77, **again)]),
            ([attempt(bad, WEEKLY, of=of, **_times(again))], [verdict("2021-06-04", asset=WEEKLY, **again)]),
        ]

    def facts(self) -> list[Fact]:
        return [fact for attempts, outcomes in self.attempts() for fact in (*attempts, *outcomes)]

    def as_it_went(self) -> list[Event]:
        """What the runs themselves sent: STARTs when they began, ends when they were over."""
        told, sent = Projection(), []
        for attempts, outcomes in self.attempts():
            records = [one for one in outcomes if isinstance(one, PartitionRecord)]
            tried = attempts[0].partitions - set_of(one.partition for one in records if one.state is State.BLOCKED)
            sent += told.blocked(attempts, records)
            sent += told.started(attempts, tried)
            sent += told.ended(attempts, tried, outcomes)
        return sent

    def _run(self, number: int, hours: int) -> dict[str, object]:
        started = STARTED + timedelta(hours=hours)
        return {
            "run_id": run_of(self.namespace, number),
            "started": started,
            "ended": started + timedelta(minutes=1),
        }


def _times(run: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in run.items() if name != "ended"}


@dataclass
class Hearing:
    """A receiver in memory; it may go away after some events, or be killed with whoever sends."""

    most: int | None = None
    bodies: list[str] = field(default_factory=list)
    error: type[BaseException] | BaseException = KeyboardInterrupt

    def emit(self, body: str) -> None:
        if self.most is not None and len(self.bodies) >= self.most:
            raise self.error
        self.bodies.append(body)

    def close(self) -> None:
        pass


def replay(
    instance: DagsterInstance,
    graph: AssetGraph,
    transport: Hearing | Audience | object,
    bookmark: Bookmark,
    selection: Selection | None = None,
    **source: object,
) -> Progress:
    """What the command does, without a terminal."""
    told = Source(
        attempts_in(follow_log(instance, logged_assets(instance, graph))),
        **{"goes_on": lambda one: goes_on(instance, one), **source},
    )
    story = chapters(told, Selection() if selection is None else selection, Projection(), after=bookmark.place)
    audience = transport if isinstance(transport, Audience) else Audience(transport)
    return deliver(story, audience, bookmark, saw=lambda _progress: None)
