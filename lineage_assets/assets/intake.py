"""What the feed dropped: each day's files listed, versioned and looked at before Spark starts.

A day without files or with another header is refused here, by name; the other days go on.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lineage_assets.assets.declaration import Landing
from lineage_assets.ledger.record import Cause
from lineage_assets.spark.landing import landing_files, landing_version


@dataclass(frozen=True, slots=True)
class Landed:
    """One day's files, relative to the landing folder, and their version."""

    files: tuple[str, ...]
    version: str


def landed(landing: Landing, root: Path, partitions: Iterable[str]) -> dict[str, Landed | Cause]:
    """Per partition the files to read, or why there is nothing to read."""
    return {partition: _landed(landing, root, partition) for partition in partitions}


def _landed(landing: Landing, root: Path, partition: str) -> Landed | Cause:
    files = landing_files(root, partition)
    if not files:
        folder = root / f"ds={partition}"
        return Cause("freshness", f"the feed has dropped no file for {partition} into {folder}")
    for name in files:
        difference = _difference(landing, root / name)
        if difference is not None:
            return Cause("schema change", f"{name}: {difference}")
    return Landed(files, landing_version(root, files))


def _difference(landing: Landing, path: Path) -> str | None:
    declared = [column.name for column in landing.columns]
    found = _columns(landing, path)
    missing = [name for name in declared if name not in found]
    added = [name for name in found if name not in declared]
    said = [
        *(f'column "{name}" is gone' for name in missing),
        *(f'column "{name}" is new' for name in added),
    ]
    if not said and landing.format == "csv" and found != declared:
        said = [f"columns in the order {', '.join(found)}, declared {', '.join(declared)}"]
    return "; ".join(said) or None


def _columns(landing: Landing, path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as lines:
        if landing.format == "csv":
            return next(csv.reader(lines), [])
        first = next((line for line in lines if line.strip()), None)
    if first is None:
        return [column.name for column in landing.columns]  # an empty file of lines has no header to differ
    try:
        row = json.loads(first)
    except json.JSONDecodeError:
        return []
    return list(row) if isinstance(row, dict) else []
