"""Blocked partitions: one START and ABORT a contiguous range and cause, and only when the cause is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lineage_assets.ledger.record import Cause, PartitionRecord, PartitionRef, State
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.verdict import is_same_block
from lineage_assets.partitions import keys_of
from tests.lineage.facts import DISCOUNTS, ORDERS, STARTED, TOP, WEEKLY, attempt, projection, verdict
from tests.lineage.golden_cases import told
from tests.support.graphs import days


def blocked(partition: str, *roots: str, kind: str = "schema change", **overrides: object) -> PartitionRecord:
    by = tuple(PartitionRef(ORDERS, root) for root in roots)
    cause = Cause("upstream", f"reads what is bad: {', '.join(f'{root} ({kind})' for root in roots)}")
    known: dict[str, object] = {"asset": WEEKLY, "cause": cause, "blocked_by": by, **overrides}
    return verdict(partition, State.BLOCKED, **known)


def pairs(records: Sequence[PartitionRecord]) -> tuple[Event, ...]:
    """What is told of these records, made by one attempt at all of June's first days."""
    tried = days("2021-06-01", "2021-06-12")
    return projection().blocked([attempt(tried, asset) for asset in {one.asset for one in records}], records)


def stretches(events: tuple[Event, ...]) -> list[tuple[str, str]]:
    """Type and partitions of each event."""
    found = []
    for event in told(events):
        facet = event["run"]["facets"]["lineageAssets_attempt"]
        where = facet.get("partition") or f"{facet['partitions']['first']}..{facet['partitions']['last']}"
        found.append((event["eventType"], where))
    return found


def test_contiguous_days_of_one_cause_are_one_pair() -> None:
    records = [blocked(key, "2021-06-04") for key in keys_of(days("2021-06-04", "2021-06-07"))]
    assert stretches(pairs(records)) == [
        ("START", "2021-06-04..2021-06-07"),
        ("ABORT", "2021-06-04..2021-06-07"),
    ]


def test_another_root_another_kind_and_a_gap_each_begin_a_new_pair() -> None:
    records = [
        blocked("2021-06-04", "2021-06-04"),
        blocked("2021-06-05", "2021-06-04", "2021-06-05"),
        blocked("2021-06-06", "2021-06-04", "2021-06-05", kind="missing"),
        blocked("2021-06-08", "2021-06-04", "2021-06-05", kind="missing"),
    ]
    starts = [where for type_, where in stretches(pairs(records)) if type_ == "START"]
    assert starts == ["2021-06-04", "2021-06-05", "2021-06-06", "2021-06-08"]


def test_start_and_abort_are_at_one_time_and_both_name_what_blocks() -> None:
    start, abort = pairs([blocked("2021-06-05", "2021-06-04")])
    assert start.time == abort.time > STARTED
    assert start.lineage_run_id == abort.lineage_run_id
    for event in told((start, abort)):
        facet = event["run"]["facets"]["lineageAssets_block"]
        assert facet["blockedBy"] == [{"assetKey": ["orders"], "partition": "2021-06-04"}]
        assert facet["kind"] == "upstream"
        assert facet["cause"] == "reads what is bad: 2021-06-04 (schema change)"


def test_the_same_block_met_again_says_nothing() -> None:
    record = blocked("2021-06-05", "2021-06-04")
    again = blocked("2021-06-05", "2021-06-04", number=2)
    assert is_same_block(again, record)
    assert pairs([replace(record, is_repeated=True)]) == ()


def test_a_new_cause_or_a_verdict_between_says_it_again() -> None:
    record = blocked("2021-06-05", "2021-06-04")
    for before in (blocked("2021-06-05", "2021-06-03"), verdict("2021-06-05", asset=WEEKLY)):
        assert not is_same_block(record, before)
    assert not is_same_block(record, None)
    assert len(pairs([record])) == 2


def test_a_known_block_in_the_middle_parts_the_range() -> None:
    records = [blocked(key, "2021-06-04") for key in keys_of(days("2021-06-04", "2021-06-06"))]
    records[1] = replace(records[1], is_repeated=True)
    assert [where for _, where in stretches(pairs(records))] == ["2021-06-04", "2021-06-04", "2021-06-06", "2021-06-06"]


def test_two_outputs_are_blocked_in_one_run() -> None:
    records = [blocked("2021-06-05", "2021-06-04", asset=asset) for asset in (TOP, DISCOUNTS)]
    start, _ = told(pairs(records))
    assert [each["name"] for each in start["outputs"]] == ["public.discounts", "public.top_delivery_times"]


def test_what_is_not_blocked_is_passed_over() -> None:
    assert pairs([verdict("2021-06-05", asset=WEEKLY)]) == ()


def test_what_another_attempt_blocked_is_passed_over() -> None:
    assert pairs([blocked("2021-06-05", "2021-06-04", run_id="another")]) == ()


def test_a_long_list_of_what_blocks_is_cut_and_counted() -> None:
    roots = keys_of(days("2021-01-01", "2021-05-30"))
    start, _ = told(pairs([blocked("2021-06-05", *roots)]))
    facet = start["run"]["facets"]["lineageAssets_block"]
    assert (len(facet["blockedBy"]), facet["blockedByCount"]) == (100, 150)
