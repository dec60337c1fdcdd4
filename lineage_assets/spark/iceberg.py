"""One Iceberg table by Iceberg's own Java API: its metadata, its branches, and commits that move metadata only.

The one file that calls that API. Refuses to know what a partition must hold to be published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lineage_assets.spark.history import History, parse_history
from lineage_assets.spark.jvm import is_a, java_session, packages, said

_EPOCH = date(1970, 1, 1).toordinal()


class ConflictError(Exception):
    """Somebody else changed the same days on main since the base."""


@dataclass(frozen=True)
class DayFiles:
    """The data files that a snapshot added for one day."""

    files: tuple[Any, ...]
    rows: int
    size_bytes: int


class IcebergTable:
    """A table as one driver sees it; each look at it reads its metadata anew."""

    def __init__(self, spark: SparkSession, java: Any) -> None:  # noqa: ANN401 - Java has no types here
        self._packages = packages(spark)
        self._java = java

    @classmethod
    def load(cls, spark: SparkSession, name: str) -> IcebergTable | None:
        """The table, or None when the catalog has no such table."""
        try:
            java = packages(spark).org.apache.iceberg.spark.Spark3Util.loadIcebergTable(java_session(spark), name)
        except AnalysisException:
            if spark.catalog.tableExists(name):
                raise
            return None
        return cls(spark, java)

    def history(self) -> History:
        self._java.refresh()
        metadata = self._java.operations().current()
        return parse_history(self._packages.org.apache.iceberg.TableMetadataParser.toJson(metadata))

    def create_branch(self, name: str, at: int | None) -> None:
        """A branch at this snapshot; without one, at a new empty snapshot."""
        change = self._java.manageSnapshots()
        (change.createBranch(name) if at is None else change.createBranch(name, at)).commit()

    def drop_branches(self, names: Iterable[str]) -> None:
        change = self._java.manageSnapshots()
        for name in names:
            change = change.removeBranch(name)
        change.commit()

    def note_on_branch(self, name: str, summary: Mapping[str, str]) -> None:
        """An empty commit at the head of a branch, to leave word there."""
        _with(self._java.newFastAppend().toBranch(name), summary).commit()

    def added_files(self, branch: str) -> dict[str | None, DayFiles]:
        """What the newest snapshot of a branch added, by day; under None lie rows without a day."""
        self._java.refresh()
        return self._by_day(self._java.snapshot(branch).addedDataFiles(self._java.io()))

    def held_files(self, snapshot: int, days: Iterable[str]) -> dict[str | None, DayFiles]:
        """What a snapshot of a table partitioned by `ds` holds of these days, by day."""
        scan = self._java.newScan().useSnapshot(snapshot).filter(self._of_days(days))
        with closing(scan.planFiles()) as tasks:
            return self._by_day(task.file() for task in tasks.iterator())

    def _by_day(self, files: Iterable[Any]) -> dict[str | None, DayFiles]:
        any_class = self._packages.java.lang.Object().getClass()
        found: dict[str | None, list[Any]] = {}
        for file in files:
            day = file.partition().get(0, any_class)
            found.setdefault(None if day is None else date.fromordinal(_EPOCH + day).isoformat(), []).append(file)
        return {day: _day_files(of_day) for day, of_day in found.items()}

    def _of_days(self, days: Iterable[str]) -> Any:  # noqa: ANN401
        since_epoch = [date.fromisoformat(day).toordinal() - _EPOCH for day in days]
        return getattr(self._packages.org.apache.iceberg.expressions.Expressions, "in")("ds", since_epoch)

    def replace_days(self, files: Mapping[str, DayFiles], base: int | None, summary: Mapping[str, str]) -> int:
        """One commit to main: these days hold these files and nothing else; ConflictError when another was first.

        Iceberg repeats the checks and the commit by itself when somebody publishes other days meanwhile.
        """
        these = self._of_days(files)
        commit = self._java.newOverwrite().overwriteByRowFilter(these).conflictDetectionFilter(these)
        commit = _with(commit.validateNoConflictingData().validateNoConflictingDeletes(), summary)
        if base is not None:
            commit = commit.validateFromSnapshot(base)
        for day in files.values():
            for file in day.files:
                commit = commit.addFile(file)
        try:
            commit.commit()
        except Py4JJavaError as error:
            if is_a(error, "ValidationException"):
                raise ConflictError(said(error)) from error
            raise
        return int(commit.updateEvent().snapshotId())


def _day_files(files: Sequence[Any]) -> DayFiles:
    rows = sum(int(file.recordCount()) for file in files)
    return DayFiles(tuple(files), rows, sum(int(file.fileSizeInBytes()) for file in files))


def _with(commit: Any, summary: Mapping[str, str]) -> Any:  # noqa: ANN401
    for key, value in summary.items():
        commit = commit.set(key, value)
    return commit


def quoted(name: str) -> str:
    """A dotted name for use in SQL."""
    return ".".join(f"`{part}`" for part in name.split("."))


def create_table(spark: SparkSession, name: str, columns: Sequence[tuple[str, str]]) -> None:
    """A table partitioned by the date column `ds`, when there is none."""
    namespace, _, _ = name.rpartition(".")
    listed = ", ".join(f"`{column}` {type_}" for column, type_ in (*columns, ("ds", "date")))
    properties = ", ".join(f"'{key}'='{value}'" for key, value in _PROPERTIES.items())
    spark.sql(f"create namespace if not exists {quoted(namespace)}")
    spark.sql(
        f"create table if not exists {quoted(name)} ({listed}) "
        f"using iceberg partitioned by (ds) tblproperties ({properties})"
    )


_PROPERTIES = {
    "format-version": "2",
    # One writer a day, so one file a day unless the day is large.
    "write.distribution-mode": "hash",
    # A writer sorts its days rather than keep a file open for each: a year of them did not fit into 1 GiB.
    "write.spark.fanout.enabled": "false",
    # Ranges of one table may publish at once; each commit of the other makes one more try.
    "commit.retry.num-retries": "20",
    "write.metadata.delete-after-commit.enabled": "true",
}
