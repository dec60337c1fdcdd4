"""Tables that other producers make: whether Iceberg keeps them, and whether they have what was declared of them.

Refuses to know who makes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineage_assets.spark.iceberg import quoted
from lineage_assets.spark.program import TableInput
from lineage_assets.spark.refusal import MissingExternalTableError, OtherColumnsError

_FILE = re.compile(r"^file:/+")


def is_iceberg(spark: SparkSession, table: str) -> bool:
    """Whether a table has snapshots; refused when there is no such table."""
    if not spark.catalog.tableExists(table):
        raise MissingExternalTableError(table)
    return _told(spark, table, "Provider") == "iceberg"


def locations(spark: SparkSession, reads: Iterable[TableInput]) -> dict[str, str]:
    """Folder to table, of tables of others that Iceberg does not keep: Spark's events name those by their folder."""
    strange = [read.table for read in reads if read.is_external and not is_iceberg(spark, read.table)]
    found = {_told(spark, table, "Location"): table for table in strange}
    return {_FILE.sub("/", place): table for place, table in found.items() if place is not None}


def _told(spark: SparkSession, table: str, what: str) -> str | None:
    row = spark.sql(f"describe table extended {quoted(table)}").where(F.col("col_name") == F.lit(what)).first()
    return None if row is None else str(row["data_type"])


def declared_columns(frame: DataFrame, read: TableInput) -> DataFrame:
    """The declared columns, or all where none are, with `ds` unless the table is read whole.

    A column more, which its producer added, changes nothing here.
    """
    wanted = {**dict(read.columns), **({} if read.is_whole else {"ds": "date"})}
    differences = tuple(_differences(wanted, dict(frame.dtypes)))
    if differences:
        raise OtherColumnsError(read.table, differences)
    if read.columns:
        return frame.select(*(f"`{name}`" for name in wanted))
    return frame.drop("ds") if read.is_whole else frame


def _differences(wanted: dict[str, str], found: dict[str, str]) -> Iterator[str]:
    for name, type_ in wanted.items():
        if name not in found:
            yield f"it has no column {name}"
        elif found[name] != type_:
            yield f"the column {name} is {found[name]}, not {type_}"
