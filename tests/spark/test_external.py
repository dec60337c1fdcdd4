"""Tables of other producers on real Spark: through a window or whole, at a snapshot where they have snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import functions as F

from lineage_assets.assets.drift import drift_of
from lineage_assets.launch.table_history import current_snapshot
from lineage_assets.spark.program import Program, TableInput
from lineage_assets.spark.refusal import MissingExternalTableError, OtherColumnsError
from tests.support.spark import Lake, days_from, make_program, shifted

pytestmark = pytest.mark.spark

DAYS = days_from("2021-06-01", 2)
RATES = (("id", "int"), ("rate", "int"))


def rates(lake: Lake, *rows: tuple[int, int, str]) -> int:
    """One more commit of the rates' producer, with a column that nobody here declared; the new snapshot."""
    table = lake.table("rates")
    lake.spark.sql(f"create table if not exists {table} (id int, rate int, ds date, source string) using iceberg")
    frame = lake.spark.createDataFrame([(*row, "bank") for row in rows], "id int, rate int, ds string, source string")
    frame.withColumn("ds", F.to_date("ds")).writeTo(table).append()
    return lake.snapshot("rates")


def reading(lake: Lake, **said: object) -> TableInput:
    """The rates as an external input, whole unless there is a window."""
    fixed = {"parameter": "rates", "asset": "rates", "table": lake.table("rates"), "is_external": True}
    return TableInput(**{**fixed, "window": {}, "is_whole": "window" not in said, "columns": RATES, **said})


def program(lake: Lake, external: TableInput) -> Program:
    return make_program("abroad", DAYS, outputs=(lake.output("priced"),), tables=(lake.reads("orders", DAYS), external))


@pytest.fixture
def orders(lake: Lake) -> int:
    """Two days of one order; its id on the first, which the rates name."""
    lake.write("orders", DAYS, rows=1)
    return int(lake.rows("orders")[0][0])


def test_whole_it_comes_without_days_at_the_snapshot_that_the_gate_saw(
    lake: Lake, orders: int, warehouse: Path
) -> None:
    rates(lake, (orders, 5, "2020-01-01"), (orders + 100, 7, "2020-01-02"))
    seen = current_snapshot(warehouse / "catalog.db", lake.table("rates"))
    assert seen == lake.snapshot("rates")
    newer = rates(lake, (orders, 9, "2020-01-03"))
    pinned = reading(lake, snapshots=dict.fromkeys(DAYS, seen))
    asked = program(lake, pinned)
    report = lake.run(asked)
    assert [amount for _, amount, _ in lake.rows("priced")] == [15, 17]
    assert (report.snapshots["rates"].base, drift_of(asked, report, {})) == (seen, ())
    (made,) = report.observed.columns.values()
    assert f"{lake.table('rates')}.rate" in {f"{one.dataset}.{one.column}" for one in made["amount"]}
    report = lake.run(program(lake, reading(lake)))
    assert [amount for _, amount, _ in lake.rows("priced")] == [19, 17]
    assert report.snapshots["rates"].base == newer


def test_through_a_window_each_row_comes_for_the_days_that_read_it(lake: Lake, orders: int) -> None:
    rates(lake, (orders, 5, DAYS[0]), (orders + 100, 7, DAYS[0]), (orders + 100, 9, "2021-05-30"))
    window = {day: (shifted(day, -1), day) for day in DAYS}
    lake.run(program(lake, reading(lake, window=window)))
    assert [amount for _, amount, _ in lake.rows("priced")] == [15, 17]


def test_a_table_that_iceberg_does_not_keep_is_read_as_it_is(lake: Lake, orders: int) -> None:
    name = f"spark_catalog.default.{lake.namespace.replace('.', '_')}"
    lake.spark.sql(f"create table {name} using parquet as select {orders} as id, 5 as rate, 'bank' as source")
    try:
        asked = program(lake, reading(lake, table=name))
        report = lake.run(asked)
        assert [amount for _, amount, _ in lake.rows("priced")] == [15]
        assert list(report.snapshots) == ["orders"]
        assert drift_of(asked, report, {}) == ()
    finally:
        lake.spark.sql(f"drop table {name}")


def test_what_is_not_there_or_not_as_declared_is_refused_with_the_mend(lake: Lake, orders: int) -> None:
    with pytest.raises(MissingExternalTableError, match=r"rates does not exist\. Name it in `external"):
        lake.run(program(lake, reading(lake)))
    rates(lake, (orders, 5, DAYS[0]))
    wrong = reading(lake, columns=(("id", "int"), ("rate", "double"), ("currency", "string")))
    with pytest.raises(OtherColumnsError, match="the column rate is int, not double; it has no column currency"):
        lake.run(program(lake, wrong))
    lake.spark.sql(f"create table {lake.table('daily')} (id int, rate int, ds string) using iceberg")
    window = {day: (day, day) for day in DAYS}
    with pytest.raises(OtherColumnsError, match="the column ds is string, not date"):
        lake.run(program(lake, reading(lake, table=lake.table("daily"), window=window)))
