"""Dagster's own expansion of a partition backfill finds the same set, asset by asset, range by range."""

from collections.abc import Mapping
from datetime import date

import dagster as dg
import pytest
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph, BaseAssetNode
from dagster._core.definitions.partitions.subset import PartitionsSubset
from hypothesis import given, settings

from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest, Root
from lineage_assets.dagster_private import AssetGraphSubset
from lineage_assets.graph import AssetGraph, AssetKey, AssetNode
from lineage_assets.partitions import PartitionSet, key_of
from tests.support.graphs import NOW, days, diamond, food_delivery, rolling_chain
from tests.support.strategies import asked_graphs


def _partitions(node: AssetNode) -> dg.DailyPartitionsDefinition:
    existing = node.partitions.existing(NOW)
    first = node.partitions.first.toordinal()
    end = existing.ranges[-1][1] + 1 if existing else first
    return dg.DailyPartitionsDefinition(start_date=key_of(first), end_date=key_of(end))


def _spec(graph: AssetGraph, node: AssetNode) -> dg.AssetSpec:
    deps = [
        dg.AssetDep(
            dg.AssetKey(read.asset),
            partition_mapping=dg.TimeWindowPartitionMapping(
                start_offset=read.window.first,
                end_offset=read.window.last,
                allow_nonexistent_upstream_partitions=True,
            ),
        )
        for read in node.inputs
        if read.asset in graph.nodes
    ]
    return dg.AssetSpec(dg.AssetKey(node.key), partitions_def=_partitions(node), deps=deps)


def _resolve(graph: AssetGraph) -> BaseAssetGraph[BaseAssetNode]:
    assets = [dg.AssetsDefinition(specs=[_spec(graph, node)]) for node in graph.nodes.values()]
    return dg.Definitions(assets=assets).resolve_asset_graph()


def _subset(graph: AssetGraph, root: Root) -> PartitionsSubset:
    return _partitions(graph.nodes[root.asset]).subset_with_partition_keys([key_of(day) for day in root.partitions])


def _as_sets(subsets: Mapping[dg.AssetKey, PartitionsSubset]) -> dict[AssetKey, PartitionSet]:
    return {
        tuple(key.path): PartitionSet.of(date.fromisoformat(each).toordinal() for each in subset.get_partition_keys())
        for key, subset in subsets.items()
        if not subset.is_empty
    }


def by_dagsters_mappings(graph: AssetGraph, request: BackfillRequest) -> dict[AssetKey, PartitionSet]:
    """Dagster's partition mappings, followed from upstream to downstream."""
    theirs = _resolve(graph)
    reached = {dg.AssetKey(root.asset): _subset(graph, root) for root in request.roots}
    for key in map(dg.AssetKey, graph.order):
        own = theirs.get(key).partitions_def
        assert own is not None
        for parent in sorted(theirs.get(key).parent_keys & reached.keys()):
            parents = theirs.get(parent).partitions_def
            assert parents is not None
            found = theirs.get_partition_mapping(key, parent).get_downstream_partitions_for_partitions(
                reached[parent], parents, downstream_partitions_def=own
            )
            reached[key] = reached.get(key, own.empty_subset()) | found
    return _as_sets(reached)


def by_dagsters_walk(graph: AssetGraph, request: BackfillRequest) -> dict[AssetKey, PartitionSet]:
    """What a partition backfill of everything downstream, launched in the Dagster UI, takes on."""
    (root,) = request.roots
    asked = AssetGraphSubset(partitions_subsets_by_asset_key={dg.AssetKey(root.asset): _subset(graph, root)})
    walked = _resolve(graph).bfs_filter_subsets(lambda _key, _subset: True, asked)
    return _as_sets(walked.partitions_subsets_by_asset_key)


def planned(graph: AssetGraph, request: BackfillRequest) -> dict[AssetKey, PartitionSet]:
    return {each.asset: each.partitions for each in plan_backfill(graph, request, now=NOW).assets}


@settings(max_examples=50, deadline=None)
@given(asked_graphs(own_reads=False))
def test_dagsters_mappings_reach_the_same_partitions_on_any_graph(asked: tuple[AssetGraph, BackfillRequest]) -> None:
    graph, request = asked
    whole = BackfillRequest.of(request.roots)
    assert planned(graph, whole) == by_dagsters_mappings(graph, whole)


@settings(max_examples=25, deadline=None)
@given(asked_graphs(own_reads=False, max_roots=1))
def test_dagsters_walk_reaches_nothing_that_the_plan_has_not(asked: tuple[AssetGraph, BackfillRequest]) -> None:
    """Not "the same": the walk visits an asset once, when its first upstream is done.

    What a longer way brings there later is lost, depending on the order of a set (`bfs_filter_subsets`, 1.13.27).
    """
    graph, request = asked
    whole = BackfillRequest.of(request.roots)
    ours = planned(graph, whole)
    for key, partitions in by_dagsters_walk(graph, whole).items():
        assert partitions <= ours[key]


@pytest.mark.parametrize(
    ("graph", "root"),
    [(food_delivery(), "orders"), (rolling_chain(), "raw"), (diamond(), "top")],
    ids=["food_delivery", "rolling_chain", "diamond"],
)
def test_dagsters_walk_reaches_the_same_partitions_on_named_graphs(graph: AssetGraph, root: str) -> None:
    request = BackfillRequest.downstream_of((root,), days("2021-05-28") | days("2021-06-04", "2021-06-06"))
    assert planned(graph, request) == by_dagsters_walk(graph, request)
