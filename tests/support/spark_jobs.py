"""Small jobs for tests of the runner: what a job is allowed to do, and what it is not."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def load(landing: DataFrame) -> DataFrame:
    return landing


def copy(orders: DataFrame) -> DataFrame:
    return orders.select("id", "amount", "ds")


def week(orders: DataFrame) -> DataFrame:
    """Windowed, and with a join on the same day: what each customer-less order amounts to in its week."""
    totals = orders.groupBy("ds").agg(F.sum("amount").cast("int").alias("total"))
    return orders.join(totals, "ds", "inner").select("id", F.col("source_ds").alias("placed"), "amount", "total", "ds")


def raw_week(orders: DataFrame, targets: DataFrame) -> DataFrame:
    """The week's total, from days added up first: `ds` of the input is the day of the order."""
    days = orders.groupBy("ds").agg(F.sum("amount").alias("amount"), F.count("*").alias("orders"))
    seven = Window.orderBy(F.unix_date("ds")).rangeBetween(-6, 0)
    week = days.join(targets.withColumn("wanted", F.expr("true")), "ds", "full").select(
        "ds",
        "wanted",
        F.sum("amount").over(seven).cast("int").alias("total"),
        F.sum("orders").over(seven).cast("int").alias("orders"),
    )
    return week.where("wanted and orders > 0").select("ds", "orders", "total")


def two(orders: DataFrame) -> dict[str, DataFrame]:
    return {
        "large": orders.where("amount >= 50").select("id", "amount", "ds"),
        "small": orders.where("amount < 50").select("id", "amount", "ds"),
    }


def tomorrow(orders: DataFrame) -> DataFrame:
    return orders.select("id", "amount", F.date_add("ds", 1).alias("ds"))


def renamed(orders: DataFrame) -> DataFrame:
    return orders.select("id", F.col("amount").cast("bigint").alias("amount"), F.lit("x").alias("extra"), "ds")


def nothing(orders: DataFrame) -> None:
    del orders


def curious(orders: DataFrame) -> DataFrame:
    """Counts and collects tables that it was not given, and writes a folder, all while it is called."""
    spark = orders.sparkSession
    counted = spark.table(str(spark.conf.get("test.counted"))).count()
    collected = spark.table(str(spark.conf.get("test.collected"))).collect()
    orders.write.parquet(str(spark.conf.get("test.written")))
    return copy(orders).where(F.lit(counted + len(collected) > 0))


def joining(orders: DataFrame, menus: DataFrame) -> DataFrame:
    """Reads one input, joins a table by name, and has no use for the other input."""
    del menus
    spark = orders.sparkSession
    rates = spark.table(str(spark.conf.get("test.joined"))).select("ds").distinct()
    return copy(orders).join(rates, "ds", "left_semi").select("id", "amount", "ds")


def mails(orders: DataFrame) -> DataFrame:
    to = F.concat(F.lit("customer"), "id", F.lit("@example.com"))
    sent = F.expr("make_timestamp(2021, 6, 4, 12, 30, 0.123456)")
    return orders.select(to.alias("to"), "amount", sent.alias("sent"), "ds")


def stuck(orders: DataFrame) -> DataFrame:
    """Stops for good at the last row, in the task that writes; the file that STUCK_MARKER names appears then."""
    stop_at_last = F.udf(_stop_at_last, "int")
    last = orders.agg(F.max("id").alias("last"))
    return orders.crossJoin(last).select("id", stop_at_last("id", "last", "amount").alias("amount"), "ds")


def _stop_at_last(number: int, last: int, amount: int) -> int:
    marker = os.environ.get("STUCK_MARKER")
    if number == last and marker is not None:
        Path(marker).touch()
        signal.pause()
    return amount


def abroad(orders: DataFrame, rates: DataFrame) -> DataFrame:
    """An input of one's own, and one of another's: by day where it has days, else whole."""
    on = ["ds", "id"] if "ds" in rates.columns else ["id"]
    price = F.col("amount") + F.col("rate")
    largest = rates.groupBy(*on).agg(F.max("rate").alias("rate"))
    return orders.join(largest, on, "inner").select("id", price.alias("amount"), "ds")
