"""What a lineage run reads and writes: declared before it, recorded after it.

Pure. Landing files, outboxes and assets that are not ours are no datasets and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lineage_assets.datasets import Dataset
from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.lineage.turns import DatasetRead, DatasetWritten, LineageRun
from lineage_assets.lineage.verdict import published
from lineage_assets.partitions import PartitionSet, set_of

_PARTITION_COLUMNS = frozenset({"ds", "source_ds"})
"""Columns that the runner adds; no author declared them."""


def inputs_of(graph: AssetGraph, run: LineageRun, records: Sequence[PartitionRecord] = ()) -> tuple[DatasetRead, ...]:
    """The inputs of a run with the partitions read: those recorded, else those the windows reach and that exist."""
    windows: dict[AssetKey, PartitionSet] = {}
    for asset in run.assets:
        for read in graph.nodes[asset].inputs:
            wanted = windows.get(read.asset, PartitionSet()) | read.window.reads(run.partitions)
            windows[read.asset] = wanted
    found: list[DatasetRead] = []
    for asset, wanted in sorted(windows.items()):
        node = graph.nodes.get(asset)
        if node is not None and node.dataset is not None:
            seen = set_of(key for record in records for key in record.inputs.get(asset, ()))
            found.append(DatasetRead(node.dataset, seen or node.partitions.clip(wanted)))
    return tuple(found)


def outputs_of(
    graph: AssetGraph, run: LineageRun, records: Sequence[PartitionRecord] = ()
) -> tuple[DatasetWritten, ...]:
    """The outputs of a run; with records, what was published of each and what is known of it."""
    found: list[DatasetWritten] = []
    for asset in run.assets:
        dataset = graph.nodes[asset].dataset
        if dataset is not None:
            own = [record for record in records if record.asset == asset]
            found.append(_written(graph, dataset, run, own))
    return tuple(found)


def _written(
    graph: AssetGraph, dataset: Dataset, run: LineageRun, records: Sequence[PartitionRecord]
) -> DatasetWritten:
    good = [record for record in records if not record.state.is_bad]
    rows = [record.rows for record in good if record.rows is not None]
    columns = next((record.columns for record in records if record.columns), {})
    return DatasetWritten(
        dataset=dataset,
        partitions=published(good) if good else run.partitions,
        rows=sum(rows) if rows else None,
        snapshot=_snapshot(good),
        columns=_declared(graph, columns),
    )


def _snapshot(records: Iterable[PartitionRecord]) -> int | None:
    """The snapshot that a run published, or that holds all it left standing; None where several do."""
    made = list(records)
    new = [record for record in made if record.state is State.GOOD]
    snapshots = {record.snapshot for record in (new or made)}
    return snapshots.pop() if len(snapshots) == 1 else None


def _declared(
    graph: AssetGraph, columns: Mapping[str, tuple[tuple[AssetKey, str], ...]]
) -> dict[str, tuple[tuple[Dataset, str], ...]]:
    """Column lineage by the names that datasets are declared under."""
    found: dict[str, tuple[tuple[Dataset, str], ...]] = {}
    for column, sources in columns.items():
        named = tuple(
            (node.dataset, source)
            for node, source in ((graph.nodes.get(asset), source) for asset, source in sources)
            if node is not None and node.dataset is not None and source not in _PARTITION_COLUMNS
        )
        if named and column not in _PARTITION_COLUMNS:
            found[column] = named
    return found
