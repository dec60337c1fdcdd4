"""The gate's verdicts, row by row of the table in which they are laid down."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from lineage_assets.graph import AssetGraph, AssetNode, Input, LineageJob
from lineage_assets.ledger.fold import History, Underway
from lineage_assets.ledger.gate import Blocked, Gate, Go, Wait
from lineage_assets.ledger.record import Attempt, Cause, PartitionRecord, PartitionRef, State
from lineage_assets.partitions import Daily, set_of, trailing_days
from tests.support.records import NOON, make_record

DAYS = Daily(date(2021, 6, 1), date(2021, 6, 12))
ORDERS, WEEKLY, DELIVERIES = ("orders",), ("orders_7_days",), ("deliveries",)


def make_node(key: tuple[str, ...], *inputs: Input) -> AssetNode:
    return AssetNode(key, LineageJob("food", f"example.{key[0]}"), DAYS, inputs)


GRAPH = AssetGraph.of(
    [
        make_node(ORDERS),
        make_node(WEEKLY, Input(ORDERS, trailing_days(3))),
        make_node(DELIVERIES, Input(WEEKLY), Input(("rates",))),
    ]
)


def make_history(*records: PartitionRecord, **overrides: object) -> History:
    verdicts = {record.partition: record for record in records}
    published = {record.partition: record for record in records if not record.state.is_bad}
    return replace(History(verdicts, published), **overrides)


def good_orders(*partitions: str) -> list[PartitionRecord]:
    return [make_record(p, snapshot=int(p[-2:]), fingerprint=f"v{p[-2:]}") for p in partitions]


def weekly(partition: str, state: State = State.GOOD, **overrides: object) -> PartitionRecord:
    return make_record(partition, state, **{"asset": WEEKLY, **overrides})


def test_good_inputs_go_with_their_versions_and_snapshots() -> None:
    gate = Gate(GRAPH, {ORDERS: make_history(*good_orders("2021-06-03", "2021-06-04", "2021-06-05"))})
    verdict = gate.judge(GRAPH.nodes[WEEKLY], "2021-06-05")
    assert verdict == Go(
        {ORDERS: {"2021-06-03": "v03", "2021-06-04": "v04", "2021-06-05": "v05"}},
        {ORDERS: {"2021-06-03": 3, "2021-06-04": 4, "2021-06-05": 5}},
    )


def test_days_before_the_first_partition_are_not_required() -> None:
    gate = Gate(GRAPH, {ORDERS: make_history(*good_orders("2021-06-01"))})
    verdict = gate.judge(GRAPH.nodes[WEEKLY], "2021-06-01")
    assert isinstance(verdict, Go)
    assert list(verdict.versions[ORDERS]) == ["2021-06-01"]


def test_an_input_we_do_not_own_goes_as_unknown() -> None:
    gate = Gate(GRAPH, {WEEKLY: make_history(weekly("2021-06-05"))})
    verdict = gate.judge(GRAPH.nodes[DELIVERIES], "2021-06-05")
    assert isinstance(verdict, Go)
    assert verdict.versions["rates",] == {"2021-06-05": None}


def test_a_failed_input_blocks_even_though_older_data_is_published() -> None:
    failed = make_record("2021-06-04", State.FAILED, cause=Cause("schema change", "a column is gone"))
    history = make_history(*good_orders("2021-06-03", "2021-06-05"), failed)
    history = replace(history, published={**history.published, "2021-06-04": make_record("2021-06-04")})
    verdict = Gate(GRAPH, {ORDERS: history}).judge(GRAPH.nodes[WEEKLY], "2021-06-05")
    assert verdict == Blocked(
        Cause("upstream", "reads what is bad: orders 2021-06-04 (schema change)"), (PartitionRef(ORDERS, "2021-06-04"),)
    )


def test_a_missing_input_blocks() -> None:
    verdict = Gate(GRAPH, {ORDERS: make_history(*good_orders("2021-06-04"))}).judge(GRAPH.nodes[WEEKLY], "2021-06-05")
    assert isinstance(verdict, Blocked)
    assert verdict.refs == (PartitionRef(ORDERS, "2021-06-03"), PartitionRef(ORDERS, "2021-06-05"))
    assert "2021-06-03 (missing), 2021-06-05 (missing)" in verdict.cause.message


def test_an_input_published_without_our_record_blocks_until_adopted() -> None:
    history = make_history(*good_orders("2021-06-01"), unrecorded=frozenset({"2021-06-01"}))
    verdict = Gate(GRAPH, {ORDERS: history}).judge(GRAPH.nodes[WEEKLY], "2021-06-01")
    assert isinstance(verdict, Blocked)
    assert "not adopted" in verdict.cause.message


def test_an_input_made_from_what_is_bad_by_now_blocks_and_names_where_it_began() -> None:
    failed = make_record("2021-06-04", State.FAILED, cause=Cause("freshness", "no file"))
    made = weekly("2021-06-05", inputs={ORDERS: {"2021-06-04": "v04"}})
    gate = Gate(GRAPH, {ORDERS: make_history(failed), WEEKLY: make_history(made)})
    verdict = gate.judge(GRAPH.nodes[DELIVERIES], "2021-06-05")
    assert isinstance(verdict, Blocked)
    assert verdict.refs == (PartitionRef(ORDERS, "2021-06-04"),)


def test_a_stale_input_goes() -> None:
    newer = make_record("2021-06-04", fingerprint="other")
    made = weekly("2021-06-05", inputs={ORDERS: {"2021-06-04": "v04"}})
    gate = Gate(GRAPH, {ORDERS: make_history(newer), WEEKLY: make_history(made)})
    assert isinstance(gate.judge(GRAPH.nodes[DELIVERIES], "2021-06-05"), Go)


def test_a_block_whose_reason_was_mended_blocks_in_its_own_name() -> None:
    blocked = weekly("2021-06-05", State.BLOCKED, blocked_by=(PartitionRef(ORDERS, "2021-06-04"),))
    gate = Gate(GRAPH, {ORDERS: make_history(*good_orders("2021-06-04")), WEEKLY: make_history(blocked)})
    verdict = gate.judge(GRAPH.nodes[DELIVERIES], "2021-06-05")
    assert isinstance(verdict, Blocked)
    assert verdict.refs == (PartitionRef(WEEKLY, "2021-06-05"),)


def test_a_block_by_what_is_still_missing_names_what_is_missing() -> None:
    blocked = weekly("2021-06-05", State.BLOCKED, blocked_by=(PartitionRef(ORDERS, "2021-06-04"),))
    verdict = Gate(GRAPH, {WEEKLY: make_history(blocked)}).judge(GRAPH.nodes[DELIVERIES], "2021-06-05")
    assert isinstance(verdict, Blocked)
    assert verdict.refs == (PartitionRef(ORDERS, "2021-06-04"),)


@pytest.mark.parametrize(("live", "expected"), [(frozenset({"run-9"}), Wait), (frozenset(), Go)])
def test_a_live_run_delays_and_a_dead_one_has_no_say(live: frozenset[str], expected: type) -> None:
    attempt = Attempt(ORDERS, "run-9", 1, set_of(["2021-06-01"]), NOON, "c1", "host:1:0")
    history = make_history(*good_orders("2021-06-01"), underway=(Underway(attempt, attempt.partitions),))
    assert isinstance(Gate(GRAPH, {ORDERS: history}, live).judge(GRAPH.nodes[WEEKLY], "2021-06-01"), expected)


def test_what_the_same_backfill_still_has_to_make_is_waited_for() -> None:
    gate = Gate(GRAPH, {}, pending={ORDERS: set_of(["2021-06-01"])})
    verdict = gate.judge(GRAPH.nodes[WEEKLY], "2021-06-01")
    assert verdict == Wait((PartitionRef(ORDERS, "2021-06-01"),))
