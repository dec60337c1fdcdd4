"""A warm driver whose programs are plain functions of session and program: what a runner does is not its matter."""

from importlib import import_module
from pathlib import Path

from pyspark.sql import SparkSession

from lineage_assets.spark.driver import main
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Report


def run(spark: SparkSession, program: Program, *, events_file: Path) -> Report:
    events_file.touch()
    module, _, name = program.function.partition(":")
    report: Report = getattr(import_module(module), name)(spark, program)
    return report


if __name__ == "__main__":
    main(run=run)
