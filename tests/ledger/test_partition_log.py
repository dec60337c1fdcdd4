"""Sparse reads of the event log: of some partitions, of the attempt behind a verdict, of runs without one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from dagster import AssetMaterialization, DagsterInstance

from lineage_assets.ledger.dagster_log import attempt_event, bad_event, good_event
from lineage_assets.ledger.partition_log import PartitionLogs
from lineage_assets.ledger.record import Attempt, PartitionRecord, State
from lineage_assets.ledger.seen import Seen
from lineage_assets.partitions import PartitionSet, key_of, parse_day, set_of
from tests.support.records import make_attempt, make_record

ORDERS = ("orders",)
DAY = "2021-06-04"


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as made:
        yield made


def log(instance: DagsterInstance, *facts: Attempt | PartitionRecord) -> None:
    for fact in facts:
        if isinstance(fact, Attempt):
            instance.report_runless_asset_event(attempt_event(fact))
        elif fact.state.is_bad:
            instance.report_runless_asset_event(bad_event(fact))
        else:
            instance.report_runless_asset_event(good_event(fact, metadata={}, tags={}))


def states(seen: tuple[Seen, ...]) -> list[str]:
    return [one.fact.state.value for one in seen if isinstance(one.fact, PartitionRecord)]


def test_of_each_partition_all_is_read_in_the_order_of_the_log(instance: DagsterInstance) -> None:
    again = make_record("2021-06-05", State.BLOCKED, run_id="run-2")
    log(instance, make_record(DAY), make_record("2021-06-05", State.FAILED), again, make_record(DAY, State.REUSED))
    log(instance, replace(make_record(DAY), asset=("other",)))
    found = PartitionLogs(instance).of(ORDERS, [DAY, "2021-06-05", "2021-06-06"])
    assert {day: states(seen) for day, seen in found.items()} == {
        DAY: ["good", "reused"],
        "2021-06-05": ["failed", "blocked"],
        "2021-06-06": [],
    }


def test_a_stranger_s_materialization_is_seen_without_a_fact(instance: DagsterInstance) -> None:
    instance.report_runless_asset_event(AssetMaterialization("orders", partition=DAY))
    (seen,) = PartitionLogs(instance).of(ORDERS, [DAY])[DAY]
    assert seen.fact is None


def test_more_partitions_than_one_query_names_are_all_read(instance: DagsterInstance) -> None:
    first = parse_day("2019-01-01").toordinal()
    wanted = [key_of(first + number) for number in range(900)]
    log(instance, make_record(wanted[0]), make_record(wanted[450]), make_record(wanted[-1]))
    found = PartitionLogs(instance).of(ORDERS, wanted)
    assert [day for day, seen in found.items() if seen] == [wanted[0], wanted[450], wanted[-1]]


def test_what_was_recorded_after_the_time_is_not_seen(instance: DagsterInstance) -> None:
    log(instance, make_record(DAY))
    (seen,) = PartitionLogs(instance).of(ORDERS, [DAY])[DAY]
    then = seen.at
    assert abs(datetime.now(timezone.utc) - then) < timedelta(minutes=10)
    assert PartitionLogs(instance, then).of(ORDERS, [DAY])[DAY] == (seen,)
    assert PartitionLogs(instance, then - timedelta(microseconds=10)).of(ORDERS, [DAY])[DAY] == ()


def test_the_attempt_behind_a_verdict_is_that_of_its_run_and_number_with_what_it_blocked(
    instance: DagsterInstance,
) -> None:
    days = [DAY, "2021-06-05", "2021-06-06"]
    own = make_attempt(*days, run_id="run-2", number=2)
    log(instance, make_attempt(*days), make_attempt(*days, run_id="run-2"), own)
    log(instance, make_record(DAY, State.BLOCKED, run_id="run-2", number=2), make_record("2021-06-05", State.BLOCKED))
    log(instance, make_record("2021-06-06", run_id="run-2", number=2))
    logs = PartitionLogs(instance)
    (verdict,) = logs.of(ORDERS, ["2021-06-06"])["2021-06-06"]
    tried = logs.attempt_at(ORDERS, verdict)
    assert tried is not None
    assert (tried.attempt, tried.blocked) == (own, set_of([DAY]))


def test_an_attempt_far_back_in_the_log_is_found(instance: DagsterInstance) -> None:
    log(instance, make_attempt(DAY))
    log(instance, *(make_attempt("2021-06-05", run_id=f"other-{number}") for number in range(100)))
    log(instance, make_record(DAY))
    logs = PartitionLogs(instance)
    tried = logs.attempt_at(ORDERS, logs.of(ORDERS, [DAY])[DAY][0])
    assert tried is not None
    assert (tried.attempt.run_id, tried.blocked) == ("run-1", PartitionSet())


def test_without_its_attempt_nothing_is_found_and_nothing_is_made_up(instance: DagsterInstance) -> None:
    log(instance, make_record(DAY))
    logs = PartitionLogs(instance)
    assert logs.attempt_at(ORDERS, logs.of(ORDERS, [DAY])[DAY][0]) is None
    assert logs.unanswered(ORDERS, DAY, ()) == ()
