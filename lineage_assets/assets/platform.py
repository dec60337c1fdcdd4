"""What every job of a code location runs on: the graph it is part of, the launcher, the folders, the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lineage_assets.assets.declaration import Made
from lineage_assets.graph import AssetGraph, AssetKey, AssetNode
from lineage_assets.launch.launcher import Launcher
from lineage_assets.launch.table_history import current_snapshot, table_ancestry
from lineage_assets.lineage.site import CATALOG
from lineage_assets.settings import Settings


@dataclass(frozen=True, slots=True)
class Platform:
    """The same for all runs of a code location."""

    graph: AssetGraph
    launcher: Launcher
    settings: Settings
    catalog: str = CATALOG
    """The Iceberg catalog that holds the tables."""
    is_one_process: bool = True
    """Whether all steps of a run run in the process of the run: one sender then sees all of it."""

    def table_of(self, asset: AssetKey) -> str | None:
        """The physical table of an asset, or None when it leaves no dataset."""
        dataset = self.graph.nodes[asset].dataset
        return None if dataset is None or dataset.table is None else f"{self.catalog}.{dataset.table}"

    def holds_snapshot(self, asset: AssetKey, snapshot: int) -> bool:
        """Whether the asset's table still descends from a snapshot; False where that cannot be told without Spark."""
        table = self.table_of(asset)
        return table is not None and snapshot in table_ancestry(self.settings.home / "catalog.db", table)

    def snapshots_of_others(self, node: AssetNode) -> Mapping[AssetKey, int]:
        """The current snapshots of what an asset reads and nobody here makes, where they can be told without Spark."""
        tables = {read.asset: read.table for read in node.inputs if read.table is not None}
        catalog = self.settings.home / "catalog.db"
        found = {asset: current_snapshot(catalog, table) for asset, table in tables.items()}
        return {asset: snapshot for asset, snapshot in found.items() if snapshot is not None}

    def landing_root(self, folder: str) -> Path:
        return self.settings.home / "landing" / folder

    def outbox_of(self, made: Made) -> Path | None:
        return None if made.outbox is None else self.settings.home / made.outbox
