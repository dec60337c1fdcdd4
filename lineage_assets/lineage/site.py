"""Where jobs run and their tables lie: what is the same on every event of a code location.

Knows no job and no dataset.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Site:
    """The catalog, the storage under it, and the versions of the programs at work."""

    warehouse: str
    """The URI of the folder or bucket that holds the tables."""
    spark_version: str
    adapter_version: str
    """Of this package."""
    catalog: str = "lake"
    catalog_type: str = "jdbc"
    """`jdbc`, `glue`, ...: who keeps the catalog."""


def local_site(home: Path) -> Site:
    """The site of a state folder on this machine, with the versions installed here."""
    return Site(
        warehouse=(home / "warehouse").as_uri(),
        spark_version=_installed("pyspark"),
        adapter_version=_installed("lineage-assets"),
    )


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"  # run from a source tree that nobody installed; the facet wants a word
