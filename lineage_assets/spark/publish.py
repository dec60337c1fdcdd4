"""Publishing a staged range of an Iceberg table: the good days go to main in one commit that moves metadata only.

The commit's summary says which unit published and what came of each partition, so that a driver killed right after it
is adopted, not repeated. A branch with a bad day stays as its quarantine. Refuses to know what makes a day bad.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from lineage_assets.spark.audit import audit
from lineage_assets.spark.history import Snapshot
from lineage_assets.spark.iceberg import ConflictError, DayFiles, IcebergTable
from lineage_assets.spark.place import Adopted
from lineage_assets.spark.program import PUBLISHED_BY_ANOTHER, Output
from lineage_assets.spark.report import OutputReport, PartitionReport
from lineage_assets.spark.summary import (
    CHECKS,
    RECORDS,
    TOKEN,
    checks_text,
    is_published,
    parse_inputs,
    parse_observed,
    parse_records,
    parse_reports,
    records_text,
)

_NO_FILES = DayFiles((), 0, 0)

_Reports = Mapping[str, PartitionReport]


log = logging.getLogger("lineage_assets.publish")


@dataclass(frozen=True)
class StagedTable:
    """A range on its branch."""

    output: Output
    frame: DataFrame
    """The branch, as far as it is the range."""
    name: str
    branch: str
    token: str
    targets: Sequence[str]
    table: IcebergTable
    location: str
    base: int | None
    """The snapshot of main that the range was staged upon; None when main had none."""
    files: Mapping[str | None, DayFiles]
    """The data files staged, by day."""

    def rows_outside(self) -> dict[str, int]:
        return {str(day): files.rows for day, files in self.files.items() if day not in self.targets}

    def audited(self) -> dict[str, PartitionReport]:
        return with_files(audit(self.frame, self.output, self.targets), self.files)

    def discard(self) -> None:
        self.table.drop_branches([self.branch])

    def publish(self, verdicts: _Reports, notes: Mapping[str, str]) -> OutputReport:
        """Good days hold what was staged, those without a row nothing; all stay as they were when another was first."""
        reports = {day: self._with_quarantine(report) for day, report in verdicts.items()}
        good = [day for day, report in reports.items() if report.published]
        summary = {
            TOKEN: self.token,
            RECORDS: records_text(reports),
            CHECKS: checks_text(self.output),
            **notes,
        }
        try:
            snapshot = self._commit(good, summary) if good else None
        except ConflictError as conflict:
            self.discard()
            return OutputReport(_all_refused(reports, self.name, conflict), None, self.location)
        try:
            settle_branches(self.table, self.branch, summary)
        except Py4JJavaError as error:
            # What was committed stays committed: a branch left over is for a later publish to tidy.
            log.warning("A branch of %s could not be tidied: %s", self.name, error)
        return OutputReport(reports, snapshot, self.location)

    def _commit(self, good: Sequence[str], summary: Mapping[str, str]) -> int:
        try:
            return self.table.replace_days({day: self.files.get(day, _NO_FILES) for day in good}, self.base, summary)
        except Py4JJavaError:
            # The catalog may have taken the commit and lost the answer.
            published = self.table.history().published_by(self.token, self.targets)
            if published is None:
                raise
            return published.id

    def _with_quarantine(self, report: PartitionReport) -> PartitionReport:
        if report.published:
            return report
        return replace(report, message=f"{report.message}; kept on the branch {self.branch} of {self.name}")


def with_files(reports: _Reports, files: Mapping[str | None, DayFiles]) -> dict[str, PartitionReport]:
    """The reports with the number and size of the files that hold each day."""
    found = {day: files.get(day, _NO_FILES) for day in reports}
    return {
        day: replace(report, size_bytes=found[day].size_bytes, files=len(found[day].files))
        for day, report in reports.items()
    }


def settle_branches(table: IcebergTable, branch: str, summary: Mapping[str, str]) -> None:
    """What follows a publish: the branch goes, or stays as quarantine when a day is bad; quarantines made good go."""
    history = table.history()
    over = list(history.settled_quarantines())
    if branch in history.branches and not history.is_quarantine(branch):
        if all(map(is_published, parse_records(summary).values())):
            over.append(branch)
        else:
            table.note_on_branch(branch, {RECORDS: summary[RECORDS]})
    if over:
        table.drop_branches(over)


def adopted_from(snapshot: Snapshot, location: str, targets: Sequence[str]) -> Adopted:
    """What the summary of a published snapshot says came of the targets."""
    reports = parse_reports(snapshot.summary)
    report = OutputReport({day: reports[day] for day in targets}, snapshot.id, location)
    return Adopted(report, parse_inputs(snapshot.summary), parse_observed(snapshot.summary))


def _all_refused(reports: _Reports, table: str, conflict: ConflictError) -> dict[str, PartitionReport]:
    message = (
        f"another published {table} after this program began, on one of its days at least; nothing of its range was "
        f"published. Run it again. Iceberg says: {conflict}"
    )
    return {
        day: replace(report, published=False, cause=PUBLISHED_BY_ANOTHER, message=message)
        if report.published
        else report
        for day, report in reports.items()
    }
