"""Which snapshots of a table a program must read, so that what is read is what the records name.

Pure: works on a table's history. A day is read at the newest snapshot that the records name where that provably holds
the same of it, and at its own snapshot where somebody published it again in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lineage_assets.spark.history import History, Snapshot
from lineage_assets.spark.refusal import LostSnapshotError
from lineage_assets.spark.report import Pinned


def pin(table: str, history: History, named: Mapping[str, int], versions: Mapping[str, str]) -> Pinned | None:
    """The snapshots to read: those named by day, or the current one where none is; None of an empty table.

    All that are named must be ancestors of the newest of them: else the table was changed behind our back. Expired
    snapshots cannot be looked at: where expiry has cut the ancestry they are taken to lie beyond the cut, and the
    oldest kept descendant of theirs holds the same partitions, unless its own summary says otherwise.
    """
    if not named:
        return None if history.main is None else Pinned(history.main)
    kept = [history.snapshots[id_] for id_ in named.values() if id_ in history.snapshots]
    newest = max(kept, key=lambda one: one.order).id if kept else history.main
    chain = list(history.ancestors(newest))
    _refuse_strangers(table, history, chain, named)
    base = chain if kept else chain[-1:]
    moved = _published_again(base, named, versions)
    apart = {day: _snapshot_of(table, chain, day, named[day], versions.get(day)) for day in moved}
    return Pinned(base[0].id, {day: id_ for day, id_ in sorted(apart.items()) if id_ != base[0].id})


def _refuse_strangers(table: str, history: History, chain: Sequence[Snapshot], named: Mapping[str, int]) -> None:
    is_cut = bool(chain) and chain[-1].parent is not None
    lineage = {snapshot.id for snapshot in chain}
    for id_ in sorted(set(named.values())):
        if id_ in history.snapshots and id_ not in lineage:
            raise LostSnapshotError(table, id_, f"is no ancestor of {chain[0].id}, the newest that they name")
        if id_ not in history.snapshots and not is_cut:
            raise LostSnapshotError(table, id_, "the table does not have")


def _published_again(chain: Sequence[Snapshot], named: Mapping[str, int], versions: Mapping[str, str]) -> list[str]:
    """Days whose newest publish in the chain is not the one that their record names, nor one of the same content."""
    waiting = dict(named)
    moved = []
    for snapshot in chain:
        waiting = {day: id_ for day, id_ in waiting.items() if id_ != snapshot.id}
        if not snapshot.changes_rows:
            continue
        published = snapshot.published()
        # What another than us committed may have changed any day.
        touched = [day for day in waiting if day in published or not snapshot.is_ours]
        moved += [day for day in touched if not _holds(published, day, versions.get(day))]
        for day in touched:
            del waiting[day]
    return moved


def _snapshot_of(table: str, chain: Sequence[Snapshot], day: str, named: int, version: str | None) -> int:
    """The snapshot that holds a day as its record has it; of an expired one, a descendant that is kept."""
    if any(snapshot.id == named for snapshot in chain):
        return named
    same = next((snapshot for snapshot in chain if _holds(snapshot.published(), day, version)), None)
    oldest = chain[-1]
    if same is None and day in oldest.published():
        raise LostSnapshotError(table, named, f"was expired, and {day} was published again since, as {oldest.id}")
    return oldest.id if same is None else same.id


def _holds(published: Mapping[str, str | None], day: str, version: str | None) -> bool:
    return version is not None and published.get(day) == version
