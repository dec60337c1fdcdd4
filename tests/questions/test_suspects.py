"""What an on-call engineer is told to look at first: what came in anew, before what merely once went wrong."""

from __future__ import annotations

from lineage_assets.graph import AssetGraph
from lineage_assets.partitions import trailing_days
from lineage_assets.questions.why import Why
from tests.questions.telling import Told
from tests.support.graphs import make_node

SHOP = AssetGraph.of(
    [make_node("orders"), make_node("weekly", ("orders", trailing_days(3))), make_node("best", "weekly")]
)
DAY = "2021-06-06"
AT_FIRST = {"2021-06-04": "o4", "2021-06-05": "o5", DAY: "o6"}
AGAIN = {**AT_FIRST, "2021-06-05": "o5-cut"}


def shop() -> Told:
    """Three days of orders, all of which failed once, and what was made of them."""
    told = Told(SHOP)
    for day, version in AT_FIRST.items():
        told.failed("orders", day, "freshness", "no file")
        told.good("orders", day, version, rows=57)
    told.good("weekly", DAY, "w6", {"orders": AT_FIRST}, rows=9)
    told.good("best", DAY, "b6", {"weekly": {DAY: "w6"}}, rows=1)
    return told


def said(answer: Why) -> list[tuple[str, str, str]]:
    return [(one.ref.asset[0], one.ref.partition, one.reason) for one in answer.suspects]


def test_an_input_that_came_in_anew_between_two_versions_goes_before_all_that_once_failed() -> None:
    told = shop()
    told.good("orders", "2021-06-05", "o5-cut", rows=30)
    told.good("weekly", DAY, "w6-cut", {"orders": AGAIN}, rows=9)
    answer = told.asked().why("weekly", DAY)
    failed = "failed before it was good: freshness"
    again = "published again between this version and the one before it: 30 rows, 57 in the version before"
    assert said(answer) == [
        ("orders", "2021-06-05", f"{again}; {failed}"),
        ("orders", "2021-06-04", failed),
        ("orders", DAY, failed),
    ]
    assert answer.commands == ("lineage-assets history orders 2021-06-05",)


def test_the_change_is_followed_to_where_it_began() -> None:
    told = shop()
    told.good("orders", "2021-06-05", "o5-cut", rows=57)
    told.good("weekly", DAY, "w6-cut", {"orders": AGAIN}, rows=9)
    told.good("best", DAY, "b6-cut", {"weekly": {DAY: "w6-cut"}}, rows=1)
    answer = told.asked().why("best", DAY)
    assert [one[:2] for one in said(answer)][:2] == [("orders", "2021-06-05"), ("weekly", DAY)]
    assert said(answer)[1][2].endswith("9 rows as in the version before")
    assert answer.commands == ("lineage-assets history orders 2021-06-05",)


def test_an_input_that_lost_its_rows_before_the_first_version_was_made_is_named() -> None:
    told = Told(SHOP)
    told.good("orders", DAY, "full", rows=57)
    told.good("orders", DAY, "cut", rows=30)
    told.good("weekly", DAY, "w", {"orders": {DAY: "cut"}})
    assert said(told.asked().why("weekly", DAY)) == [("orders", DAY, "30 rows, 57 in the version before")]


def test_a_few_late_rows_are_nothing_to_look_at() -> None:
    told = Told(SHOP)
    told.good("orders", DAY, "early", rows=50)
    told.good("orders", DAY, "all", rows=57)
    told.good("weekly", DAY, "w", {"orders": {DAY: "all"}})
    assert said(told.asked().why("weekly", DAY)) == []


def test_where_inputs_merely_failed_once_the_partition_s_own_history_is_next() -> None:
    assert shop().asked().why("weekly", DAY).commands == (f"lineage-assets history weekly {DAY}",)
