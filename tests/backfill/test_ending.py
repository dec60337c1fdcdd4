"""After a backfill that is not whole: what is missing, why, and the command that reaches where it began."""

from lineage_assets.backfill.ending import ending_lines
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.backfill.tally import Tally
from lineage_assets.ledger.record import Cause, PartitionRecord, PartitionRef, State
from lineage_assets.partitions import keys_of
from tests.support.graphs import NOW, days, food_delivery
from tests.support.records import make_record

PLAN = plan_backfill(
    food_delivery(), BackfillRequest.downstream_of(("orders",), days("2021-06-04", "2021-06-06")), now=NOW
)
ALL_GOOD = [make_record(day, asset=one.asset) for one in PLAN.assets for day in keys_of(one.partitions)]


def failed(asset: str, day: str, kind: str = "nulls") -> PartitionRecord:
    return make_record(day, State.FAILED, asset=(asset,), cause=Cause(kind, "id is empty in 3 rows"))


def blocked(asset: str, day: str, *by: tuple[str, str]) -> PartitionRecord:
    refs = tuple(PartitionRef((name,), partition) for name, partition in by)
    return make_record(day, State.BLOCKED, asset=(asset,), blocked_by=refs)


def lines(*bad: PartitionRecord, is_cancelled: bool = False) -> list[str]:
    records = [*ALL_GOOD, *bad]
    tally = Tally(PLAN).with_records(records)
    return list(ending_lines(tally.cancelled() if is_cancelled else tally, records))


def test_when_all_is_there_nothing_more_is_said() -> None:
    assert lines() == []


def test_failures_are_told_by_cause_and_blocks_by_range() -> None:
    said = lines(
        failed("orders", "2021-06-04"),
        failed("orders", "2021-06-05"),
        failed("orders", "2021-06-06", "incomplete data"),
        blocked("orders_7_days", "2021-06-04", ("orders", "2021-06-04")),
        blocked("orders_7_days", "2021-06-05", ("orders", "2021-06-04"), ("orders", "2021-06-05")),
    )
    assert said == [
        "failed   orders 2021-06-04..2021-06-05: nulls: id is empty in 3 rows",
        "failed   orders 2021-06-06: incomplete data: id is empty in 3 rows",
        "blocked  orders_7_days 2021-06-04..2021-06-05",
        "When the cause is gone: lineage-assets backfill orders --from 2021-06-04 --to 2021-06-06",
    ]


def test_the_command_reaches_above_the_backfill_when_badness_began_there() -> None:
    said = lines(blocked("deliveries", "2021-06-07", ("order_status", "2021-06-02")))
    assert said[-1].endswith("lineage-assets backfill order_status --from 2021-06-02 --to 2021-06-02")


def test_where_badness_began_in_several_assets_each_has_its_command() -> None:
    said = lines(failed("orders", "2021-06-04"), failed("menus", "2021-06-05"))
    assert said[-3:] == [
        "When the causes are gone:",
        "  lineage-assets backfill menus --from 2021-06-05 --to 2021-06-05",
        "  lineage-assets backfill orders --from 2021-06-04 --to 2021-06-04",
    ]


def test_a_block_by_a_blocked_partition_is_followed_to_its_beginning() -> None:
    said = lines(
        blocked("orders_7_days", "2021-06-07", ("orders", "2021-06-07")),
        blocked("deliveries", "2021-06-07", ("orders_7_days", "2021-06-07")),
    )
    assert said[-1] == "When the cause is gone: lineage-assets backfill orders --from 2021-06-07 --to 2021-06-07"


def test_after_a_stop_the_same_command_runs_what_is_left() -> None:
    records = [record for record in ALL_GOOD if record.asset == ("orders",)]
    said = list(ending_lines(Tally(PLAN).with_records(records).cancelled(), records))
    assert said[0] == "not run  deliveries 2021-06-04..2021-06-12"
    assert said[-1] == "To run what is left, give the same command again."


def test_a_failure_without_a_cause_says_so() -> None:
    assert lines(make_record("2021-06-04", State.FAILED))[0] == "failed   orders 2021-06-04: no cause on record"


def test_many_causes_are_counted_after_the_first_twenty() -> None:
    bad = [
        make_record(day, State.FAILED, cause=Cause("nulls", f"{number} rows"))
        for number, day in enumerate(keys_of(days("2021-05-01", "2021-05-25")))
    ]
    said = lines(*bad)
    assert said[20] == "... and 5 more"
