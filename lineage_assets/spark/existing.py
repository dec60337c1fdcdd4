"""Auditing what a table holds already, to take it into the record: computes nothing, writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import SparkSession

from lineage_assets.spark.audit import audit
from lineage_assets.spark.contract import broken_contract, contracted
from lineage_assets.spark.iceberg import IcebergTable, quoted
from lineage_assets.spark.inputs import days_of, within
from lineage_assets.spark.program import Output, Program
from lineage_assets.spark.publish import with_files
from lineage_assets.spark.refusal import MissingTableError, NoPlaceError
from lineage_assets.spark.report import OutputReport, PartitionReport, Report
from lineage_assets.spark.staging import LAYOUT


def audit_existing(spark: SparkSession, program: Program) -> Report:
    """Every target as the tables hold it at their current snapshot; a partition without a row is not there."""
    return Report(
        outputs={output.asset: _audited(spark, output, program.targets) for output in program.outputs},
        spark_version=spark.version,
        application_id=spark.sparkContext.applicationId,
    )


def _audited(spark: SparkSession, output: Output, targets: Sequence[str]) -> OutputReport:
    if output.table is None:
        raise NoPlaceError(output.asset)
    table = IcebergTable.load(spark, output.table)
    history = None if table is None else table.history()
    if history is None or history.main is None:
        raise MissingTableError(output.table)
    held = spark.read.option("snapshot-id", history.main).table(quoted(output.table))
    difference = broken_contract(held, output)
    if difference is not None:
        broken = PartitionReport(published=False, cause="schema change", message=difference)
        return OutputReport(dict.fromkeys(targets, broken), history.main, history.location)
    kept = contracted(held, output).where(within(days_of(targets)))
    reports = audit(kept, output, targets)
    if table is not None and history.partitioned_by == LAYOUT:
        reports = with_files(reports, table.held_files(history.main, targets))
    return OutputReport({day: _there(one) for day, one in reports.items()}, history.main, history.location)


def _there(report: PartitionReport) -> PartitionReport:
    if report.rows:
        return report
    return replace(report, published=False, cause="missing", message="the table holds no row of it: nothing to take in")
