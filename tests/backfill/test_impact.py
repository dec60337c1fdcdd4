"""The affected set is the brute-force one, whatever the graph."""

from hypothesis import given

from lineage_assets.backfill.impact import Reads, affected
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.graph import AssetGraph
from lineage_assets.partitions import SAME_PARTITION, Daily, Window, parse_day, trailing_days
from tests.backfill.oracle import brute_force
from tests.support.graphs import DAYS, NOW, WEEK, days, diamond, food_delivery, make_node, rolling_chain
from tests.support.strategies import asked_graphs


@given(asked_graphs())
def test_a_plan_is_the_brute_force_affected_set(asked: tuple[AssetGraph, BackfillRequest]) -> None:
    graph, request = asked
    plan = plan_backfill(graph, request, now=NOW)
    assert {(each.asset, day) for each in plan.assets for day in each.partitions} == brute_force(graph, request, NOW)


def test_each_seven_day_window_adds_six_days() -> None:
    impacts = affected(rolling_chain(), {("raw",): days("2021-05-24")}, NOW)
    assert [len(impacts[key,].partitions) for key in ("raw", "week", "r2", "r3")] == [1, 7, 13, 19]


def test_a_window_is_cut_at_the_last_partition() -> None:
    impacts = affected(rolling_chain(), {("raw",): days("2021-06-10")}, NOW)
    assert {impact.partitions for key, impact in impacts.items() if key != ("raw",)} == {
        days("2021-06-10", "2021-06-12")
    }


def test_a_diamond_reaches_its_bottom_once_by_both_ways() -> None:
    bottom = affected(diamond(), {("top",): days("2021-06-01")}, NOW)["bottom",]
    assert bottom.partitions == days("2021-06-01", "2021-06-07")
    assert set(bottom.reads) == {
        Reads(("left",), SAME_PARTITION, days("2021-06-01")),
        Reads(("right",), SAME_PARTITION, days("2021-06-01", "2021-06-07")),
    }


def test_a_reader_that_starts_later_is_reached_from_its_first_partition_on() -> None:
    late = make_node("late", ("raw", WEEK), partitions=Daily(parse_day("2021-06-05"), DAYS.last))
    graph = AssetGraph.of([make_node("raw"), late])
    assert affected(graph, {("raw",): days("2021-06-01")}, NOW)["late",].partitions == days("2021-06-05", "2021-06-07")


def test_a_reader_whose_partitions_are_all_elsewhere_is_not_reached() -> None:
    late = make_node("late", ("raw", WEEK), partitions=Daily(parse_day("2021-06-09"), DAYS.last))
    graph = AssetGraph.of([make_node("raw"), late, make_node("after", "late")])
    assert set(affected(graph, {("raw",): days("2021-06-01")}, NOW)) == {("raw",)}


def test_days_that_are_not_over_are_not_reached() -> None:
    open_ended = Daily(parse_day("2021-06-01"))
    graph = AssetGraph.of(
        [make_node("raw", partitions=open_ended), make_node("week", ("raw", WEEK), partitions=open_ended)]
    )
    impacts = affected(graph, {("raw",): days("2021-06-18")}, NOW)
    assert impacts["week",].partitions == days("2021-06-18", "2021-06-19")


def test_an_asset_that_reads_its_own_yesterday_is_reached_to_its_end() -> None:
    graph = AssetGraph.of([make_node("stock", ("stock", Window(-1, -1)))])
    impacts = affected(graph, {("stock",): days("2021-06-09")}, NOW)
    assert impacts["stock",].partitions == days("2021-06-09", "2021-06-12")


def test_a_window_into_the_future_reaches_back() -> None:
    graph = AssetGraph.of([make_node("raw"), make_node("smooth", ("raw", Window(-1, 2)))])
    impacts = affected(graph, {("raw",): days("2021-06-05")}, NOW)
    assert impacts["smooth",].partitions == days("2021-06-03", "2021-06-06")


def test_only_what_reads_the_change_is_reached() -> None:
    impacts = affected(food_delivery(), {("orders",): days("2021-06-04", "2021-06-06")}, NOW)
    assert {key[0]: len(impact.partitions) for key, impact in impacts.items()} == {
        "orders": 3,
        "orders_7_days": 9,
        "deliveries": 9,
        "top_delivery_times": 9,
        "discounts": 9,
        "popular_orders_day_of_week": 9,
        "email_discounts": 9,
    }


def test_seven_trailing_days_read_the_six_before_and_the_day_itself() -> None:
    assert trailing_days(7).reads(days("2021-06-06")) == days("2021-05-31", "2021-06-06")
