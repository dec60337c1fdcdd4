"""The asset graph: which asset is made by which job, from which partitions of which others.

Values only: no Dagster, no Spark, no state of any partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from lineage_assets.datasets import Dataset, dataset_from_json, dataset_json
from lineage_assets.errors import AmbiguousAssetError, BadDeclarationError, CyclicGraphError, UnknownAssetError
from lineage_assets.partitions import SAME_PARTITION, Daily, Window, parse_day

AssetKey = tuple[str, ...]


def name_of(key: AssetKey) -> str:
    """The key as people write it: `food_delivery/orders`."""
    return "/".join(key)


@dataclass(frozen=True, slots=True)
class LineageJob:
    """A job as the lineage record names it: the same in every run and every backfill."""

    namespace: str
    name: str
    description: str = ""
    owners: tuple[str, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    """Labels, sorted by key."""

    def __post_init__(self) -> None:
        for what, value in (
            ("lineage job namespace", self.namespace),
            ("lineage job name", self.name),
        ):
            if not value.strip():
                raise BadDeclarationError(what, value, "give it a name that is not empty")


@dataclass(frozen=True, slots=True)
class Input:
    """One input of an asset: which asset, and the window of it that a partition reads."""

    asset: AssetKey
    window: Window = SAME_PARTITION
    dataset: Dataset | None = None
    """What it is, of an input that no job of the graph makes; the graph knows its own."""
    table: str | None = None
    """Where it is, with its catalog, of an input that no job of the graph makes."""
    is_whole: bool = False
    """Read as a whole by every partition: it has none of its own, and each notes it under its own day."""


@dataclass(frozen=True, slots=True)
class AssetNode:
    """An asset in the graph: who makes it, from what, and what the record calls it."""

    key: AssetKey
    job: LineageJob
    partitions: Daily
    inputs: tuple[Input, ...] = ()
    dataset: Dataset | None = None
    """None when the job leaves nothing that is a dataset, such as mails sent."""

    def __post_init__(self) -> None:
        names = [name_of(read.asset) for read in self.inputs]
        for name in names:
            if names.count(name) > 1:
                raise BadDeclarationError(f'input of "{name_of(self.key)}"', name, "declare each input once")
        for read in self.inputs:
            if read.asset == self.key and read.window.last >= 0:
                name = name_of(self.key)
                raise BadDeclarationError(
                    f'input of "{name}"', name, "it may read its own past only; end its window at -1"
                )


@dataclass(frozen=True)
class AssetGraph:
    """All assets of a code location by key; inputs that are not among them are not owned by us."""

    nodes: Mapping[AssetKey, AssetNode]

    @classmethod
    def of(cls, nodes: Iterable[AssetNode]) -> AssetGraph:
        by_key: dict[AssetKey, AssetNode] = {}
        for node in nodes:
            if node.key in by_key:
                raise BadDeclarationError("asset", name_of(node.key), "declare it once")
            by_key[node.key] = node
        graph = cls({key: by_key[key] for key in sorted(by_key)})
        graph.order  # noqa: B018 - a cycle is refused here, not at first use
        return graph

    @cached_property
    def order(self) -> tuple[AssetKey, ...]:
        """Every asset after all that it reads; the same for the same graph."""
        sorter: TopologicalSorter[AssetKey] = TopologicalSorter()
        for key, node in self.nodes.items():
            sorter.add(
                key,
                *(read.asset for read in node.inputs if read.asset in self.nodes and read.asset != key),
            )
        try:
            sorter.prepare()
        except CycleError as error:
            raise CyclicGraphError([name_of(key) for key in error.args[1]]) from error
        ordered: list[AssetKey] = []
        while ready := sorted(sorter.get_ready()):
            ordered += ready
            sorter.done(*ready)
        return tuple(ordered)

    @cached_property
    def readers(self) -> Mapping[AssetKey, tuple[tuple[AssetKey, Window], ...]]:
        """For each asset, who reads it directly and through which window."""
        found: dict[AssetKey, list[tuple[AssetKey, Window]]] = {key: [] for key in self.nodes}
        for key in self.order:
            for read in self.nodes[key].inputs:
                found.setdefault(read.asset, []).append((key, read.window))
        return {key: tuple(readers) for key, readers in found.items()}

    def upstream_of(self, assets: Iterable[AssetKey]) -> tuple[AssetKey, ...]:
        """All assets of ours that the given ones read, near and far, in graph order."""
        wanted: set[AssetKey] = set()
        left = list(assets)
        while left:
            node = self.nodes.get(left.pop())
            for read in () if node is None else node.inputs:
                if read.asset not in wanted:
                    wanted.add(read.asset)
                    left.append(read.asset)
        return tuple(asset for asset in self.order if asset in wanted)

    def made_with(self, key: AssetKey) -> tuple[AssetKey, ...]:
        """All assets that the same job makes, this one included."""
        job = self.nodes[key].job
        return tuple(other for other, node in self.nodes.items() if node.job == job)

    def find(self, name: str) -> AssetKey:
        """The key that a person's `name` means; refused when none or several have it."""
        names = {name_of(key): key for key in self.nodes}
        if name in names:
            return names[name]
        by_last = [key for key in self.nodes if key[-1] == name]
        if len(by_last) == 1:
            return by_last[0]
        if by_last:
            raise AmbiguousAssetError(name, map(name_of, by_last))
        raise UnknownAssetError(name, names, self._made_as(name))

    def _made_as(self, name: str) -> str | None:
        """The asset whose dataset, table or lineage job has the name, in whole or in its last part."""
        found = {
            name_of(key)
            for key, node in self.nodes.items()
            for known in (node.job.name, *(() if node.dataset is None else (node.dataset.name, node.dataset.table)))
            if known is not None and name in (known, known.rpartition(".")[2])
        }
        return found.pop() if len(found) == 1 else None


