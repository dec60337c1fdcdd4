"""One commit publishes the good days; of two who publish the same day the second is refused.

What a unit has published it does not publish again.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest
from pyspark.sql import functions as F

from lineage_assets.spark.contract import contracted
from lineage_assets.spark.program import Program
from lineage_assets.spark.publish import StagedTable
from lineage_assets.spark.report import OutputReport, Pinned, Report
from lineage_assets.spark.runner import run
from lineage_assets.spark.staging import prepared_table
from tests.support.spark import Lake, days_from, make_program

pytestmark = pytest.mark.spark

DAYS = days_from("2021-06-01", 4)


def copy_of(lake: Lake, days: Sequence[str]) -> Program:
    return make_program("copy", days, outputs=(lake.output("copy"),), tables=(lake.reads("orders", days),))


def staged(lake: Lake, program: Program) -> StagedTable:
    """The program's result on its branch: a driver just before it publishes."""
    (output,) = program.outputs
    place = prepared_table(lake.spark, output, lake.table("copy"), program)
    rows = lake.spark.table(lake.table("orders")).where(F.col("ds").cast("string").isin(list(program.targets)))
    return place.stage(contracted(rows, output))


def publish(one: StagedTable) -> OutputReport:
    return one.publish(one.audited(), {})


def snapshot_count(lake: Lake) -> int:
    return lake.spark.table(f"{lake.table('copy')}.snapshots").count()


def test_the_second_of_two_who_publish_the_same_day_is_refused_and_the_first_stands(lake: Lake) -> None:
    lake.write("orders", DAYS, amount=10)
    late = staged(lake, copy_of(lake, DAYS[:2]))
    lake.write("orders", DAYS, amount=20)
    lake.run(copy_of(lake, DAYS[1:3]))
    refused = publish(late)
    assert refused.snapshot is None
    assert {one.cause for one in refused.partitions.values()} == {"published by another"}
    assert str(refused.partitions[DAYS[0]].message).startswith(f"another published {lake.table('copy')} after this")
    assert {(row[1], row[2]) for row in lake.rows("copy")} == {(v, day) for v in (20, 50, 80) for day in DAYS[1:3]}
    assert lake.branches("copy") == []


def test_who_clears_a_day_is_in_conflict_with_who_fills_it(lake: Lake) -> None:
    lake.write("orders", DAYS[:1])
    emptied = make_program(
        "two",
        DAYS[:1],
        outputs=(lake.output("small", table=lake.table("copy")),),
        tables=(lake.reads("orders", DAYS[:1]),),
    )
    lake.run(copy_of(lake, DAYS[:1]))
    late = staged(lake, copy_of(lake, DAYS[:1]))
    lake.write("orders", DAYS[:1], amount=60)
    lake.run(emptied)
    assert {one.cause for one in publish(late).partitions.values()} == {"published by another"}
    assert lake.rows("copy") == []


def test_other_days_of_the_table_may_be_published_meanwhile(lake: Lake) -> None:
    lake.write("orders", DAYS)
    first, second = staged(lake, copy_of(lake, DAYS[:2])), staged(lake, copy_of(lake, DAYS[2:]))
    assert all(one.published for one in publish(second).partitions.values())
    assert all(one.published for one in publish(first).partitions.values())
    assert {row[2] for row in lake.rows("copy")} == set(DAYS)


def test_publishers_of_other_days_at_the_very_same_time_all_succeed(lake: Lake) -> None:
    lake.write("orders", DAYS)
    ranges = [staged(lake, copy_of(lake, [day])) for day in DAYS]
    with ThreadPoolExecutor(len(DAYS)) as pool:
        reports = list(pool.map(publish, ranges))
    assert [one.published for report in reports for one in report.partitions.values()] == [True] * len(DAYS)
    assert {row[2] for row in lake.rows("copy")} == set(DAYS)
    assert lake.branches("copy") == []


def test_a_program_that_was_published_is_not_published_again_but_reported_as_it_was(lake: Lake) -> None:
    lake.write("orders", DAYS)
    program = copy_of(lake, DAYS)
    first = lake.run(program)
    before = snapshot_count(lake)
    lake.write("orders", DAYS, amount=99)
    lake.run(copy_of(lake, DAYS[:0] + DAYS[3:]))
    again = lake.run(program)
    assert again.outputs == first.outputs
    assert again.snapshots == first.snapshots
    assert again.observed == first.observed
    assert again.observed.columns
    # The publish of the last day in between: its branch, its staging and its commit.
    assert snapshot_count(lake) == before + 2


