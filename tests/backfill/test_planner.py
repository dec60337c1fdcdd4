"""Laws of the planner: order, reasons, grouping, sameness, and what it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_assets.backfill.found import marked
from lineage_assets.backfill.plan import Because, Found, Unit
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest, Root
from lineage_assets.errors import BadPartitionError, OutsidePartitionsError, UnknownAssetError
from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.partitions import SAME_PARTITION, PartitionSet
from tests.support.graphs import NOW, WEEK, days, food_delivery, make_node, shuffled
from tests.support.strategies import asked_graphs, requests

BAD_DAYS = BackfillRequest.downstream_of(("orders",), days("2021-06-04", "2021-06-06"))
Asked = tuple[AssetGraph, BackfillRequest]


@given(asked_graphs())
def test_every_planned_partition_has_a_chain_of_reasons_to_the_request(asked: Asked) -> None:
    graph, request = asked
    plan = plan_backfill(graph, request, now=NOW)
    grounded = {(root.asset, day) for root in request.roots for day in root.partitions}
    ungrounded = {(each.asset, day) for each in plan.assets for day in each.partitions} - grounded
    while ungrounded:
        found = {
            (asset, day)
            for asset, day in ungrounded
            for because in plan.because(asset, day)
            if because.upstream is not None
            and any((because.upstream, source) in grounded for source in because.partitions)
        }
        assert found, f"no reason leads from the request to {ungrounded}"
        grounded |= found
        ungrounded -= found


@given(asked_graphs())
def test_reasons_name_changed_partitions_inside_the_window(asked: Asked) -> None:
    graph, request = asked
    plan = plan_backfill(graph, request, now=NOW)
    for each in plan.assets:
        for day in each.partitions:
            for because in plan.because(each.asset, day):
                if because.upstream is not None and because.window is not None:
                    assert because.partitions
                    assert because.partitions <= plan.changing(because.upstream)
                    assert because.partitions <= because.window.reads(PartitionSet.of([day]))


@given(asked_graphs())
def test_nothing_runs_before_its_upstream(asked: Asked) -> None:
    graph, request = asked
    plan = plan_backfill(graph, request, now=NOW)
    done: set[tuple[AssetKey, int]] = set()
    planned = {(each.asset, day) for each in plan.assets for day in each.partitions}
    for unit in plan.units:
        unit_makes = {(asset, day) for asset in unit.assets for day in unit.partitions}
        for asset, day in unit_makes:
            for read in graph.nodes[asset].inputs:
                needed = {(read.asset, day + offset) for offset in range(read.window.first, read.window.last + 1)}
                assert needed & planned <= done | unit_makes
        done |= unit_makes


@given(asked_graphs())
def test_units_hold_each_planned_partition_once(asked: Asked) -> None:
    graph, request = asked
    plan = plan_backfill(graph, request, now=NOW)
    carried_out = [(asset, day) for unit in plan.units for asset in unit.assets for day in unit.partitions]
    assert len(carried_out) == len(set(carried_out)) == plan.partition_count
    assert set(carried_out) == {(each.asset, day) for each in plan.assets for day in each.partitions}


@given(asked_graphs())
def test_a_unit_is_of_one_job(asked: Asked) -> None:
    graph, request = asked
    for unit in plan_backfill(graph, request, now=NOW).units:
        assert len({graph.nodes[asset].job for asset in unit.assets}) == 1


@given(asked_graphs(), st.data())
def test_shuffled_input_gives_the_same_bytes(asked: Asked, data: st.DataObject) -> None:
    graph, request = asked
    order = data.draw(st.permutations(range(len(graph.nodes))))
    turned = BackfillRequest.of(reversed(request.roots), include_roots=request.include_roots)
    again = plan_backfill(shuffled(graph, order), turned, now=NOW)
    assert again.to_text() == plan_backfill(graph, request, now=NOW).to_text()


@given(asked_graphs(), st.data())
def test_a_wider_request_never_plans_less(asked: Asked, data: st.DataObject) -> None:
    graph, request = asked
    more = data.draw(requests(graph))
    assert more is not None
    wider = BackfillRequest.of([*request.roots, *more.roots])
    narrow_plan = plan_backfill(graph, BackfillRequest.of(request.roots), now=NOW)
    wide = plan_backfill(graph, wider, now=NOW).by_asset
    for each in narrow_plan.assets:
        assert each.partitions <= wide[each.asset].partitions


@given(asked_graphs(max_roots=1))
def test_without_the_root_exactly_its_requested_partitions_are_left_out(asked: Asked) -> None:
    graph, request = asked
    (root,) = request.roots
    whole = plan_backfill(graph, BackfillRequest.downstream_of(root.asset, root.partitions), now=NOW)
    rest = plan_backfill(graph, BackfillRequest.downstream_of(root.asset, root.partitions, include_root=False), now=NOW)
    assert {(each.asset, day) for each in whole.assets for day in each.partitions} - {
        (each.asset, day) for each in rest.assets for day in each.partitions
    } == {(root.asset, day) for day in root.partitions}


def test_three_bad_days_of_orders_are_seven_assets_in_six_runs() -> None:
    plan = plan_backfill(food_delivery(), BAD_DAYS, now=NOW)
    assert [str(unit) for unit in plan.units] == [
        "orders 2021-06-04..2021-06-06",
        "orders_7_days 2021-06-04..2021-06-12",
        "deliveries 2021-06-04..2021-06-12",
        "discounts, top_delivery_times 2021-06-04..2021-06-12",
        "email_discounts 2021-06-04..2021-06-12",
        "popular_orders_day_of_week 2021-06-04..2021-06-12",
    ]
    assert [unit.wave for unit in plan.units] == [1, 2, 3, 4, 5, 5]
    assert (plan.partition_count, plan.wave_count) == (57, 5)


def test_a_partition_says_which_partitions_it_is_redone_for() -> None:
    plan = plan_backfill(food_delivery(), BAD_DAYS, now=NOW)
    (day,) = days("2021-06-11")
    assert plan.because(("orders_7_days",), day) == (Because(("orders",), WEEK, days("2021-06-05", "2021-06-06")),)
    assert plan.because(("orders",), days("2021-06-04").ranges[0][0]) == (Because(None),)
    assert plan.because(("orders",), day) == ()
    assert plan.because(("menus",), day) == ()


def test_without_the_root_the_reasons_still_name_it() -> None:
    request = BackfillRequest.downstream_of(("orders",), days("2021-06-04"), include_root=False)
    plan = plan_backfill(food_delivery(), request, now=NOW)
    assert plan.units[0] == Unit(1, (("orders_7_days",),), days("2021-06-04", "2021-06-10").ranges[0])
    (day,) = days("2021-06-10")
    assert plan.because(("orders_7_days",), day) == (Because(("orders",), WEEK, days("2021-06-04")),)


def test_an_asset_asked_for_alone_is_made_without_the_other_output_of_its_job() -> None:
    request = BackfillRequest.downstream_of(("discounts",), days("2021-06-04"))
    plan = plan_backfill(food_delivery(), request, now=NOW)
    assert [unit.assets for unit in plan.units] == [(("discounts",),), (("email_discounts",),)]


def test_ranges_apart_are_units_of_their_own() -> None:
    graph = AssetGraph.of([make_node("raw"), make_node("same", "raw")])
    asked = days("2021-06-01") | days("2021-06-03", "2021-06-04")
    plan = plan_backfill(graph, BackfillRequest.downstream_of(("raw",), asked), now=NOW)
    assert [str(unit) for unit in plan.units] == [
        "raw 2021-06-01",
        "raw 2021-06-03..2021-06-04",
        "same 2021-06-01",
        "same 2021-06-03..2021-06-04",
    ]


def test_outputs_of_a_job_with_different_inputs_are_not_made_together() -> None:
    graph = AssetGraph.of(
        [
            make_node("raw"),
            make_node("one", "raw", job="both"),
            make_node("between", "one"),
            make_node("two", "raw", "between", job="both"),
        ]
    )
    plan = plan_backfill(graph, BackfillRequest.downstream_of(("raw",), days("2021-06-01")), now=NOW)
    assert [unit.assets for unit in plan.units] == [(("raw",),), (("one",),), (("between",),), (("two",),)]


def test_states_mark_how_each_planned_partition_stood() -> None:
    standing = {
        ("orders",): {"2021-06-04": Found.FAILED, "2021-06-05": Found.FAILED, "2021-06-03": Found.GOOD},
        ("orders_7_days",): {"2021-06-04": Found.BLOCKED, "2021-06-05": Found.GOOD, "2021-06-06": Found.NOT_ADOPTED},
    }
    plan = marked(plan_backfill(food_delivery(), BAD_DAYS, now=NOW), standing)
    assert plan.by_asset["orders",].found == {
        Found.FAILED: days("2021-06-04", "2021-06-05"),
        Found.MISSING: days("2021-06-06"),
    }
    assert plan.by_asset["orders_7_days",].found == {
        Found.GOOD: days("2021-06-05"),
        Found.NOT_ADOPTED: days("2021-06-06"),
        Found.BLOCKED: days("2021-06-04"),
        Found.MISSING: days("2021-06-07", "2021-06-12"),
    }
    assert plan.by_asset["deliveries",].found == {}


def test_a_request_that_reads_through_an_asset_of_another_location_stops_there() -> None:
    graph = AssetGraph.of([make_node("ours", "theirs"), make_node("next", ("ours", SAME_PARTITION))])
    plan = plan_backfill(graph, BackfillRequest.downstream_of(("ours",), days("2021-06-01")), now=NOW)
    assert [unit.assets for unit in plan.units] == [(("ours",),), (("next",),)]


def test_an_unknown_asset_is_refused_with_a_suggestion() -> None:
    request = BackfillRequest.downstream_of(("order",), days("2021-06-04"))
    with pytest.raises(UnknownAssetError, match=r'No asset "order" in the graph\. Did you mean "orders"\?'):
        plan_backfill(food_delivery(), request, now=NOW)


def test_partitions_that_do_not_exist_are_refused_by_name() -> None:
    request = BackfillRequest.downstream_of(("orders",), days("2021-06-11", "2021-06-14"))
    with pytest.raises(OutsidePartitionsError, match=r"2021-06-13\.\.2021-06-14 of \"orders\" do not exist"):
        plan_backfill(food_delivery(), request, now=NOW)


def test_a_request_for_nothing_is_refused() -> None:
    with pytest.raises(BadPartitionError, match="name an asset and a range"):
        plan_backfill(food_delivery(), BackfillRequest.of([]), now=NOW)
    with pytest.raises(BadPartitionError, match="name at least one partition"):
        plan_backfill(food_delivery(), BackfillRequest.of([Root(("orders",), PartitionSet())]), now=NOW)