def node_json(node: AssetNode) -> dict[str, Any]:
    """The node as JSON: it travels in the asset's metadata, so that a graph can be read from any code location."""
    return {
        "version": 1,
        "key": list(node.key),
        "job": {
            "namespace": node.job.namespace,
            "name": node.job.name,
            "description": node.job.description,
            "owners": list(node.job.owners),
            "tags": [list(tag) for tag in node.job.tags],
        },
        "partitions": {
            "first": node.partitions.first.isoformat(),
            "last": None if node.partitions.last is None else node.partitions.last.isoformat(),
        },
        "inputs": [_input_json(read) for read in node.inputs],
        "dataset": None if node.dataset is None else dataset_json(node.dataset),
    }


def _input_json(read: Input) -> dict[str, Any]:
    return {
        "asset": list(read.asset),
        "window": [read.window.first, read.window.last],
        "dataset": None if read.dataset is None else dataset_json(read.dataset),
        "table": read.table,
        "is_whole": read.is_whole,
    }


def node_from_json(read: Mapping[str, Any]) -> AssetNode:
    job, partitions, dataset = read["job"], read["partitions"], read["dataset"]
    tags = tuple((key, value) for key, value in job["tags"])
    return AssetNode(
        key=tuple(read["key"]),
        job=LineageJob(job["namespace"], job["name"], job["description"], tuple(job["owners"]), tags),
        partitions=Daily(
            parse_day(partitions["first"]), None if partitions["last"] is None else parse_day(partitions["last"])
        ),
        inputs=tuple(_input_from_json(one) for one in read["inputs"]),
        dataset=None if dataset is None else dataset_from_json(dataset),
    )


def _input_from_json(read: Mapping[str, Any]) -> Input:
    dataset = read["dataset"]
    known = None if dataset is None else dataset_from_json(dataset)
    is_whole = read.get("is_whole", False)
    return Input(tuple(read["asset"]), Window(*read["window"]), known, read.get("table"), is_whole)
