"""Frames for job tests: literal rows in, plain rows out, and what a job is given for its target partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from lineage_assets.assets.declaration import JobDeclaration, Landing, Made
from lineage_assets.datasets import Field
from lineage_assets.partitions import Window
from lineage_assets.pipelines.food_delivery.assets import JOBS

Row = Mapping[str, Any]


def declared(asset: str) -> tuple[JobDeclaration, Made]:
    return next((job, made) for job in JOBS for made in job.makes if made.name == asset)


def schema_of(columns: Iterable[Field]) -> str:
    return ", ".join(["ds date", *(f"{column.name} {column.spark_type}" for column in columns)])


def frame(spark: SparkSession, asset: str, rows: Iterable[Row]) -> DataFrame:
    """Rows of an asset's columns; what a row does not name is null."""
    schema = T._parse_datatype_string(schema_of(declared(asset)[1].columns))
    assert isinstance(schema, T.StructType)
    return spark.createDataFrame([tuple(row.get(name) for name in schema.names) for row in rows], schema)


def read_for(spark: SparkSession, rows: DataFrame, window: Window, targets: Iterable[date]) -> DataFrame:
    """What the runner gives a job: each row once for every target that reads it, `ds` being that target."""
    reads = [
        (target, target + timedelta(days=offset))
        for target in targets
        for offset in range(window.first, window.last + 1)
    ]
    wanted = spark.createDataFrame(reads, "ds date, source_ds date")
    return rows.withColumnRenamed("ds", "source_ds").join(wanted, on="source_ds", how="inner")


def run_job(
    spark: SparkSession, job: JobDeclaration, inputs: Mapping[str, DataFrame], targets: Iterable[date]
) -> dict[str, DataFrame]:
    """The job's outputs by asset name for the targets; `inputs` by parameter, with `ds` the day of each row."""
    days = list(targets)
    given = {}
    for parameter, read in job.reads.items():
        if isinstance(read, Landing):
            given[parameter] = inputs[parameter].where(inputs[parameter]["ds"].isin(days))
        else:
            given[parameter] = read_for(spark, inputs[parameter], read.window, days)
    made = job.function(**given)
    return made if isinstance(made, dict) else {job.makes[0].name: made}


def rows_of(made: DataFrame) -> list[tuple[Any, ...]]:
    """Collected and sorted, nulls first; instants as text in UTC, which is the session's time zone."""
    texts = made.select(
        *(
            made[column.name].cast("string") if isinstance(column.dataType, T.TimestampType) else made[column.name]
            for column in made.schema
        )
    )
    return sorted(
        (tuple(row) for row in texts.collect()), key=lambda row: [(value is not None, value) for value in row]
    )


def at(text: str) -> datetime:
    """`06-04 12:30` or `06-04 12:30:59` as an instant of 2021 in UTC."""
    return datetime.fromisoformat(f"2021-{text}+00:00")
