"""Functions that the stub driver runs as programs."""

import os
import time
from pathlib import Path
from threading import Thread

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineage_assets.spark.cancellation import stop_if_cancelled
from lineage_assets.spark.jvm import running_tasks
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import OutputReport, PartitionReport, Report


def report_of(program: Program, spark: SparkSession, **seconds: float) -> Report:
    asset = program.outputs[0].asset
    partitions = {target: PartitionReport(published=True, rows=7) for target in program.targets}
    context = spark.sparkContext
    return Report({asset: OutputReport(partitions, 1)}, application_id=str(context.applicationId), seconds=seconds)


def count(spark: SparkSession, program: Program) -> Report:
    return report_of(program, spark, rows=float(spark.range(10).count()))


def look_at_session(spark: SparkSession, program: Program) -> Report:
    """How many temporary views of programs before there are, and whether the active session is this one."""
    seen = len(spark.catalog.listTables())
    spark.range(1).createOrReplaceTempView("left_behind")
    active = SparkSession.getActiveSession()
    assert active is not None
    is_own = active._jsparkSession.equals(spark._jsparkSession)
    return report_of(program, spark, views=float(seen), own=float(is_own))


def fail(spark: SparkSession, program: Program) -> Report:
    spark.range(1).select(F.raise_error(F.lit("no such menu"))).collect()
    return report_of(program, spark)


def leave(_spark: SparkSession, _program: Program) -> Report:
    raise SystemExit(3)


def wait_in_spark(spark: SparkSession, program: Program) -> Report:
    """Work in Spark until cancelled; tell by a file that it has begun, by another that it went on afterwards."""
    folder = Path(program.token)
    (folder / "begun").touch()
    spark.range(1 << 40).selectExpr("sum(sqrt(id))").collect()
    (folder / "went on").touch()
    return report_of(program, spark)


def wait_in_python(spark: SparkSession, program: Program) -> Report:
    """Between two Spark jobs, where Spark's own cancel does nothing, until a file says to end."""
    folder = Path(program.token)
    (folder / "begun").touch()
    while not (folder / "end").exists():
        stop_if_cancelled(spark)
        time.sleep(0.01)
    return report_of(program, spark)


def burn(spark: SparkSession, program: Program) -> Report:
    """A task that takes no notice of its end, in the middle of one row, for longer than any test waits."""
    telling = Thread(target=_tell_once_a_task_runs, args=(spark, Path(program.token) / "begun"), daemon=True)
    telling.start()
    inner = "aggregate(sequence(1, 30000), id, (b, y) -> b + y)"
    spark.range(1).selectExpr(f"aggregate(sequence(1, 300000), id, (a, x) -> a + {inner})").collect()
    return report_of(program, spark)


def _tell_once_a_task_runs(spark: SparkSession, file: Path) -> None:
    """A query that is still being planned can be cancelled, and would prove nothing."""
    while not running_tasks(spark):
        time.sleep(0.01)
    file.touch()


def ignore_everything(_spark: SparkSession, program: Program) -> Report:
    (Path(program.token) / "begun").touch()
    while True:
        time.sleep(0.1)


def kill_jvm(spark: SparkSession, program: Program) -> Report:
    os.kill(spark.sparkContext._gateway.proc.pid, 9)
    return count(spark, program)
