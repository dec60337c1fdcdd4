"""The fingerprint of a partition: 32 hexadecimal digits over its content, in any order of rows and columns.

Two contents have the same fingerprint when they have the same columns, types and rows, duplicates counted.
No cryptographic hash: it answers "did this change", not "was this forged".
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

FORMULA = 1
"""Rises when the same content would get another fingerprint."""

Columns = Sequence[tuple[str, str]]
"""Name and Spark type."""

_MASK_BITS = 63
"""As many as a long has without its sign."""

_NESTED = ("array", "map", "struct")


def hash_sums(columns: Columns) -> list[Column]:
    """Aggregates that `fingerprint` needs of a partition: the row hashes' exclusive or, high sum and low sum.

    The exclusive or alone would not see a row that came twice more; the sums do, and cannot overflow below 2^31 rows.
    """
    row = _row_hash(sorted(columns))
    return [
        F.bit_xor(row).alias("_xor"),
        F.sum(F.shiftright(row, 32)).alias("_high"),
        F.sum(row.bitwiseAND(F.lit(0xFFFFFFFF))).alias("_low"),
    ]


def fingerprint(columns: Columns, rows: int, sums: Sequence[int]) -> str:
    """The fingerprint from the aggregates; sums are `(0, 0, 0)` for no rows."""
    layout = ",".join(f"{name} {type_}" for name, type_ in sorted(columns))
    text = f"{layout}\n{FORMULA}|{rows}|{'|'.join(str(part) for part in sums)}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _row_hash(columns: Columns) -> Column:
    # xxhash64 passes over nulls: (1, null), (null, 1) and (1) would be one without the masks.
    values = [_canonical(name, type_) for name, type_ in columns]
    return F.xxhash64(F.lit(FORMULA), *_null_masks([name for name, _ in columns]), *values)


def _null_masks(names: Sequence[str]) -> list[Column]:
    masks = []
    for start in range(0, len(names), _MASK_BITS):
        mask = F.lit(0).cast("bigint")
        for bit, name in enumerate(names[start : start + _MASK_BITS]):
            mask = mask + F.when(_column(name).isNull(), F.lit(1 << bit)).otherwise(F.lit(0)).cast("bigint")
        masks.append(mask)
    return masks


def _canonical(name: str, type_: str) -> Column:
    """One value for each meaning: xxhash64 tells an int 1 from a bigint 1, and cannot take maps."""
    column = _column(name)
    if type_ in ("tinyint", "smallint", "int"):
        return column.cast("bigint")
    if type_ in ("float", "double"):
        wide = column.cast("double")
        return F.when(F.isnan(wide), F.lit(float("nan"))).otherwise(wide)
    if type_ in ("timestamp", "timestamp_ntz"):
        return F.unix_micros(column.cast("timestamp"))
    if type_.startswith("map"):
        column = F.sort_array(F.map_entries(column))
    return F.to_json(column) if type_.startswith(_NESTED) else column


def _column(name: str) -> Column:
    return F.col(f"`{name}`")
