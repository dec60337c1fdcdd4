"""A program from its code to its report: what is published is what was audited, and nothing else is touched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from lineage_assets.spark.refusal import NoPlaceError, RowsOutsideError, WrongLayoutError, WrongResultError
from lineage_assets.spark.report import Assertion, PartitionReport, Pinned, Report
from tests.support.spark import ORDERS, Lake, days_from, fresh_token, make_landing, make_program

pytestmark = pytest.mark.spark

DAYS = days_from("2021-06-01", 6)
WEEK = (("id", "int"), ("placed", "date"), ("amount", "int"), ("total", "int"))


def published_days(report: Report, asset: str) -> list[str]:
    return [day for day, one in report.outputs[asset].partitions.items() if one.published]


def test_a_range_publishes_row_for_row_what_its_days_do_one_by_one(lake: Lake) -> None:
    lake.write("orders", DAYS, rows=4)
    once = [lake.output("at_once", columns=WEEK)]
    alone = [lake.output("day_by_day", columns=WEEK)]
    reads = lake.reads("orders", DAYS, days=3)
    whole = lake.run(make_program("week", DAYS, outputs=tuple(once), tables=(reads,)))
    fingerprints = {}
    for day in DAYS:
        one = replace(reads, window={day: reads.window[day]})
        report = lake.run(make_program("week", [day], outputs=tuple(alone), tables=(one,)))
        fingerprints[day] = report.outputs["day_by_day"].partitions[day].fingerprint
    assert lake.rows("at_once") == lake.rows("day_by_day")
    assert len(lake.rows("at_once")) == 4 + 8 + 12 * 4
    assert {day: one.fingerprint for day, one in whole.outputs["at_once"].partitions.items()} == fingerprints


def test_a_raw_input_and_the_targets_give_the_same_range_as_day_by_day(lake: Lake) -> None:
    lake.write("orders", DAYS, rows=2)
    columns = (("orders", "int"), ("total", "int"))
    reads = lake.reads("orders", DAYS, days=7, raw=True)
    lake.run(make_program("raw_week", DAYS, outputs=(lake.output("at_once", columns=columns),), tables=(reads,)))
    for day in DAYS:
        one = replace(reads, window={day: reads.window[day]})
        lake.run(make_program("raw_week", [day], outputs=(lake.output("alone", columns=columns),), tables=(one,)))
    assert lake.rows("at_once") == lake.rows("alone")
    assert lake.rows("alone")[-1] == (12, 300, "2021-06-06")


def test_the_report_says_of_every_partition_what_was_written(lake: Lake) -> None:
    pinned = lake.write("orders", DAYS[:2], rows=3)
    reads = lake.reads("orders", DAYS[:2], snapshots=dict.fromkeys(DAYS[:2], pinned))
    program = make_program("copy", DAYS[:2], outputs=(lake.output("copy"),), tables=(reads,))
    report = lake.run(program)
    made = report.outputs["copy"]
    assert {day: (one.published, one.rows) for day, one in made.partitions.items()} == dict.fromkeys(
        DAYS[:2], (True, 3)
    )
    assert made.snapshot == lake.snapshot("copy")
    assert made.location is not None
    assert made.location.endswith("/copy")
    assert report.snapshots == {"orders": Pinned(pinned)}
    assert report.spark_version.startswith("3.5")
    assert report.application_id == lake.spark.sparkContext.applicationId
    assert list(report.seconds) == ["read", "stage", "listener", "audit", "publish"]
    assert Report.from_json(report.to_json()) == report


def test_bad_days_keep_their_old_rows_and_good_days_of_the_same_range_are_published(lake: Lake) -> None:
    lake.write("orders", DAYS[:3], rows=3, amount=10)
    reads, output = lake.reads("orders", DAYS[:3]), lake.output("copy", min_rows=3, key=("id",))
    lake.run(make_program("copy", DAYS[:3], outputs=(output,), tables=(reads,)))
    old = lake.rows("copy")
    lake.write("orders", DAYS[:3], rows=3, amount=20)
    lake.write("orders", DAYS[1:2], rows=2, amount=20)
    report = lake.run(make_program("copy", DAYS[:3], outputs=(output,), tables=(reads,)))
    bad = report.outputs["copy"].partitions[DAYS[1]]
    (quarantine,) = lake.branches("copy")
    assert published_days(report, "copy") == [DAYS[0], DAYS[2]]
    assert (bad.cause, bad.rows) == ("incomplete data", 2)
    assert bad.message == f"2 rows, at least 3 expected; kept on the branch {quarantine} of {lake.table('copy')}"
    now = lake.rows("copy")
    assert [row for row in now if row[2] == DAYS[1]] == [row for row in old if row[2] == DAYS[1]]
    assert sorted(row[1] for row in now if row[2] == DAYS[0]) == [20, 50, 80]


def test_a_quarantine_holds_what_was_staged_and_goes_when_its_days_are_good(lake: Lake) -> None:
    lake.write("orders", DAYS[:2], rows=1)
    output = lake.output("copy", min_rows=2)
    reads = lake.reads("orders", DAYS[:2])
    lake.run(make_program("copy", DAYS[:2], outputs=(output,), tables=(reads,)))
    (quarantine,) = lake.branches("copy")
    assert lake.spark.table(f"{lake.table('copy')}.branch_{quarantine}").count() == 2
    assert lake.rows("copy") == []
    lake.write("orders", DAYS[:2], rows=2)
    for day in DAYS[:2]:
        assert lake.branches("copy") == [quarantine]
        lake.run(make_program("copy", [day], outputs=(output,), tables=(lake.reads("orders", [day]),)))
    assert lake.branches("copy") == []


def test_a_day_that_became_empty_is_cleared(lake: Lake) -> None:
    lake.write("orders", DAYS[:2], amount=10)
    reads, output = lake.reads("orders", DAYS[:2]), lake.output("small")
    program = make_program("two", DAYS[:2], outputs=(output,), tables=(reads,))
    lake.run(program)
    assert {row[2] for row in lake.rows("small")} == set(DAYS[:2])
    lake.write("orders", DAYS[:1], amount=60)
    report = lake.run(replace(program, token=fresh_token()))
    assert {row[2] for row in lake.rows("small")} == {DAYS[1]}
    assert report.outputs["small"].partitions[DAYS[0]].rows == 0
    assert report.outputs["small"].partitions[DAYS[0]].published


def test_an_empty_partition_has_a_fingerprint_that_does_not_depend_on_the_day(lake: Lake) -> None:
    lake.write("orders", DAYS[:2], amount=60)
    report = lake.run(
        make_program("two", DAYS[:2], outputs=(lake.output("small"),), tables=(lake.reads("orders", DAYS[:2]),))
    )
    assert {one.fingerprint for one in report.outputs["small"].partitions.values()} == {
        "9617c074512203a78ee1af544942750e"
    }
    assert lake.rows("small") == []


def test_rows_of_days_not_asked_for_fail_the_program_naming_them_and_leave_nothing(lake: Lake) -> None:
    lake.write("orders", DAYS[:2])
    program = make_program(
        "tomorrow", DAYS[:2], outputs=(lake.output("copy"),), tables=(lake.reads("orders", DAYS[:2]),)
    )
    with pytest.raises(RowsOutsideError) as refused:
        lake.run(program)
    assert refused.value.rows == {DAYS[2]: 3}
    assert f'rows of "copy" outside the partitions asked for: {DAYS[2]} (3 rows)' in str(refused.value)
    assert (lake.rows("copy"), lake.branches("copy")) == ([], [])


def test_a_result_of_another_schema_is_bad_in_every_partition_with_each_difference(lake: Lake) -> None:
    lake.write("orders", DAYS[:2])
    columns = (*ORDERS, ("comment", "string"))
    program = make_program(
        "renamed", DAYS[:2], outputs=(lake.output("copy", columns=columns),), tables=(lake.reads("orders", DAYS[:2]),)
    )
    report = lake.run(program)
    message = (
        "the column amount is bigint, declared is int; the column comment is gone; "
        "there are columns that are not declared: extra"
    )
    bad = PartitionReport(published=False, cause="schema change", message=message)
    assert report.outputs["copy"].partitions == dict.fromkeys(DAYS[:2], bad)
    assert report.outputs["copy"].snapshot is None


def test_nulls_and_duplicate_keys_are_told_with_their_numbers(lake: Lake, tmp_path: Path) -> None:
    files = {DAYS[0]: "id,amount\n1,1\n1,2\n,3\n", DAYS[1]: "id,amount\n1,1\n2,\n"}
    landing = make_landing(tmp_path / "in", files)
    output = lake.output("orders", required=("id", "amount"), key=("id",))
    report = lake.run(make_program("load", DAYS[:2], outputs=(output,), landings=(landing,)))
    first, second = (report.outputs["orders"].partitions[day] for day in DAYS[:2])
    assert first.cause == second.cause == "nulls"
    assert first.message is not None
    assert first.message.startswith(
        "of 3 rows 1 without id, which every row must have; 1 of 3 rows repeat a key (id); kept on the branch"
    )


def test_a_landing_that_changes_while_it_is_read_makes_its_day_bad_and_no_other(lake: Lake, tmp_path: Path) -> None:
    landing = make_landing(tmp_path / "in", dict.fromkeys(DAYS[:2], "id,amount\n1,1\n"))
    changed = replace(landing, versions={**landing.versions, DAYS[0]: "0" * 32})
    report = lake.run(make_program("load", DAYS[:2], outputs=(lake.output("orders"),), landings=(changed,)))
    assert published_days(report, "orders") == [DAYS[1]]
    assert report.outputs["orders"].partitions[DAYS[0]].cause == "landing changed"


def test_a_job_of_two_outputs_publishes_both_or_the_one_that_is_asked_for(lake: Lake) -> None:
    lake.write("orders", DAYS[:1])
    small, large = lake.output("small"), lake.output("large")
    reads = lake.reads("orders", DAYS[:1])
    only = lake.run(make_program("two", DAYS[:1], outputs=(small,), tables=(reads,)))
    assert list(only.outputs) == ["small"]
    assert not lake.spark.catalog.tableExists(lake.table("large"))
    both = lake.run(make_program("two", DAYS[:1], outputs=(small, large), tables=(reads,)))
    assert [(asset, one.partitions[DAYS[0]].rows) for asset, one in both.outputs.items()] == [
        ("small", 2),
        ("large", 1),
    ]


def test_a_job_that_returns_no_frame_is_told_what_to_return(lake: Lake) -> None:
    lake.write("orders", DAYS[:1])
    program = make_program(
        "nothing", DAYS[:1], outputs=(lake.output("copy"),), tables=(lake.reads("orders", DAYS[:1]),)
    )
    with pytest.raises(WrongResultError, match=r"returned NoneType\. Return a DataFrame for one output"):
        lake.run(program)


def test_a_table_that_cannot_hold_the_output_is_refused_with_both_layouts(lake: Lake) -> None:
    lake.write("orders", DAYS[:1])
    lake.spark.sql(f"create table {lake.table('copy')} (id int, ds date) using iceberg")
    program = make_program("copy", DAYS[:1], outputs=(lake.output("copy"),), tables=(lake.reads("orders", DAYS[:1]),))
    with pytest.raises(WrongLayoutError) as refused:
        lake.run(program)
    assert refused.value.found == "the columns ds date, id int, partitioned by nothing"
    assert refused.value.declared == "the columns amount int, ds date, id int, partitioned by identity(ds)"


def test_an_output_that_goes_nowhere_is_refused(lake: Lake) -> None:
    program = make_program("copy", DAYS[:1], outputs=(lake.output("copy", table=None),))
    with pytest.raises(NoPlaceError, match='gives the output "copy" neither a table nor an outbox'):
        lake.run(program)


def test_sizes_files_and_what_was_asked_are_told_by_partition_and_an_audit_of_what_is_there_tells_the_same(
    lake: Lake, tmp_path: Path
) -> None:
    files = {DAYS[0]: "id,amount\n1,1\n2,\n", DAYS[1]: "id,amount\n1,1\n2,2\n3,3\n"}
    landing = make_landing(tmp_path / "in", files)
    output = lake.output("orders", min_rows=2, required=("id",), key=("id", "amount"))
    program = make_program("load", DAYS[:3], outputs=(output,), landings=(landing,))
    made = lake.run(program).outputs["orders"].partitions
    by_day = lake.spark.table(f"{lake.table('orders')}.files").groupBy("partition.ds")
    sizes = by_day.agg(F.sum("file_size_in_bytes").alias("size"), F.count("*").alias("files")).collect()
    held = {str(row["ds"]): (row["size"], row["files"]) for row in sizes}
    assert {day: (one.size_bytes, one.files) for day, one in made.items()} == {**held, DAYS[2]: (0, 0)}
    assert made[DAYS[0]].nulls == {"id": 0}
    assert made[DAYS[0]].assertions == (
        Assertion("row_count", success=True, expected=">= 2", actual="2"),
        Assertion("not_null", success=True, column="id", expected="0", actual="0"),
        Assertion("unique(id, amount)", success=True, expected="2", actual="2"),
    )
    assert [one.success for one in made[DAYS[2]].assertions] == [False, True, True]
    there = lake.run(replace(program, existing=True)).outputs["orders"].partitions
    assert {day: there[day] for day in DAYS[:2]} == {day: made[day] for day in DAYS[:2]}
