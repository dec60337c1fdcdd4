"""Hypothesis strategies for the values of the core; graphs are acyclic: edges go only from later to earlier names."""

from dataclasses import replace
from datetime import date, timedelta

from hypothesis import strategies as st

from lineage_assets.backfill.request import BackfillRequest, Root
from lineage_assets.graph import AssetGraph, AssetNode
from lineage_assets.partitions import SAME_PARTITION, Daily, PartitionSet, Window, trailing_days
from tests.support.graphs import NOW, make_node

FIRST = date(2021, 5, 24)
HORIZON = 30
"""Days on which generated assets may start."""


def ordinals(size: int = 40) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(min_value=1, max_value=size), max_size=size)


def windows() -> st.SearchStrategy[Window]:
    offsets = st.integers(min_value=-8, max_value=3)
    ordered = st.tuples(offsets, offsets).map(lambda pair: Window(min(pair), max(pair)))
    return st.one_of(st.just(SAME_PARTITION), st.integers(1, 8).map(trailing_days), ordered)


def dailies() -> st.SearchStrategy[Daily]:
    """Partitions that start anywhere, and end before, after or never as seen from the tests' now."""

    def build(start: int, length: int | None) -> Daily:
        first = FIRST + timedelta(days=start)
        return Daily(first, None if length is None else first + timedelta(days=length))

    return st.builds(build, st.integers(0, HORIZON), st.one_of(st.none(), st.integers(0, HORIZON)))


@st.composite
def graphs(draw: st.DrawFn, *, max_assets: int = 7, own_reads: bool = True) -> AssetGraph:
    """Acyclic graphs with diamonds, windows over windows, jobs of two outputs and clipped edges."""
    names = [f"a{number}" for number in range(draw(st.integers(1, max_assets)))]
    nodes: list[AssetNode] = []
    for place, name in enumerate(names):
        upstream = draw(st.lists(st.sampled_from(names[:place]), unique=True, max_size=3)) if place else []
        inputs = [(other, draw(windows())) for other in upstream]
        if own_reads and draw(st.integers(0, 5)) == 0:
            reach = draw(st.integers(1, 8))
            inputs.append((name, Window(-reach, -draw(st.integers(1, reach)))))
        job = f"make_{draw(st.sampled_from(names[: place + 1]))}"
        node = make_node(name, *inputs, job=job, partitions=draw(dailies()))
        if nodes and draw(st.integers(0, 3)) == 0:
            node = replace(nodes[-1], key=(name,))  # a second output of the same job
        nodes.append(node)
    return AssetGraph.of(nodes)


@st.composite
def requests(draw: st.DrawFn, graph: AssetGraph, *, max_roots: int = 2) -> BackfillRequest | None:
    """A request for existing partitions of the graph; None when no asset has any."""
    existing = {key: node.partitions.existing(NOW) for key, node in graph.nodes.items()}
    askable = sorted(key for key, partitions in existing.items() if partitions)
    if not askable:
        return None
    roots = []
    for key in draw(st.lists(st.sampled_from(askable), min_size=1, max_size=max_roots, unique=True)):
        asked = draw(st.sets(st.sampled_from(sorted(existing[key])), min_size=1, max_size=6))
        roots.append(Root(key, PartitionSet.of(asked)))
    return BackfillRequest.of(roots, include_roots=draw(st.booleans()))


@st.composite
def asked_graphs(draw: st.DrawFn, *, max_roots: int = 2, own_reads: bool = True) -> tuple[AssetGraph, BackfillRequest]:
    """A graph and a request that it can answer."""
    graph = draw(graphs(own_reads=own_reads))
    request = draw(requests(graph, max_roots=max_roots).filter(lambda found: found is not None))
    assert request is not None
    return graph, request
