"""Law 1, range = loop: for every job, one run over a range gives row for row what a run a day gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from functools import reduce
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from lineage_assets.assets.declaration import JobDeclaration, Landing, Read
from lineage_assets.datasets import Field
from lineage_assets.graph import name_of
from lineage_assets.partitions import SAME_PARTITION
from lineage_assets.pipelines.food_delivery.assets import JOBS
from tests.pipelines.frames import declared, frame, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DAYS = [date(2021, 5, 24) + timedelta(days=number) for number in range(9)]
TARGETS = DAYS[6:]

EXAMPLES = 3

# Shrinking would run Spark hundreds of times; the seed alone says what failed.
few = settings(max_examples=EXAMPLES, phases=(Phase.generate,), suppress_health_check=list(HealthCheck), database=None)


def value(random: Random, column: Field) -> object:
    """Out of so few that rows meet in joins, share keys and tie."""
    match column:
        case Field(name="status"):
            return random.choice(("PLACED", "DISPATCHED", "DELIVERED"))
        case Field(type="INTEGER"):
            return random.randint(1, 3)
        case Field(type="TIMESTAMP"):
            day = random.choice(DAYS[6:8])
            return datetime(day.year, day.month, day.day, tzinfo=timezone.utc) + timedelta(
                minutes=15 * random.randint(0, 6)
            )
        case _:
            return random.choice(("1", "2", "3", "x"))


def rows(random: Random, asset: str) -> Iterator[dict[str, Any]]:
    """A few rows a day that pass the asset's own checks, as a job never sees others."""
    made = declared(asset)[1]
    for day in DAYS:
        keys = set()
        for _ in range(random.randint(2, 6)):
            row = {column.name: value(random, column) for column in made.columns}
            for name in row.keys() - set(made.checks.required):
                if random.random() < 0.1:
                    row[name] = None
            key = tuple(row[name] for name in made.checks.key)
            if key not in keys:
                keys.add(key)
                yield {"ds": day, **row}


def read_for_targets(read: Read | Landing, raw: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """As a job is given it: each row once for every target that reads it, `ds` being that target."""
    window = SAME_PARTITION if isinstance(read, Landing) else read.window
    for row in raw:
        for target in TARGETS:
            if window.first <= (row["ds"] - target).days <= window.last:
                yield {**row, "ds": target}


def inputs(spark: SparkSession, job: JobDeclaration, random: Random) -> dict[str, DataFrame]:
    found = {}
    for parameter, read in job.reads.items():
        asset = job.makes[0].name if isinstance(read, Landing) else name_of(read.asset)
        found[parameter] = frame(spark, asset, read_for_targets(read, list(rows(random, asset))))
    return found


def made_by(job: JobDeclaration, given: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    made = job.function(**given)
    return made if isinstance(made, dict) else {job.makes[0].name: made}


def range_and_loop(spark: SparkSession, job: JobDeclaration, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the job makes of random inputs in one range run, and in a run a day, as sorted rows by asset."""
    for_range = inputs(spark, job, Random(seed))  # noqa: S311 - examples, no secrets
    by_day = [
        made_by(job, {parameter: given.where(given["ds"] == target) for parameter, given in for_range.items()})
        for target in TARGETS
    ]
    in_range = {asset: rows_of(made) for asset, made in made_by(job, for_range).items()}
    # One collect for all days, which costs a third of one each; the jobs themselves saw a day at a time.
    in_loop = {asset: rows_of(reduce(DataFrame.unionAll, [made[asset] for made in by_day])) for asset in in_range}
    return in_range, in_loop


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.lineage_job.name)
def test_a_range_gives_what_its_days_give_alone(spark: SparkSession, job: JobDeclaration) -> None:
    compared = dict.fromkeys((made.name for made in job.makes), 0)

    @few
    @given(st.integers(0, 2**32))
    def holds(seed: int) -> None:
        in_range, in_loop = range_and_loop(spark, job, seed)
        assert in_range == in_loop
        for asset, found in in_range.items():
            compared[asset] += len(found)

    holds()
    assert min(compared.values()) > 0, "the law was held by empty results alone"


def test_the_law_is_broken_by_a_job_that_forgets_ds(spark: SparkSession) -> None:
    def forgetful(discounts: DataFrame, customers: DataFrame) -> DataFrame:
        names = customers.select(customers["email"].alias("customer_email"), customers["name"].alias("customer_name"))
        return discounts.join(names, on="customer_email", how="inner").select("ds", "id", "customer_name")

    job = replace(declared("email_discounts")[0], function=forgetful)
    in_range, in_loop = range_and_loop(spark, job, seed=1)
    assert in_range != in_loop
