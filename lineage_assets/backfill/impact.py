"""Which partitions a change reaches: through the windows of the graph, on ranges, one visit an asset.

Knows the graph and calendar ranges; refuses to know states, runs and how the set is carried out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.partitions import Daily, PartitionSet, Window

NOTHING = PartitionSet()


@dataclass(frozen=True, slots=True)
class Reads:
    """The partitions of an asset that a change reaches through one of its inputs."""

    upstream: AssetKey
    window: Window
    partitions: PartitionSet
    """Of the reading asset, each with at least one changed partition of `upstream` in its window."""


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change does to one asset."""

    requested: PartitionSet
    reads: tuple[Reads, ...]
    partitions: PartitionSet
    """All that changes: requested or reached."""

    def without_requested(self, asset: AssetKey) -> PartitionSet:
        """What changes when the requested partitions of `asset` stand as they are.

        A requested partition is still redone when the change of another asset reaches it.
        """
        reached = (read.partitions for read in self.reads if read.upstream != asset)
        return _union(self.partitions - self.requested, *reached)


def affected(graph: AssetGraph, changed: Mapping[AssetKey, PartitionSet], now: datetime) -> dict[AssetKey, Impact]:
    """Everything that changes when `changed` does, asset by asset in the graph's order.

    Only partitions that exist at `now` are reached; an asset that is not reached is not in the answer.
    """
    found: dict[AssetKey, Impact] = {}
    existing: dict[Daily, PartitionSet] = {}
    for key in graph.order:
        node = graph.nodes[key]
        requested = changed.get(key, NOTHING)
        upstream = [read for read in node.inputs if read.asset in found]
        own = [read for read in node.inputs if read.asset == key]
        if not upstream and not requested:
            continue
        if node.partitions not in existing:
            existing[node.partitions] = node.partitions.existing(now)
        there = existing[node.partitions]
        reads = [Reads(r.asset, r.window, r.window.affects(found[r.asset].partitions) & there) for r in upstream]
        partitions = _union(requested, *(read.partitions for read in reads))
        for read in own:
            partitions = _carried_on(read.window, partitions, there)
            reads.append(Reads(key, read.window, read.window.affects(partitions) & there))
        if partitions:
            found[key] = Impact(requested, tuple(read for read in reads if read.partitions), partitions)
    return found


def _carried_on(window: Window, partitions: PartitionSet, existing: PartitionSet) -> PartitionSet:
    """The partitions and all that an asset's reading of itself carries them to."""
    reached = new = partitions
    while new := (window.affects(new) & existing) - reached:
        reached = reached | new
    return reached


def _union(*sets: PartitionSet) -> PartitionSet:
    # Most assets are reached through one input: no need to sort what is sorted.
    if len(sets) > 1:
        return PartitionSet.of_ranges(each for one in sets for each in one.ranges)
    return sets[0]
