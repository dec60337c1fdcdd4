"""The affected set by brute force: day by day, asset by asset, until nothing new is found."""

from datetime import datetime

from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.graph import AssetGraph, AssetKey

Partition = tuple[AssetKey, int]


def brute_force(graph: AssetGraph, request: BackfillRequest, now: datetime) -> set[Partition]:
    asked = {(root.asset, day) for root in request.roots for day in root.partitions}
    changed = set(asked)
    redone_anyway: set[Partition] = set()
    while True:
        found = set()
        for key, node in graph.nodes.items():
            for day in node.partitions.existing(now):
                for read in node.inputs:
                    window = range(day + read.window.first, day + read.window.last + 1)
                    if any((read.asset, source) in changed for source in window):
                        found.add((key, day))
                        if read.asset != key:
                            redone_anyway.add((key, day))
        if found <= changed:
            break
        changed |= found
    return changed if request.include_roots else (changed - asked) | redone_anyway
