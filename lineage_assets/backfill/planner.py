"""From a request to its plan: the exact affected set, cut into units in an order in which they can run.

Pure: graph, request and time come in, a plan goes out; the same for the same, in whatever order they came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from lineage_assets.backfill.impact import Impact, Reads, affected
from lineage_assets.backfill.plan import BackfillPlan, PlannedAsset, Unit
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.errors import BadPartitionError, OutsidePartitionsError, UnknownAssetError
from lineage_assets.graph import AssetGraph, AssetKey, AssetNode, Input, LineageJob, name_of
from lineage_assets.partitions import PartitionSet, ranges_text


def plan_backfill(graph: AssetGraph, request: BackfillRequest, *, now: datetime) -> BackfillPlan:
    """The plan that answers `request`; refused when it names an asset or a partition that does not exist."""
    _check(graph, request, now)
    impacts = affected(graph, request.partitions, now)
    planned = {
        key: impact.partitions if request.include_roots else impact.without_requested(key)
        for key, impact in impacts.items()
    }
    waves = _waves(impacts, planned)
    assets = tuple(
        PlannedAsset(
            asset=key,
            wave=wave,
            partitions=planned[key],
            requested=impacts[key].requested & planned[key],
            reads=_reads_within(planned[key], impacts[key].reads),
        )
        for key, wave in sorted(waves.items(), key=lambda item: (item[1], item[0]))
    )
    return BackfillPlan(request, assets, _units(graph, assets))


def _check(graph: AssetGraph, request: BackfillRequest, now: datetime) -> None:
    if not request.roots:
        raise BadPartitionError("request", "nothing", "name an asset and a range")
    for root in request.roots:
        name = name_of(root.asset)
        if root.asset not in graph.nodes:
            raise UnknownAssetError(name, map(name_of, graph.nodes))
        if not root.partitions:
            raise BadPartitionError(f'range of "{name}"', "none", "name at least one partition")
        existing = graph.nodes[root.asset].partitions.existing(now)
        if missing := root.partitions - existing:
            raise OutsidePartitionsError(name, ranges_text(missing), ranges_text(existing))


def _waves(impacts: Mapping[AssetKey, Impact], planned: Mapping[AssetKey, PartitionSet]) -> dict[AssetKey, int]:
    """The planned assets, each one wave after the last of those that it reads; `impacts` has upstreams first."""
    waves: dict[AssetKey, int] = {}
    for key, impact in impacts.items():
        if planned[key]:
            waves[key] = 1 + max((waves.get(read.upstream, 0) for read in impact.reads), default=0)
    return waves


def _reads_within(planned: PartitionSet, reads: tuple[Reads, ...]) -> tuple[Reads, ...]:
    kept = (replace(read, partitions=read.partitions & planned) for read in reads)
    return tuple(sorted((read for read in kept if read.partitions), key=lambda read: read.upstream))


def _units(graph: AssetGraph, assets: tuple[PlannedAsset, ...]) -> tuple[Unit, ...]:
    """One a job and contiguous range.

    Assets of one job go together when they have the same inputs and the same partitions to redo; with other inputs,
    one might have to wait for what reads the other.
    """
    together: dict[tuple[LineageJob, frozenset[Input], int, PartitionSet], list[AssetKey]] = defaultdict(list)
    for planned in assets:
        node: AssetNode = graph.nodes[planned.asset]
        together[node.job, frozenset(node.inputs), planned.wave, planned.partitions].append(planned.asset)
    units = (
        Unit(wave, tuple(sorted(keys)), range_)
        for (_, _, wave, partitions), keys in together.items()
        for range_ in partitions.ranges
    )
    return tuple(sorted(units))
