"""The site of this machine: where its tables lie, and the versions installed here."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lineage_assets.ledger.scene import Site

CATALOG = "lake"
"""The Iceberg catalog that holds the tables."""


@lru_cache(maxsize=8)
def site_at(warehouse: Path, catalog: str) -> Site:
    return Site(
        warehouse=warehouse.as_uri(),
        spark_version=_installed("pyspark"),
        adapter_version=_installed("lineage-assets"),
        catalog=catalog,
    )


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"  # run from a source tree that nobody installed; the facet wants a word
