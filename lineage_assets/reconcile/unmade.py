"""An attempt that nobody made: written for what no process came to, so that it is on record like any other."""

from __future__ import annotations

from datetime import datetime

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.owner import owner
from lineage_assets.ledger.record import Attempt
from lineage_assets.ledger.scene import Site, SourceCode, scene_of, scene_text
from lineage_assets.partitions import PartitionSet

NO_CODE = "not run"
"""The code version of an attempt that ran none."""


def unmade_attempt(
    asset: AssetKey, partitions: PartitionSet, started: datetime, *, run_id: str, graph: AssetGraph, site: Site
) -> Attempt:
    """The attempt, with the declaration of today: there is none of its own time."""
    return Attempt(
        asset=asset,
        run_id=run_id,
        number=1,
        partitions=partitions,
        started=started,
        code_version=NO_CODE,
        owner=owner(),
        scene=scene_text(scene_of(asset, graph, site, SourceCode())),
    )
