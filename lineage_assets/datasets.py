"""What a dataset is: its name in the record, its columns, and what a partition of it must hold.

Refuses to know where the bytes lie and who computes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lineage_assets.errors import BadDeclarationError

SPARK_TYPES = {
    "BIGINT": "bigint",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DOUBLE": "double",
    "INTEGER": "int",
    "TEXT": "string",
    "TIMESTAMP": "timestamp",
    "VARCHAR": "string",
}
"""Type words of a declaration to Spark's; a decimal is written DECIMAL(p,s) in both."""

_DECIMAL = re.compile(r"DECIMAL\(\d{1,2},\d{1,2}\)")


@dataclass(frozen=True, slots=True)
class Field:
    """A column: name, type as declared, and one line on what it holds."""

    name: str
    type: str
    description: str = ""

    def __post_init__(self) -> None:
        if self.type not in SPARK_TYPES and not _DECIMAL.fullmatch(self.type):
            known = ", ".join([*sorted(SPARK_TYPES), "DECIMAL(p,s)"])
            raise BadDeclarationError(f'type of column "{self.name}"', self.type, f"use one of {known}")

    @property
    def spark_type(self) -> str:
        return SPARK_TYPES.get(self.type, self.type.lower())


def parse_fields(columns: str) -> tuple[Field, ...]:
    """`"id INTEGER, name VARCHAR"` as fields, in order."""
    words = [column.split() for column in re.split(r",(?![^(]*\))", columns) if column.strip()]
    for column in words:
        if len(column) != 2:  # noqa: PLR2004 - a name and a type
            raise BadDeclarationError("column", " ".join(column), "write each column as NAME TYPE")
    return tuple(Field(name, type_.upper()) for name, type_ in words)


@dataclass(frozen=True, slots=True)
class Checks:
    """What every partition must hold before it is published; a partition that does not is quarantined."""

    min_rows: int = 0
    required: tuple[str, ...] = ()
    """Columns without nulls."""
    key: tuple[str, ...] = ()
    """Columns that together name a row once within the partition."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset as the lineage record names it."""

    namespace: str
    name: str
    fields: tuple[Field, ...]
    description: str = ""
    table: str | None = None
    """The table that holds it, below its catalog: `food_delivery.orders`; None where we know of none."""

    def __post_init__(self) -> None:
        # One empty name breaks Marquez's lists for good, and nothing short of its database mends that.
        for what, value in (("dataset namespace", self.namespace), ("dataset name", self.name)):
            if not value.strip():
                raise BadDeclarationError(what, value, "give it a name that is not empty")


def dataset_json(dataset: Dataset) -> dict[str, Any]:
    return {
        "namespace": dataset.namespace,
        "name": dataset.name,
        "description": dataset.description,
        "fields": [[column.name, column.type, column.description] for column in dataset.fields],
        "table": dataset.table,
    }


def dataset_from_json(read: Mapping[str, Any]) -> Dataset:
    fields = tuple(Field(*column) for column in read["fields"])
    return Dataset(read["namespace"], read["name"], fields, read["description"], read.get("table"))
