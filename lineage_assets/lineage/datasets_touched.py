"""What a lineage run reads and writes: declared before it, recorded after it.

Pure. Landing files, outboxes, and assets of others that nobody declared a dataset for are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lineage_assets.datasets import Dataset
from lineage_assets.graph import AssetKey, AssetNode, Input
from lineage_assets.ledger.record import ColumnSource, PartitionRecord, State
from lineage_assets.lineage.turns import ColumnOf, DatasetRead, DatasetWritten, LineageRun
from lineage_assets.lineage.verdict import published
from lineage_assets.partitions import PartitionSet, set_of

_PARTITION_COLUMNS = frozenset({"ds", "source_ds"})
"""Columns that the runner adds; no author declared them."""


def inputs_of(run: LineageRun, records: Sequence[PartitionRecord] = ()) -> tuple[DatasetRead, ...]:
    """The inputs of a run with the partitions read: those recorded, else those the windows reach and that exist."""
    windows: dict[AssetKey, PartitionSet] = {}
    reads: dict[AssetKey, Input] = {}
    for read in (read for asset in run.assets for read in run.graph.nodes[asset].inputs):
        if _dataset_of(run, read) is not None:
            node = run.graph.nodes.get(read.asset)
            reached = PartitionSet() if read.is_whole else read.window.reads(run.partitions)
            windows[read.asset] = windows.get(read.asset, PartitionSet()) | _existing(node, reached)
            reads[read.asset] = read
    return tuple(_read(run, reads[asset], wanted, records) for asset, wanted in sorted(windows.items()))


def _read(run: LineageRun, read: Input, wanted: PartitionSet, records: Sequence[PartitionRecord]) -> DatasetRead:
    dataset = _dataset_of(run, read)
    assert dataset is not None  # noqa: S101 - the caller has looked
    seen = set_of(key for record in records for key in record.inputs.get(read.asset, ()) if not read.is_whole)
    return DatasetRead(
        dataset,
        seen or wanted,
        _rows(read.asset, records),
        _snapshot_read(read.asset, records),
        is_external=read.asset not in run.graph.nodes,
    )


def _dataset_of(run: LineageRun, read: Input) -> Dataset | None:
    """What is read, where it is a dataset."""
    node = run.graph.nodes.get(read.asset)
    return read.dataset if node is None else node.dataset


def outputs_of(run: LineageRun, records: Sequence[PartitionRecord] = ()) -> tuple[DatasetWritten, ...]:
    """The outputs of a run; with records, what was published of each and what is known of it."""
    return tuple(
        _written(run, asset, [record for record in records if record.asset == asset])
        for asset in run.assets
        if run.graph.nodes[asset].dataset is not None
    )


def _existing(node: AssetNode | None, reached: PartitionSet) -> PartitionSet:
    return reached if node is None else node.partitions.clip(reached)


def _written(run: LineageRun, asset: AssetKey, records: Sequence[PartitionRecord]) -> DatasetWritten:
    dataset = run.graph.nodes[asset].dataset
    assert dataset is not None  # noqa: S101 - the caller has looked
    good = [record for record in records if not record.state.is_bad]
    seen = next((record for record in records if record.columns or record.row_sources), None)
    return DatasetWritten(
        dataset=dataset,
        partitions=published(good) if good else run.partitions,
        owners=run.job.owners,
        rows=_sum(record.rows for record in good),
        size_bytes=_sum(record.size_bytes for record in good),
        files=_sum(record.files for record in good),
        snapshot=_snapshot(good),
        columns={} if seen is None else _columns(run, seen.columns),
        row_sources=() if seen is None else _named(run, seen.row_sources),
        nulls={column: sum(one.nulls.get(column, 0) for one in good) for one in good for column in one.nulls},
        assertions=tuple((record.partition, asked) for record in records for asked in record.assertions),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _rows(asset: AssetKey, records: Sequence[PartitionRecord]) -> int | None:
    """Rows of all input partitions read, each once, however many windows it is in; None when one is not known."""
    rows = {day: count for record in records for day, count in record.input_rows.get(asset, {}).items()}
    read = {day for record in records for day in record.inputs.get(asset, {})}
    return sum(rows.values()) if read and read == set(rows) else None


def _snapshot_read(asset: AssetKey, records: Sequence[PartitionRecord]) -> int | None:
    snapshots = {record.input_snapshots[asset] for record in records if asset in record.input_snapshots}
    return snapshots.pop() if len(snapshots) == 1 else None


def _snapshot(records: Iterable[PartitionRecord]) -> int | None:
    """The snapshot that a run published, or that holds all it left standing; None where several do."""
    made = list(records)
    new = [record for record in made if record.state is State.GOOD]
    snapshots = {record.snapshot for record in (new or made)}
    return snapshots.pop() if len(snapshots) == 1 else None


def _columns(run: LineageRun, columns: Mapping[str, tuple[ColumnSource, ...]]) -> dict[str, tuple[ColumnOf, ...]]:
    """Column lineage by the names that datasets are declared under."""
    named = {column: _named(run, made) for column, made in columns.items() if column not in _PARTITION_COLUMNS}
    return {column: made for column, made in named.items() if made}


def _named(run: LineageRun, sources: Iterable[ColumnSource]) -> tuple[ColumnOf, ...]:
    read = {one.asset: _dataset_of(run, one) for asset in run.assets for one in run.graph.nodes[asset].inputs}
    return tuple(
        (dataset, source.column, source.transformations)
        for dataset, source in ((read.get(source.asset), source) for source in sources)
        if dataset is not None and source.column not in _PARTITION_COLUMNS
    )
