"""A folder as the place of an output that is sent, not stored: one file a partition, written once and never again.

Staged beside the others in a folder that readers pass over. Folders that this machine can open only; refuses to know
what makes a partition good.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lineage_assets.spark.audit import audit
from lineage_assets.spark.contract import all_columns
from lineage_assets.spark.place import Adopted
from lineage_assets.spark.program import Output, Program
from lineage_assets.spark.report import OutputReport, PartitionReport

_TIMESTAMPS = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
"""With all of a timestamp's digits: what is read back for the audit is what the job made."""


@dataclass(frozen=True)
class OutboxPlace:
    """A folder that gets `ds=YYYY-MM-DD/<asset>.jsonl`."""

    spark: SparkSession
    output: Output
    folder: Path
    program: Program

    def adopted(self) -> Adopted | None:
        """Never: to write a file that is there already does nothing, so the unit is simply run again."""
        return None

    def stage(self, frame: DataFrame) -> StagedOutbox:
        staging = self.folder / f".staging-{hashlib.sha256(self.program.token.encode()).hexdigest()[:16]}"
        in_order = sorted(name for name, _ in self.output.columns)
        one_file_a_day = frame.repartition("ds").sortWithinPartitions("ds", *(f"`{name}`" for name in in_order))
        writer = one_file_a_day.write.mode("overwrite").partitionBy("ds")
        writer.option("ignoreNullFields", "false").option("timestampFormat", _TIMESTAMPS).json(str(staging))
        return StagedOutbox(self.spark, self.output, self.folder, staging, self.program.targets)


@dataclass(frozen=True)
class StagedOutbox:
    """The files of a range, not yet where a reader looks."""

    spark: SparkSession
    output: Output
    folder: Path
    staging: Path
    targets: Sequence[str]

    def rows_outside(self) -> dict[str, int]:
        days = [path.name.partition("=")[2] for path in self.staging.glob("ds=*")]
        return {day: _line_count(self._lines(day)) for day in days if day not in self.targets}

    def audited(self) -> dict[str, PartitionReport]:
        schema = ", ".join(f"`{name}` {type_}" for name, type_ in all_columns(self.output))
        reader = self.spark.read.schema(schema).option("mode", "FAILFAST").option("timestampFormat", _TIMESTAMPS)
        return audit(reader.json(str(self.staging)), self.output, self.targets)

    def discard(self) -> None:
        shutil.rmtree(self.staging)

    def publish(self, verdicts: Mapping[str, PartitionReport], notes: Mapping[str, str]) -> OutputReport:  # noqa: ARG002 - a file has no summary to keep them
        reports = {day: self._sent(day, report) if report.published else report for day, report in verdicts.items()}
        self.discard()
        return OutputReport(reports, None, str(self.folder))

    def _sent(self, day: str, report: PartitionReport) -> PartitionReport:
        """Write the day's file unless there is one; with a warning when there is one with another content."""
        target = self.folder / f"ds={day}" / f"{self.output.asset.replace('/', '.')}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        made = self._lines(day)
        whole = self.staging / f"{day}.jsonl"
        whole.write_bytes(made)
        sent = replace(report, size_bytes=len(made), files=1)
        try:
            # A link appears whole, and not where something is already, whoever else writes.
            os.link(whole, target)
        except FileExistsError:
            if target.read_bytes() != made:
                warning = f"{target} was written before with another content; it stays as it is"
                return replace(sent, warning=warning)
        return sent

    def _lines(self, day: str) -> bytes:
        return b"".join(path.read_bytes() for path in sorted((self.staging / f"ds={day}").glob("part-*.json")))


def _line_count(lines: bytes) -> int:
    return lines.count(b"\n")
