"""The audit: what every staged partition holds, measured in one aggregation, and what it must hold to be published.

Looks at what was really written. Refuses to know where it lies and how it is published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from lineage_assets.spark.fingerprint import fingerprint, hash_sums
from lineage_assets.spark.program import Output
from lineage_assets.spark.report import PartitionReport
from lineage_assets.spark.summary import Checks


@dataclass(frozen=True)
class Measure:
    """What one partition holds."""

    rows: int
    fingerprint: str
    nulls: dict[str, int] = field(default_factory=dict)
    """Required column to the number of rows without it."""
    keys: int | None = None
    """Number of different keys, when a key is declared."""


def audit(staged: DataFrame, output: Output, targets: Sequence[str]) -> dict[str, PartitionReport]:
    """Every target judged; `published` says that it may be."""
    return {day: judge(measured, output) for day, measured in measure(staged, output, targets).items()}


def measure(staged: DataFrame, output: Output, targets: Sequence[str]) -> dict[str, Measure]:
    """The measure of every target, of those without a row too; `staged` has `ds` and the declared columns."""
    columns = [(name, type_) for name, type_ in staged.dtypes if name != "ds"]
    aggregates = [
        F.count(F.lit(1)).alias("_rows"),
        *hash_sums(columns),
        *(F.count_if(F.col(name).isNull()).alias(f"_null_{place}") for place, name in enumerate(output.required)),
    ]
    if output.key:
        # A struct is never null: rows without a key count as one key, not as none.
        aggregates.append(F.count_distinct(F.struct(*output.key)).alias("_keys"))
    found = {str(row["ds"]): row for row in staged.groupBy("ds").agg(*aggregates).collect()}
    empty = Measure(0, fingerprint(columns, 0, (0, 0, 0)), dict.fromkeys(output.required, 0), 0 if output.key else None)
    return {target: _measure(found[target], output, columns) if target in found else empty for target in targets}


def _measure(row: Row, output: Output, columns: Sequence[tuple[str, str]]) -> Measure:
    return Measure(
        rows=row["_rows"],
        fingerprint=fingerprint(columns, row["_rows"], (row["_xor"], row["_high"], row["_low"])),
        nulls={name: row[f"_null_{place}"] for place, name in enumerate(output.required)},
        keys=row["_keys"] if output.key else None,
    )


def judge(measured: Measure, output: Output) -> PartitionReport:
    """Whether the partition may be published, and all that is wrong with it."""
    wrong = list(_wrong(measured, output))
    return PartitionReport(
        published=not wrong,
        cause=wrong[0][0] if wrong else None,
        message="; ".join(message for _, message in wrong) if wrong else None,
        rows=measured.rows,
        fingerprint=measured.fingerprint,
        nulls=measured.nulls,
        assertions=Checks.of(output).assertions(measured.rows, measured.nulls, measured.keys),
    )


def _wrong(measured: Measure, output: Output) -> Iterator[tuple[str, str]]:
    if measured.rows < output.min_rows:
        yield "incomplete data", f"{_counted(measured.rows, 'row')}, at least {output.min_rows} expected"
    missing = [f"{count} without {name}" for name, count in measured.nulls.items() if count]
    if missing:
        yield "nulls", f"of {_counted(measured.rows, 'row')} {', '.join(missing)}, which every row must have"
    if measured.keys is not None and measured.keys < measured.rows:
        again = measured.rows - measured.keys
        yield "duplicate keys", f"{again} of {_counted(measured.rows, 'row')} repeat a key ({', '.join(output.key)})"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
