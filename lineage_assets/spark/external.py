"""Tables that other producers make: whether Iceberg keeps them, and whether they have what was declared of them.

Refuses to know who makes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineage_assets.spark.iceberg import quoted
from lineage_assets.spark.program import TableInput
from lineage_assets.spark.refusal import MissingExternalTableError, OtherColumnsError


def is_iceberg(spark: SparkSession, table: str) -> bool:
    """Whether a table has snapshots; refused when there is no such table."""
    if not spark.catalog.tableExists(table):
        raise MissingExternalTableError(table)
    told = spark.sql(f"describe table extended {quoted(table)}").where(F.col("col_name") == F.lit("Provider"))
    return any(row["data_type"] == "iceberg" for row in told.collect())


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
