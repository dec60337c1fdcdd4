"""What a commit's summary keeps gives back the reports that went in, and stays small."""

from __future__ import annotations

import json
from hashlib import sha256

from lineage_assets.spark.audit import Measure, judge
from lineage_assets.spark.program import Output
from lineage_assets.spark.report import Observed, Pinned, Source, Transformation
from lineage_assets.spark.summary import (
    CHECKS,
    INPUTS,
    OBSERVED,
    RECORDS,
    checks_text,
    inputs_text,
    observed_text,
    parse_inputs,
    parse_observed,
    parse_reports,
    records_text,
)
from tests.support.spark import days_from

OUTPUT = Output("orders", (("id", "int"), ("amount", "int")), "lake.orders", None, 2, ("id", "amount"), ("id",))


def test_reports_of_good_and_bad_partitions_come_back_as_they_were() -> None:
    reports = {
        "2021-06-01": judge(Measure(3, "a" * 32, {"id": 0, "amount": 0}, 3), OUTPUT),
        "2021-06-02": judge(Measure(1, "b" * 32, {"id": 0, "amount": 1}, 1), OUTPUT),
        "2021-06-03": judge(Measure(4, "c" * 32, {"id": 0, "amount": 0}, 3), OUTPUT),
    }
    assert [one.cause for one in reports.values()] == [None, "incomplete data", "duplicate keys"]
    summary = {RECORDS: records_text(reports), CHECKS: checks_text(OUTPUT)}
    assert parse_reports(summary) == reports


def test_a_year_takes_less_than_25_kilobytes() -> None:
    days = days_from("2021-01-01", 365)
    measured = {
        day: Measure(12345, sha256(day.encode()).hexdigest()[:32], {"id": 0, "amount": 0}, 12345) for day in days
    }
    reports = {day: judge(one, OUTPUT) for day, one in measured.items()}
    assert len(records_text(reports)) < 25_000


def test_inputs_and_what_was_observed_come_back() -> None:
    inputs = {"orders": Pinned(2**62 + 1), "menus": Pinned(5, {"2021-06-01": 3})}
    source = Source("lake.orders", "id", (Transformation("DIRECT", "IDENTITY", masking=True),))
    observed = Observed(
        ("lake.orders",),
        ("lake.week",),
        {"lake.week": {"id": (source,)}},
        {"lake.week": (source,)},
        {"lake.orders": (5,)},
    )
    assert parse_inputs({INPUTS: inputs_text(inputs)}) == inputs
    assert parse_observed({OBSERVED: observed_text(observed)}) == observed


def test_a_summary_of_protocol_1_is_understood() -> None:
    kept = {"2021-06-01": {"published": False, "cause": "nulls", "message": "1 without id", "rows": 3}}
    (report,) = parse_reports({RECORDS: json.dumps(kept)}).values()
    assert (report.published, report.cause, report.rows, report.size_bytes) == (False, "nulls", 3, None)
