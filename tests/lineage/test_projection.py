"""From attempts and records to runs: who starts, who ends, as what, and with what told."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from lineage_assets.ledger.record import Cause, State
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.turns import TurnType
from lineage_assets.partitions import keys_of
from tests.lineage.facts import (
    DISCOUNTS,
    RUN,
    STARTED,
    TOP,
    attempt,
    projection,
    verdict,
)
from tests.lineage.golden_cases import told
from tests.support.graphs import days

JUNE_1_TO_4 = days("2021-06-01", "2021-06-04")


def types(events: Iterable[Event]) -> list[str]:
    return [event.type.value for event in events]


def only(events: Iterable[Event]) -> dict[str, Any]:
    (event,) = told(events)
    return event


def test_every_partition_tried_is_one_run() -> None:
    attempts = [attempt(JUNE_1_TO_4)]
    started = projection().started(attempts, JUNE_1_TO_4)
    ended = projection().ended(attempts, JUNE_1_TO_4, [verdict(key) for key in keys_of(JUNE_1_TO_4)])
    assert types(started) == ["START"] * 4
    assert types(ended) == ["COMPLETE"] * 4
    assert [event.lineage_run_id for event in started] == [event.lineage_run_id for event in ended]


def test_what_was_not_tried_does_not_start() -> None:
    started = projection().started([attempt(JUNE_1_TO_4)], days("2021-06-02"))
    assert [event["run"]["facets"]["lineageAssets_attempt"]["partition"] for event in told(started)] == ["2021-06-02"]


def test_a_run_starts_when_the_attempt_did_and_ends_when_the_record_says() -> None:
    tried = days("2021-06-02")
    record = verdict("2021-06-02", ended=STARTED + timedelta(hours=1))
    (start,) = projection().started([attempt(tried)], tried)
    (end,) = projection().ended([attempt(tried)], tried, [record])
    assert (start.time, end.time) == (STARTED, STARTED + timedelta(hours=1))


def test_a_run_without_all_its_records_does_not_end() -> None:
    tried = days("2021-06-03")
    attempts = [attempt(tried, TOP), attempt(tried, DISCOUNTS)]
    assert projection().ended(attempts, tried, [verdict("2021-06-03", asset=TOP)]) == ()
    assert projection().ended(attempts, tried, []) == ()


def test_records_of_another_try_end_nothing() -> None:
    tried = days("2021-06-03")
    assert projection().ended([attempt(tried, number=2)], tried, [verdict("2021-06-03", number=1)]) == ()


def test_the_last_record_of_a_partition_counts() -> None:
    tried = days("2021-06-03")
    records = [verdict("2021-06-03", State.FAILED), verdict("2021-06-03")]
    assert types(projection().ended([attempt(tried)], tried, records)) == ["COMPLETE"]


@pytest.mark.parametrize(
    ("top", "discounts", "ended"),
    [
        (State.GOOD, State.GOOD, "COMPLETE"),
        (State.GOOD, State.REUSED, "COMPLETE"),
        (State.GOOD, State.FAILED, "FAIL"),
        (State.BLOCKED, State.FAILED, "FAIL"),
        (State.BLOCKED, State.BLOCKED, "ABORT"),
    ],
)
def test_a_run_with_two_outputs_ends_as_the_worse_of_them(top: State, discounts: State, ended: str) -> None:
    tried = days("2021-06-03")
    records = [verdict("2021-06-03", top, TOP), verdict("2021-06-03", discounts, DISCOUNTS)]
    attempts = [attempt(tried, TOP), attempt(tried, DISCOUNTS)]
    assert types(projection().ended(attempts, tried, records)) == [ended]


def test_a_range_keeps_the_id_of_its_start_and_completes_when_a_day_was_published() -> None:
    attempts = [attempt(JUNE_1_TO_4, range_run=True)]
    records = [verdict(key, State.FAILED, range_run=True) for key in keys_of(days("2021-06-02", "2021-06-04"))]
    records.append(verdict("2021-06-01", range_run=True))
    (start,) = projection().started(attempts, JUNE_1_TO_4)
    ended = projection().ended(attempts, JUNE_1_TO_4, records)
    assert types(ended) == ["START", "FAIL"] * 3 + ["COMPLETE"]
    assert ended[-1].lineage_run_id == start.lineage_run_id
    assert len({event.lineage_run_id for event in ended}) == 4


def test_a_range_without_a_published_day_fails_and_says_why_a_cause_once() -> None:
    attempts = [attempt(JUNE_1_TO_4, range_run=True)]
    nulls, lost = Cause("nulls", "2 rows have no id"), Cause("driver lost", "the JVM ended")
    records = [verdict(key, State.FAILED, cause=nulls) for key in keys_of(days("2021-06-01", "2021-06-03"))]
    records.append(verdict("2021-06-04", State.FAILED, cause=lost))
    *_, end = told(projection().ended(attempts, JUNE_1_TO_4, records))
    assert end["eventType"] == "FAIL"
    assert end["run"]["facets"]["errorMessage"]["message"] == (
        "2021-06-01..2021-06-03: nulls: 2 rows have no id; 2021-06-04: driver lost: the JVM ended"
    )


def test_a_range_with_a_gap_is_two_runs_and_a_single_day_of_it_is_a_day() -> None:
    tried = days("2021-06-01", "2021-06-02") | days("2021-06-04")
    started = projection().started([attempt(tried, range_run=True)], tried)
    ((_, day_alone),) = [projection().started([attempt(tried)], tried)[1:]]
    assert len(started) == 2
    assert started[1].lineage_run_id == day_alone.lineage_run_id


def test_a_bad_day_that_is_its_whole_range_ends_once() -> None:
    tried = days("2021-06-04")
    record = verdict("2021-06-04", State.FAILED, range_run=True)
    assert types(projection().ended([attempt(tried, range_run=True)], tried, [record])) == ["FAIL"]


def test_a_run_names_its_dagster_run_code_and_try() -> None:
    tried = days("2021-06-04")
    start = only(projection().started([attempt(tried, number=3)], tried))
    facet = start["run"]["facets"]["lineageAssets_attempt"]
    assert {key: facet[key] for key in ("dagsterRunId", "assetKeys", "attempt", "codeVersion")} == {
        "dagsterRunId": RUN,
        "assetKeys": [["orders"]],
        "attempt": 3,
        "codeVersion": "c0ffee",
    }
    assert "lineageAssets_backfill" not in start["run"]["facets"]
    assert "parent" not in start["run"]["facets"]


def test_an_attempt_of_one_of_two_assets_tells_of_that_one() -> None:
    tried = days("2021-06-03")
    start = only(projection().started([attempt(tried, TOP)], tried))
    assert [each["name"] for each in start["outputs"]] == ["public.top_delivery_times"]
    assert start["eventType"] == TurnType.START.value
