"""What a person sees of a plan, at any width, is the plan."""

from lineage_assets.backfill.explain import plan_text, request_text, window_text
from lineage_assets.backfill.found import Standing, marked
from lineage_assets.backfill.plan import BackfillPlan, Found
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest, Root
from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.partitions import SAME_PARTITION, PartitionSet, Window, keys_of, trailing_days
from tests.support.graphs import NOW, days, food_delivery, make_node, rolling_chain

BLOCKED_DAYS = days("2021-06-04", "2021-06-12")
STANDING: dict[AssetKey, Standing] = {
    ("orders",): dict.fromkeys(keys_of(days("2021-06-04", "2021-06-06")), Found.FAILED),
    ("orders_7_days",): dict.fromkeys(keys_of(BLOCKED_DAYS), Found.BLOCKED),
    ("deliveries",): {},
    ("discounts",): dict.fromkeys(keys_of(BLOCKED_DAYS), Found.GOOD),
}

WIDE = """\
Plan 6c5f5f8ab2e61e3d: orders 2021-06-04..2021-06-06 and all that reads it.

                                 2021-06
wave                             04 05 06 07 08 09 10 11 12
   1 orders                       F  F  F  .  .  .  .  .  .
   2 orders_7_days                b  b  b  b  b  b  b  b  b
   3 deliveries                   +  +  +  +  +  +  +  +  +
   4 discounts                    o  o  o  o  o  o  o  o  o
   4 top_delivery_times           o  o  o  o  o  o  o  o  o
   5 email_discounts              o  o  o  o  o  o  o  o  o
   5 popular_orders_day_of_week   o  o  o  o  o  o  o  o  o
To run, by how it stands: F failed   b blocked   + never built   o good   o to run   . untouched

Why
orders 2021-06-04..2021-06-06: requested
orders_7_days 2021-06-04..2021-06-12: reads orders 2021-06-04..2021-06-06 through trailing 7 days
deliveries 2021-06-04..2021-06-12: reads orders_7_days 2021-06-04..2021-06-12
discounts 2021-06-04..2021-06-12: reads deliveries 2021-06-04..2021-06-12
top_delivery_times 2021-06-04..2021-06-12: reads deliveries 2021-06-04..2021-06-12
email_discounts 2021-06-04..2021-06-12: reads discounts 2021-06-04..2021-06-12
popular_orders_day_of_week 2021-06-04..2021-06-12: reads top_delivery_times 2021-06-04..2021-06-12

57 partitions of 7 assets in 6 runs, 5 waves. Now: 3 failed, 9 blocked, 9 never built.
"""

NARROW_GRID = """\
          2021-05 2021-06
          22222233000000000111
wave      45678901123456789012
   1 week ooooooo..........ooo
   2 r2   ooooooooooooo....ooo
   3 r3   oooooooooooooooooooo
o to run   . untouched
"""

SHARED_COLUMNS = """\
wave      2021-05-24
   1 week oooo....oo
   2 r2   ooooooo.oo
   3 r3   oooooooooo
o to run   . untouched
one column is 2 days
"""


def bad_days_plan() -> BackfillPlan:
    request = BackfillRequest.downstream_of(("orders",), days("2021-06-04", "2021-06-06"))
    return marked(plan_backfill(food_delivery(), request, now=NOW), STANDING)


def two_edges_plan() -> BackfillPlan:
    asked = days("2021-05-24") | days("2021-06-10")
    request = BackfillRequest.downstream_of(("raw",), asked, include_root=False)
    return plan_backfill(rolling_chain(), request, now=NOW)


def test_a_wide_terminal_shows_a_day_a_column_with_its_number() -> None:
    assert plan_text(bad_days_plan()) == WIDE


def test_a_narrow_terminal_shows_a_day_a_character() -> None:
    assert NARROW_GRID in plan_text(two_edges_plan(), width=30)


def test_where_a_day_has_no_room_several_share_a_column() -> None:
    assert SHARED_COLUMNS in plan_text(two_edges_plan(), width=24)


def test_no_grid_line_is_wider_than_the_terminal() -> None:
    for width in range(24, 120):
        for plan in (bad_days_plan(), two_edges_plan()):
            assert max(map(len, plan_text(plan, width=width).splitlines())) <= width


def test_a_column_of_several_days_shows_the_worst_of_them() -> None:
    graph = AssetGraph.of([make_node("raw")])
    standing = {("raw",): dict.fromkeys(keys_of(days("2021-05-24", "2021-06-12")), Found.GOOD)}
    standing["raw",]["2021-05-28"] = Found.FAILED
    request = BackfillRequest.downstream_of(("raw",), days("2021-05-24", "2021-06-12"))
    text = plan_text(marked(plan_backfill(graph, request, now=NOW), standing), width=20)
    assert "   1 raw ooFooooooo\n" in text


def test_a_plan_of_nothing_says_so() -> None:
    graph = AssetGraph.of([make_node("leaf")])
    request = BackfillRequest.downstream_of(("leaf",), days("2021-06-04"), include_root=False)
    plan = plan_backfill(graph, request, now=NOW)
    assert plan.assets == ()
    assert plan_text(plan).splitlines()[1] == "Nothing reads it: nothing is to be redone."


def test_a_plan_of_many_assets_shows_the_first_and_names_the_way_to_all() -> None:
    graph = AssetGraph.of([make_node("root"), *(make_node(f"reader_{number:03d}", "root") for number in range(120))])
    text = plan_text(plan_backfill(graph, BackfillRequest.downstream_of(("root",), days("2021-06-04")), now=NOW))
    assert "... and 21 assets more; `--json` lists all.\n" in text
    assert "reader_098" in text
    assert "reader_099" not in text
    assert text.endswith("121 partitions of 121 assets in 121 runs, 2 waves.\n")


def test_a_window_is_named_as_an_author_declares_it() -> None:
    assert window_text(SAME_PARTITION) == ""
    assert window_text(trailing_days(7)) == " through trailing 7 days"
    assert window_text(Window(-7, -1)) == " through days -7..-1"
    assert window_text(Window(-1, 2)) == " through days -1..+2"


def test_a_request_reads_as_a_sentence() -> None:
    roots = [Root(("orders",), days("2021-06-04")), Root(("menus",), PartitionSet(days("2021-06-01").ranges))]
    assert request_text(BackfillRequest.of(roots)) == "menus 2021-06-01; orders 2021-06-04 and all that reads it"
    assert (
        request_text(BackfillRequest.downstream_of(("orders",), days("2021-06-04"), include_root=False))
        == "all that reads orders 2021-06-04, without itself"
    )
