"""The driver's loop, on a lane that only keeps what it is asked to run."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given

from lineage_assets.backfill.driver import Begun, Ran, Step, Stopped, drive
from lineage_assets.backfill.plan import BackfillPlan, Unit
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.partitions import keys_of
from tests.support.graphs import NOW, days, diamond, food_delivery, rolling_chain
from tests.support.records import make_record
from tests.support.strategies import asked_graphs


def all_good(unit: Unit) -> list[PartitionRecord]:
    return [make_record(day, asset=asset) for asset in unit.assets for day in keys_of(unit.partitions)]


@dataclass
class KeptLane:
    """Runs nothing; gives the verdicts that `verdicts` makes."""

    verdicts: Callable[[Unit], list[PartitionRecord]] = all_good
    stop_after: int | None = None
    interrupt_in: int | None = None
    units: list[str] = field(default_factory=list)

    def run(self, unit: Unit) -> Ran:
        self.units.append(str(unit))
        is_interrupted = len(self.units) == self.interrupt_in
        return Ran(unit, f"run-{len(self.units)}", tuple(self.verdicts(unit)), is_interrupted=is_interrupted)

    def is_stopped(self) -> bool:
        return self.stop_after is not None and len(self.units) >= self.stop_after


def make_plan(graph: AssetGraph, root: str, first: str, last: str | None = None) -> BackfillPlan:
    return plan_backfill(graph, BackfillRequest.downstream_of((root,), days(first, last)), now=NOW)


def steps(plan: BackfillPlan, graph: AssetGraph, lane: KeptLane) -> list[Step]:
    return list(drive(plan, graph, lane))


@given(asked_graphs())
def test_a_plan_is_run_unit_by_unit_as_it_says(asked: tuple[AssetGraph, BackfillRequest]) -> None:
    graph, request = asked
    plan = plan_backfill(graph, request, now=NOW)
    lane = KeptLane()
    taken = steps(plan, graph, lane)
    assert [step.unit for step in taken if isinstance(step, Begun)] == list(plan.units)
    assert [step.unit for step in taken if isinstance(step, Ran)] == list(plan.units)


def test_a_bad_verdict_stops_nothing_for_the_gate_says_what_is_blocked() -> None:
    def all_failed(unit: Unit) -> list[PartitionRecord]:
        return [make_record(day, State.FAILED, asset=a) for a in unit.assets for day in keys_of(unit.partitions)]

    graph = food_delivery()
    plan = make_plan(graph, "orders", "2021-06-04", "2021-06-06")
    lane = KeptLane(all_failed)
    steps(plan, graph, lane)
    assert lane.units == [str(unit) for unit in plan.units]


def test_what_reads_a_partition_without_a_verdict_is_not_run() -> None:
    """A run that died gave none on 05-26: only the seven days that read it are left out, and on from there."""

    def died_on_one_day(unit: Unit) -> list[PartitionRecord]:
        return [record for record in all_good(unit) if (record.asset, record.partition) != (("raw",), "2021-05-26")]

    graph = rolling_chain()
    plan = make_plan(graph, "raw", "2021-05-24", "2021-06-12")
    lane = KeptLane(died_on_one_day)
    steps(plan, graph, lane)
    assert lane.units == [
        "raw 2021-05-24..2021-06-12",
        "week 2021-05-24..2021-05-25",
        "week 2021-06-02..2021-06-12",
        "r2 2021-05-24..2021-05-25",
        "r2 2021-06-08..2021-06-12",
        "r3 2021-05-24..2021-05-25",
    ]


def test_of_a_diamond_the_side_that_died_takes_the_bottom_with_it() -> None:
    def left_died(unit: Unit) -> list[PartitionRecord]:
        return [] if ("left",) in unit.assets else all_good(unit)

    graph = diamond()
    lane = KeptLane(left_died)
    steps(make_plan(graph, "top", "2021-06-01"), graph, lane)
    assert lane.units == [
        "top 2021-06-01",
        "left 2021-06-01",
        "right 2021-06-01..2021-06-07",
        "bottom 2021-06-02..2021-06-07",
    ]


def test_asked_to_stop_it_stops_between_units() -> None:
    graph = food_delivery()
    lane = KeptLane(stop_after=2)
    taken = steps(make_plan(graph, "orders", "2021-06-04"), graph, lane)
    assert lane.units == ["orders 2021-06-04", "orders_7_days 2021-06-04..2021-06-10"]
    assert isinstance(taken[-1], Stopped)


def test_interrupted_in_a_unit_it_runs_no_other() -> None:
    graph = food_delivery()
    lane = KeptLane(interrupt_in=1)
    taken = steps(make_plan(graph, "orders", "2021-06-04"), graph, lane)
    assert [type(step) for step in taken] == [Begun, Ran, Stopped]
