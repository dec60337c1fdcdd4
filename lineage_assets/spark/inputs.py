"""What a job is given: each input read once, for the union of the windows, every row with the `ds` it is read for.

Refuses to know what the job does with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lineage_assets.spark.external import declared_columns, is_iceberg
from lineage_assets.spark.iceberg import IcebergTable, quoted
from lineage_assets.spark.landing import landing_version
from lineage_assets.spark.pinning import pin
from lineage_assets.spark.program import LandingInput, TableInput
from lineage_assets.spark.refusal import MissingTableError
from lineage_assets.spark.report import Pinned

Range = tuple[date, date]
"""First and last day, both included."""


def pinned(spark: SparkSession, read: TableInput) -> Pinned | None:
    """The snapshots at which the input is to be read; None for a table that nothing was published to, or no Iceberg."""
    if read.is_external and not is_iceberg(spark, read.table):
        return None
    table = IcebergTable.load(spark, read.table)
    if table is None:
        raise MissingTableError(read.table)
    return pin(read.table, table.history(), read.snapshots, read.versions)


def read_table(spark: SparkSession, read: TableInput, at: Pinned | None) -> DataFrame:
    """The rows of the union of the windows at these snapshots, with `ds` and `source_ds` unless it is read raw.

    What is read whole comes without either.
    """
    held = _held(spark, read.table, at)
    if read.is_external:
        held = declared_columns(held, read)
    if read.is_whole:
        return held
    windows = {date.fromisoformat(day): _dates(window) for day, window in read.window.items()}
    frame = held.where(within(windows.values()))
    if read.raw:
        return frame
    if all(window == (target, target) for target, window in windows.items()):
        return frame.withColumn("source_ds", F.col("ds"))
    first = min(window[0] for window in windows.values())
    since_first = F.date_diff(F.col("ds"), F.lit(first))
    targets = F.get(F.expr(_targets_by_source(windows)), since_first)
    return frame.withColumn("source_ds", F.col("ds")).withColumn("ds", F.explode(targets))


def _held(spark: SparkSession, table: str, at: Pinned | None) -> DataFrame:
    """What the snapshots hold of a table, in the columns that it has at the base."""
    if at is None:
        return spark.table(quoted(table))
    base = spark.table(f"{quoted(table)}.snapshot_id_{at.base}")
    by_snapshot: dict[int, list[str]] = {}
    for day, snapshot in at.apart.items():
        by_snapshot.setdefault(snapshot, []).append(day)
    frame = base if not by_snapshot else base.where(~within(days_of(at.apart)))
    for snapshot, days in sorted(by_snapshot.items()):
        apart = spark.table(f"{quoted(table)}.snapshot_id_{snapshot}").where(within(days_of(days)))
        frame = frame.unionByName(apart, allowMissingColumns=True)
    return frame.select(base.columns)


def within(ranges: Iterable[Range]) -> Column:
    """Whether `ds` lies in one of the ranges."""
    condition = F.expr("false")
    for first, last in _merged(ranges):
        condition = condition | F.col("ds").between(F.lit(first), F.lit(last))
    return condition


def days_of(partitions: Iterable[str]) -> list[Range]:
    """Partitions as ranges of one day."""
    return [_dates((day, day)) for day in partitions]


def target_frame(spark: SparkSession, targets: Sequence[str]) -> DataFrame:
    """One row a target partition."""
    days = ", ".join(f"date'{day}'" for day in targets)
    return spark.sql(f"select explode(array({days})) as ds")


def read_landing(spark: SparkSession, read: LandingInput) -> DataFrame:
    """The files that the step listed; a row that does not fit the declared columns fails the program."""
    schema = ", ".join(f"`{name}` {type_}" for name, type_ in (*read.columns, ("ds", "date")))
    paths = [str(Path(read.root) / name) for _, names in sorted(read.files.items()) for name in names]
    reader = spark.read.schema(schema).option("mode", "FAILFAST").option("basePath", read.root)
    if read.format == "json":
        return reader.json(paths)
    # Quotes are doubled inside quotes, as RFC 4180 and Python's writer have it; a header of other names is refused.
    return reader.option("header", "true").option("enforceSchema", "false").option("escape", '"').csv(paths)


def changed_landings(reads: Iterable[LandingInput]) -> dict[str, str]:
    """Partitions whose files are no longer those that the step listed, with what changed.

    Asked after they were read: what was read is then what was listed.
    """
    changed: dict[str, str] = {}
    for read in reads:
        for day, files in sorted(read.files.items()):
            try:
                found = landing_version(Path(read.root), files)
            except FileNotFoundError as error:
                changed[day] = f"{error.filename} went away while it was read"
                continue
            if found != read.versions[day]:
                where = Path(read.root) / f"ds={day}"
                changed[day] = (
                    f"the files in {where} were {read.versions[day]} before and are {found} after they were read"
                )
    return changed


def _dates(window: tuple[str, str]) -> Range:
    return date.fromisoformat(window[0]), date.fromisoformat(window[1])


def _merged(ranges: Iterable[Range]) -> list[Range]:
    merged: list[Range] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + timedelta(days=1):
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _targets_by_source(windows: Mapping[date, Range]) -> str:
    """SQL of an array with, for each source day from the first on, the array of targets that read it.

    Looking up by position costs neither a join nor a Spark job.
    """
    first = min(window[0] for window in windows.values())
    last = max(window[1] for window in windows.values())
    by_source: list[list[str]] = [[] for _ in range((last - first).days + 1)]
    for target, (start, end) in sorted(windows.items()):
        for place in range((start - first).days, (end - first).days + 1):
            by_source[place].append(f"date'{target}'")
    return f"array({', '.join('cast(array(' + ', '.join(days) + ') as array<date>)' for days in by_source)})"
