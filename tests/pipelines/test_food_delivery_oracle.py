"""The whole pipeline on the feed's files, in Spark over a range, against plain Python a day at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lineage_assets.assets.declaration import Landing
from lineage_assets.pipelines.food_delivery import feed
from lineage_assets.pipelines.food_delivery.assets import JOBS
from lineage_assets.spark.inputs import read_landing
from lineage_assets.spark.landing import landing_files
from lineage_assets.spark.program import LandingInput
from tests.pipelines.frames import declared, rows_of, run_job
from tests.pipelines.oracle import expected

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FIRST = date(2021, 5, 24)
DAYS = [FIRST + timedelta(days=number) for number in range(10)]


def landed(spark: SparkSession, landing: Landing, root: Path) -> DataFrame:
    files = {day.isoformat(): landing_files(root / landing.folder, day.isoformat()) for day in DAYS}
    columns = tuple((column.name, column.spark_type) for column in landing.columns)
    return read_landing(
        spark, LandingInput("landing", landing.format, columns, str(root / landing.folder), files, versions={})
    )


def run_all(spark: SparkSession, root: Path) -> dict[str, DataFrame]:
    """Every asset over all days, each job in one range run."""
    made: dict[str, DataFrame] = {}
    for job in JOBS:
        given = {
            parameter: landed(spark, read, root) if isinstance(read, Landing) else made[read.asset[0]]
            for parameter, read in job.reads.items()
        }
        for asset, rows in run_job(spark, job, given, DAYS).items():
            made[asset] = rows.select("ds", *(column.name for column in declared(asset)[1].columns)).cache()
    return made


def as_text(value: Any) -> Any:  # noqa: ANN401 - any cell
    return value.strftime("%Y-%m-%d %H:%M:%S") if isinstance(value, datetime) else value


@pytest.fixture(scope="module")
def landing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("landing")
    feed.drop(root, DAYS[0], DAYS[-1])
    return root


@pytest.fixture(scope="module")
def made(spark: SparkSession, landing: Path) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """The rows of every asset."""
    yield {
        asset: [dict(zip(rows.columns, row, strict=True)) for row in rows_of(rows)]
        for asset, rows in run_all(spark, landing).items()
    }
    spark.catalog.clearCache()


def test_spark_over_a_range_and_plain_python_a_day_at_a_time_agree(
    made: dict[str, list[dict[str, Any]]], landing: Path
) -> None:
    by_day = {day: expected(landing, FIRST, day) for day in DAYS}
    for asset in by_day[FIRST]:
        columns = [column.name for column in declared(asset)[1].columns]
        wanted = [(day, *(as_text(row[column]) for column in columns)) for day in DAYS for row in by_day[day][asset]]
        found = [tuple(row.values()) for row in made[asset]]
        assert Counter(found) == Counter(wanted), asset
        assert {row[0] for row in found} == set(DAYS), asset


def test_every_days_rows_pass_the_declared_checks(made: dict[str, list[dict[str, Any]]]) -> None:
    for asset, all_days in made.items():
        checks = declared(asset)[1].checks
        for day in DAYS:
            rows = [row for row in all_days if row["ds"] == day]
            assert len(rows) >= checks.min_rows
            assert all(row[name] is not None for row in rows for name in checks.required)
            assert len({tuple(row[name] for name in checks.key) for row in rows}) == len(rows)


def test_the_feed_gives_the_story_both_discounts_and_deliveries_under_way(
    made: dict[str, list[dict[str, Any]]],
) -> None:
    for day in DAYS:
        assert {row["amount_off"] for row in made["discounts"] if row["ds"] == day} == {5, 15}
        assert any(row["order_delivered_on"] is None for row in made["deliveries"] if row["ds"] == day)