def test_who_reads_a_day_published_again_without_a_record_gets_what_the_record_names(lake: Lake) -> None:
    lake.write("orders", DAYS[:2], rows=1, amount=10)
    recorded = lake.run(copy_of(lake, DAYS[:1])).outputs["copy"]
    lake.write("orders", DAYS[:1], rows=1, amount=99)
    # Its driver was killed before it could say so: no record names this publish.
    lake.run(copy_of(lake, DAYS[:1]))
    newest = lake.run(copy_of(lake, DAYS[1:2])).outputs["copy"]
    assert recorded.snapshot is not None
    assert newest.snapshot is not None
    reads = lake.reads(
        "copy",
        DAYS[:2],
        parameter="orders",
        snapshots={DAYS[0]: recorded.snapshot, DAYS[1]: newest.snapshot},
        versions={day: str(one.partitions[day].fingerprint) for day, one in ((DAYS[0], recorded), (DAYS[1], newest))},
    )
    program = make_program("copy", DAYS[:2], outputs=(lake.output("again"),), tables=(reads,))
    report = lake.run(program)
    assert [row[1:] for row in lake.rows("again")] == [(10, DAYS[0]), (10, DAYS[1])]
    assert report.snapshots == {"copy": Pinned(newest.snapshot, {DAYS[0]: recorded.snapshot})}
    again = lake.run(program)
    assert (again.outputs, again.snapshots, again.observed) == (report.outputs, report.snapshots, report.observed)


def test_what_an_adopted_publish_said_of_its_bad_days_is_said_again(lake: Lake) -> None:
    lake.write("orders", DAYS[:2])
    lake.write("orders", DAYS[:1], rows=1)
    program = copy_of(lake, DAYS[:2])
    program = replace(program, outputs=(lake.output("copy", min_rows=2),))
    first = lake.run(program)
    assert lake.run(program).outputs == first.outputs
    assert not first.outputs["copy"].partitions[DAYS[0]].published


def test_the_output_that_a_kill_left_out_is_made_from_the_inputs_of_the_one_published(lake: Lake) -> None:
    pinned = lake.write("orders", DAYS[:1])
    outputs = (lake.output("small"), lake.output("large"))
    program = make_program("two", DAYS[:1], outputs=outputs, tables=(lake.reads("orders", DAYS[:1]),))
    first = lake.run(replace(program, outputs=outputs[:1]))
    lake.write("orders", DAYS[:1], amount=1000)
    both: Report = lake.run(program)
    assert both.outputs["small"] == first.outputs["small"]
    assert both.snapshots == {"orders": Pinned(pinned)}
    assert [row[1] for row in lake.rows("large")] == [70]


def test_a_branch_that_a_killed_driver_left_is_replaced_when_its_program_runs_again(lake: Lake) -> None:
    lake.write("orders", DAYS[:1])
    program = copy_of(lake, DAYS[:1])
    left = staged(lake, program)
    assert lake.branches("copy") == [left.branch]
    assert all(one.published for one in lake.run(program).outputs["copy"].partitions.values())
    assert lake.branches("copy") == []


def test_what_was_published_outlives_the_expiry_of_the_branch_it_was_staged_on(lake: Lake) -> None:
    lake.write("orders", DAYS)
    lake.run(copy_of(lake, DAYS))
    rows = lake.rows("copy")
    lake.spark.sql(
        f"call lake.system.expire_snapshots(table => '{lake.table('copy')}', "
        "older_than => timestamp'2100-01-01 00:00:00', retain_last => 1)"
    )
    assert snapshot_count(lake) == 1
    assert lake.rows("copy") == rows
    assert len(rows) == 12


def test_a_reader_sees_the_old_range_or_the_new_one_and_never_half(lake: Lake) -> None:
    lake.write("orders", DAYS, rows=1, amount=0)
    lake.run(copy_of(lake, DAYS))
    reader, over = lake.spark.newSession(), Event()
    seen: set[tuple[int, ...]] = set()

    def read() -> None:
        while not over.is_set():
            seen.add(tuple(row["amount"] for row in reader.table(lake.table("copy")).orderBy("ds").collect()))

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        for amount in (1, 2, 3):
            lake.write("orders", DAYS, rows=1, amount=amount)
            program = copy_of(lake, DAYS)
            run(lake.spark, program, events_file=lake.folder / "events.ndjson")
        over.set()
        reading.result()
    assert seen <= {(amount,) * len(DAYS) for amount in range(4)}
    assert len(seen) > 1
