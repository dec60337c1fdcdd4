"""Every input arrives once, with the day it is read for; landing files arrive as they were listed or are told of."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame

from lineage_assets.spark.inputs import changed_landings, pinned, read_landing, read_table, target_frame
from lineage_assets.spark.program import TableInput
from lineage_assets.spark.refusal import LostSnapshotError, MissingTableError
from lineage_assets.spark.report import Pinned
from tests.support.spark import Lake, Rows, days_from, make_landing

pytestmark = pytest.mark.spark

MAY_31 = "2021-05-31"
JUNE = days_from("2021-06-01", 30)


def plain(frame: DataFrame) -> Rows:
    return sorted(tuple(str(value) for value in row) for row in frame.collect())


def days_by_source(lake: Lake, read: TableInput) -> dict[str, list[str]]:
    frame = read_table(lake.spark, read, None).select("source_ds", "ds").distinct()
    found: dict[str, list[str]] = {}
    for source, day in plain(frame):
        found.setdefault(source[-2:], []).append(day[-2:])
    return found


def test_a_row_arrives_once_for_each_target_whose_window_holds_it(lake: Lake) -> None:
    lake.write("orders", JUNE[:6], rows=1)
    assert days_by_source(lake, lake.reads("orders", JUNE[3:6], days=3)) == {
        "02": ["04"],
        "03": ["04", "05"],
        "04": ["04", "05", "06"],
        "05": ["05", "06"],
        "06": ["06"],
    }


def test_targets_with_a_gap_read_no_more_than_their_windows(lake: Lake) -> None:
    lake.write("orders", JUNE[:12], rows=1)
    assert days_by_source(lake, lake.reads("orders", [JUNE[2], JUNE[9]], days=2)) == {
        "02": ["03"],
        "03": ["03"],
        "09": ["10"],
        "10": ["10"],
    }


def test_a_same_day_input_arrives_as_it_is_and_says_its_own_day_like_any_other(lake: Lake) -> None:
    lake.write("orders", JUNE[:3], rows=2)
    frame = read_table(lake.spark, lake.reads("orders", JUNE[1:2]), None)
    assert frame.columns == ["id", "amount", "ds", "source_ds"]
    assert [row[2:] for row in plain(frame)] == [("2021-06-02", "2021-06-02")] * 2


def test_a_window_clipped_to_one_day_gives_the_same_columns_as_a_wide_one(lake: Lake) -> None:
    lake.write("orders", JUNE[:2], rows=1)
    first = replace(lake.reads("orders", [JUNE[0]]), window={JUNE[0]: (JUNE[0], JUNE[0])})
    wide = lake.reads("orders", JUNE[:2], days=2)
    assert read_table(lake.spark, first, None).columns == read_table(lake.spark, wide, None).columns


def test_a_raw_input_keeps_its_own_day_and_is_not_exploded(lake: Lake) -> None:
    lake.write("orders", JUNE[:8], rows=1)
    frame = read_table(lake.spark, lake.reads("orders", JUNE[6:8], days=3, raw=True), None)
    assert frame.columns == ["id", "amount", "ds"]
    assert [row[2] for row in plain(frame)] == ["2021-06-05", "2021-06-06", "2021-06-07", "2021-06-08"]


def test_targets_are_a_frame_of_days(lake: Lake) -> None:
    assert plain(target_frame(lake.spark, JUNE[:2])) == [("2021-06-01",), ("2021-06-02",)]


def test_an_input_of_no_partition_is_empty(lake: Lake) -> None:
    lake.write("orders", JUNE[:1])
    assert plain(read_table(lake.spark, lake.reads("orders", []), None)) == []


def test_what_is_published_after_the_pin_is_not_read(lake: Lake) -> None:
    before = lake.write("orders", JUNE[:1], rows=1, amount=10)
    lake.write("orders", JUNE[:1], rows=1, amount=99)
    read = lake.reads("orders", JUNE[:1], snapshots={JUNE[0]: before})
    at = pinned(lake.spark, read)
    assert at == Pinned(before)
    assert [row["amount"] for row in read_table(lake.spark, read, at).collect()] == [10]


def test_a_day_that_was_published_again_since_is_read_at_the_snapshot_that_its_record_names(lake: Lake) -> None:
    named = lake.write("orders", JUNE[:1], rows=1, amount=10)
    lake.write("orders", JUNE[:1], rows=1, amount=99)
    newest = lake.write("orders", JUNE[1:2], rows=1, amount=20)
    lake.spark.sql(f"alter table {lake.table('orders')} add column note string")
    read = lake.reads("orders", JUNE[:2], days=2, snapshots={JUNE[0]: named, JUNE[1]: newest})
    at = pinned(lake.spark, read)
    assert at == Pinned(newest, {JUNE[0]: named})
    rows = plain(read_table(lake.spark, read, at).select("amount", "source_ds", "ds"))
    assert rows == [
        ("10", "2021-06-01", "2021-06-01"),
        ("10", "2021-06-01", "2021-06-02"),
        ("20", "2021-06-02", "2021-06-02"),
    ]


def test_a_rolled_back_snapshot_that_a_record_names_is_refused(lake: Lake) -> None:
    first = lake.write("orders", JUNE[:1])
    rolled_back = lake.write("orders", JUNE[1:2])
    lake.spark.sql(f"call lake.system.rollback_to_snapshot('{lake.table('orders')}', {first})")
    newest = lake.write("orders", JUNE[2:3])
    with pytest.raises(LostSnapshotError) as refused:
        pinned(lake.spark, lake.reads("orders", JUNE[:3], snapshots={JUNE[1]: rolled_back, JUNE[2]: newest}))
    assert (refused.value.table, refused.value.snapshot) == (lake.table("orders"), rolled_back)


def test_records_stay_usable_after_snapshots_were_expired(lake: Lake) -> None:
    old = lake.write("orders", JUNE[:1])
    newer = [lake.write("orders", [day]) for day in JUNE[1:4]]
    gone = f"array({old}, {newer[0]})"
    lake.spark.sql(f"call lake.system.expire_snapshots(table => '{lake.table('orders')}', snapshot_ids => {gone})")
    both = lake.reads("orders", JUNE[:4], snapshots={JUNE[0]: old, JUNE[3]: newer[2]})
    # Others than we wrote: what of the first day is certain is the oldest snapshot that is kept.
    assert pinned(lake.spark, both) == Pinned(newer[2], {JUNE[0]: newer[1]})
    assert pinned(lake.spark, lake.reads("orders", JUNE[:2], snapshots={JUNE[0]: old})) == Pinned(newer[1])


def test_a_table_that_is_not_there_is_refused_by_name(lake: Lake) -> None:
    with pytest.raises(MissingTableError, match=f"The input table {lake.table('orders')} does not exist"):
        pinned(lake.spark, lake.reads("orders", JUNE[:1]))


CSV = 'id,at,comment\n1,2021-06-04T12:30:00Z,"said ""hi"", left"\n2,2021-06-04T12:30:00.25,\n'
COLUMNS = (("id", "int"), ("at", "timestamp"), ("comment", "string"))


def test_csv_is_read_by_the_declared_columns_in_utc_with_the_day_of_its_folder(lake: Lake, tmp_path: Path) -> None:
    read = make_landing(tmp_path / "in", {"2021-06-04": CSV}, columns=COLUMNS)
    frame = read_landing(lake.spark, read)
    assert frame.dtypes == [*COLUMNS, ("ds", "date")]
    assert plain(frame) == [
        ("1", "2021-06-04 12:30:00", 'said "hi", left', "2021-06-04"),
        ("2", "2021-06-04 12:30:00.250000", "None", "2021-06-04"),
    ]


def test_json_lines_are_read_likewise(lake: Lake, tmp_path: Path) -> None:
    lines = '{"id": 1, "at": "2021-06-04T12:30:00Z", "comment": "a"}\n{"id": 2, "at": null}\n'
    read = make_landing(tmp_path / "in", {"2021-06-04": lines}, columns=COLUMNS, format="json")
    assert plain(read_landing(lake.spark, read)) == [
        ("1", "2021-06-04 12:30:00", "a", "2021-06-04"),
        ("2", "None", "None", "2021-06-04"),
    ]


@pytest.mark.parametrize("content", ["id,at\n1,2021-06-04T12:30:00Z\n", "id,at,comment\none,2021-06-04T12:30:00Z,a\n"])
def test_files_that_do_not_fit_the_declared_columns_fail_the_program(lake: Lake, tmp_path: Path, content: str) -> None:
    read = make_landing(tmp_path / "in", {"2021-06-04": content}, columns=COLUMNS)
    with pytest.raises(Exception, match=r"Number of column in CSV header|MALFORMED_RECORD"):
        read_landing(lake.spark, read).collect()


def test_only_the_files_that_the_step_listed_are_read(lake: Lake, tmp_path: Path) -> None:
    read = make_landing(tmp_path / "in", {"2021-06-04": "id,amount\n1,2\n"})
    (tmp_path / "in" / "ds=2021-06-04" / "late.csv").write_text("id,amount\n3,4\n", encoding="utf-8")
    assert [row["id"] for row in read_landing(lake.spark, read).collect()] == [1]
    assert changed_landings([read]) == {}


def test_files_that_changed_or_went_away_while_they_were_read_are_told_by_day(tmp_path: Path) -> None:
    days = {day: f"id,amount\n{place},2\n" for place, day in enumerate(JUNE[:3])}
    read = make_landing(tmp_path / "in", days)
    (tmp_path / "in" / f"ds={JUNE[0]}" / "part.txt").write_text("id,amount\n9,9\n", encoding="utf-8")
    shutil.rmtree(tmp_path / "in" / f"ds={JUNE[1]}")
    changed = changed_landings([read])
    assert sorted(changed) == JUNE[:2]
    assert f"were {read.versions[JUNE[0]]} before" in changed[JUNE[0]]
    assert "went away while it was read" in changed[JUNE[1]]
