"""The feed of food_delivery: drops the landing files of a city, and the bad ones of a bad day.

Standard library only; refuses to know who reads the files. What lies in a day's files depends on the settings and
the day alone: dropping that day, or a year around it, writes the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from lineage_assets.errors import BadPartitionError
from lineage_assets.pipelines.food_delivery import city, order_book
from lineage_assets.pipelines.food_delivery.city import FeedSettings, Row

Table = Literal["menus", "categories", "menu_items", "customers", "drivers", "restaurants", "orders", "order_status"]

TABLES: tuple[Table, ...] = get_args(Table)

DEMO = FeedSettings()

FORMATS: Mapping[Table, Literal["csv", "json"]] = MappingProxyType(
    # As exports, and one as a queue would leave it.
    {table: "json" if table == "order_status" else "csv" for table in TABLES}
)


class Fault(Enum):
    """What can be wrong with a day's file, each in a way of its own."""

    SCHEMA_CHANGE = "schema change"
    """A column is gone: `discount_id` of orders, the last one of any other table."""
    INCOMPLETE = "incomplete data"
    """Nine rows in ten are missing."""
    FRESHNESS = "freshness"
    """There is no file."""


Faults = Mapping[tuple[Table, date], Fault]

NO_FAULTS: Faults = MappingProxyType({})

BAD_DAYS: Faults = MappingProxyType(
    {
        ("orders", date(2021, 6, 4)): Fault.SCHEMA_CHANGE,
        ("orders", date(2021, 6, 5)): Fault.INCOMPLETE,
        ("orders", date(2021, 6, 6)): Fault.FRESHNESS,
    }
)
"""The story that the demo tells: three bad days in a row."""

_ROWS: Mapping[Table, Callable[[FeedSettings, date], Iterator[Row]]] = {
    "menus": city.menus,
    "categories": city.categories,
    "menu_items": city.menu_items,
    "customers": city.customers,
    "drivers": city.drivers,
    "restaurants": city.restaurants,
    "orders": order_book.orders,
    "order_status": order_book.order_status,
}


def drop(
    root: Path, first: date, last: date, *, settings: FeedSettings = DEMO, faults: Faults = NO_FAULTS
) -> tuple[Path, ...]:
    """Write each table's file of each day from `first` to `last` below `root`, faulty where said; return the paths.

    A file that is there is replaced, or taken away where the fault is that there is none.
    """
    if last < first:
        raise BadPartitionError("range of the feed", f"{first}..{last}", "put the earlier day first")
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    paths = (_drop_file(root, table, day, settings, faults.get((table, day))) for day in days for table in TABLES)
    return tuple(path for path in paths if path is not None)


def repair(root: Path, faults: Faults = BAD_DAYS, *, settings: FeedSettings = DEMO) -> tuple[Path, ...]:
    """Write the right files in place of the faulty ones; return the paths."""
    paths = (_drop_file(root, table, day, settings, None) for table, day in faults)
    return tuple(path for path in paths if path is not None)


def rows_of(settings: FeedSettings, table: Table, day: date) -> list[Row]:
    """The rows of a day's file: all there are as of the day, or what was placed or changed state on it."""
    if day < settings.opening:
        raise BadPartitionError("day of the feed", day, f"ask for {settings.opening} or later, when the city opened")
    return list(_ROWS[table](settings, day))


def least_rows(table: Table, settings: FeedSettings = DEMO) -> int:
    """The number of rows that the file of `table` has on every day, or more."""
    # Each order is in order_status at least as placed; when it is dispatched and delivered is left to chance.
    if table in ("orders", "order_status"):
        return settings.orders_a_day
    return len(rows_of(settings, table, settings.opening))


def _drop_file(root: Path, table: Table, day: date, settings: FeedSettings, fault: Fault | None) -> Path | None:
    path = root / table / f"ds={day.isoformat()}" / f"{table}.{FORMATS[table]}"
    if fault is Fault.FRESHNESS:
        path.unlink(missing_ok=True)
        return None
    rows = _with_fault(table, rows_of(settings, table, day), fault)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Readers pass over names that begin with `_`: nobody sees half a file.
    unfinished = path.with_name(f"_{path.name}")
    text = _json_lines(rows) if FORMATS[table] == "json" else _csv(rows)
    unfinished.write_text(text, encoding="utf-8", newline="")
    return unfinished.replace(path)


def _with_fault(table: Table, rows: list[Row], fault: Fault | None) -> list[Row]:
    match fault:
        case Fault.SCHEMA_CHANGE:
            gone = "discount_id" if table == "orders" else list(rows[0])[-1]
            return [{name: value for name, value in row.items() if name != gone} for row in rows]
        case Fault.INCOMPLETE:
            return rows[::10]
        case _:
            return rows


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _json_lines(rows: Sequence[Row]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)
