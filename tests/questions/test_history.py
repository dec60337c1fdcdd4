"""All attempts at a partition in the order of time, and what changed from one to another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage_assets.datasets import Dataset, parse_fields
from lineage_assets.errors import BadPartitionError
from lineage_assets.graph import AssetGraph, AssetNode
from lineage_assets.ledger.record import ColumnSource
from lineage_assets.ledger.scene import SourceCode
from lineage_assets.questions.history import Changed, InputChanged, PartitionHistory
from tests.questions.telling import Told
from tests.support.graphs import make_node

DAY = "2021-06-06"


def orders(columns: str) -> AssetNode:
    return replace(make_node("orders", "feed"), dataset=Dataset("shop", "orders", parse_fields(columns)))


SHOP = AssetGraph.of([make_node("feed"), orders("id INTEGER")])


def changed(answer: PartitionHistory) -> list[tuple[int, int, list[tuple[str, str | None, str | None]]]]:
    return [
        (one.before, one.after, [(each.what, each.before, each.after) for each in one.changed])
        for one in answer.comparisons
    ]


def test_attempts_come_in_order_with_those_of_others_and_those_without_a_verdict() -> None:
    told = Told(SHOP)
    told.failed("orders", DAY)
    told.good("orders", DAY, "v1")
    told.stranger("orders", DAY)
    told.unfinished("orders", DAY, is_live=False)
    tells = told.asked().history("orders", DAY).tells
    assert [tell.number for tell in tells] == [1, 2, 3, 4]
    silent, failed, good, stranger = tells
    assert silent.unanswered is not None
    assert failed.record is not None
    assert failed.record.run_id == "run-1"
    assert good.has_data
    assert stranger.stranger is not None


def test_good_data_is_compared_with_the_good_data_before_it_and_a_failure_with_what_came_before() -> None:
    told = Told(SHOP)
    told.good("orders", DAY, "v1", rows=57)
    told.failed("orders", DAY, "freshness", "no file")
    told.good("orders", DAY, "v2", rows=26, code_version="c2")
    assert changed(told.asked().history("orders", DAY)) == [
        (1, 2, [("state", "good", "failed"), ("cause", None, "freshness: no file")]),
        (1, 3, [("code version", "c1", "c2"), ("rows", "57", "26"), ("data version", "v1", "v2")]),
    ]


def test_any_two_attempts_can_be_compared() -> None:
    told = Told(SHOP)
    for version in ("v1", "v2", "v1"):
        told.good("orders", DAY, version)
    answer = told.asked().history("orders", DAY, (1, 3))
    assert [(one.before, one.after, one.is_nothing) for one in answer.comparisons] == [(1, 3, True)]


@pytest.mark.parametrize("pair", [(0, 1), (1, 2)])
def test_an_attempt_that_there_is_not_is_refused(pair: tuple[int, int]) -> None:
    told = Told(SHOP)
    told.good("orders", DAY, "v1")
    with pytest.raises(BadPartitionError, match=r"number of an attempt .* there are 1 to 1"):
        told.asked().history("orders", DAY, pair)


def test_a_partition_without_attempts_has_an_empty_history() -> None:
    assert Told(SHOP).asked().history("orders", DAY).tells == ()


def test_inputs_of_other_versions_and_inputs_read_newly_or_no_more_are_told() -> None:
    told = Told(SHOP)
    told.good("orders", DAY, "v1", {"feed": {"2021-06-04": "a", "2021-06-05": "b"}})
    told.good("orders", DAY, "v2", {"feed": {"2021-06-05": "B", "2021-06-06": "c"}})
    (one,) = told.asked().history("orders", DAY).comparisons
    assert [(each.ref.partition, each.before, each.after) for each in one.inputs] == [
        ("2021-06-04", "a", None),
        ("2021-06-05", "b", "B"),
        ("2021-06-06", None, "c"),
    ]
    assert isinstance(one.inputs[0], InputChanged)


def test_landing_files_nulls_and_sources_of_columns_are_compared_where_both_attempts_know_them() -> None:
    told = Told(SHOP)
    one, two = ({"id": (ColumnSource(("feed",), name),)} for name in ("id", "order_id"))
    told.good("orders", DAY, "v", landing="l1", nulls={"id": 0}, columns=one)
    told.good("orders", DAY, "v", landing="l2", nulls={"id": 3}, columns=two)
    told.good("orders", DAY, "v")
    first, second = told.asked().history("orders", DAY).comparisons
    assert first.changed == (
        Changed("landing version", "l1", "l2"),
        Changed("nulls in id", "0", "3"),
        Changed("sources of id", "feed.id", "feed.order_id"),
    )
    assert second.is_nothing


def test_scenes_tell_the_commits_the_columns_and_the_lines_of_code_that_changed() -> None:
    told = Told(SHOP)
    before = told.good("orders", DAY, "v1")
    told.attempt(before, SourceCode("def orders(feed):\n    return feed\n", commit="aaaa", path="jobs.py"))
    told.graph = AssetGraph.of([make_node("feed"), orders("id BIGINT, note TEXT")])
    after = told.good("orders", DAY, "v1", code_version="c2")
    told.attempt(after, SourceCode("def orders(feed):\n    return feed.limit(9)\n", commit="bbbb", path="jobs.py"))
    (one,) = told.asked().history("orders", DAY).comparisons
    assert one.changed == (
        Changed("code version", "c1", "c2"),
        Changed("commit", "aaaa", "bbbb"),
        Changed("column id", "INTEGER", "BIGINT"),
        Changed("column note", None, "TEXT"),
    )
    assert one.source_diff == (
        "--- jobs.py@aaaa",
        "+++ jobs.py@bbbb",
        "@@ -1,2 +1,2 @@",
        " def orders(feed):",
        "-    return feed",
        "+    return feed.limit(9)",
    )
