"""What a table's metadata says of its past: snapshots, branches, what was published under which token.

Pure values read from Iceberg's metadata as JSON; refuses to know Spark and Java. Format: Iceberg table spec.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineage_assets.spark.refusal import LostSnapshotError

TOKEN = "lineage_assets.token"  # noqa: S105 - no secret, the unit that published
"""In the summary of a snapshot: which unit published it."""

RECORDS = "lineage_assets.records"
"""In the same summary: what came of each partition, published or not."""

INPUTS = "lineage_assets.inputs"
"""In the same summary: input asset to the snapshot it was read at."""

STAGED = "lineage_assets.staged"
"""In the summary of a staged snapshot: the token."""

_BRANCH_PREFIX = "lineage_assets_"


def branch_of(token: str) -> str:
    """The branch on which this unit stages; a second try of the unit has the same."""
    return _BRANCH_PREFIX + hashlib.sha256(token.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Snapshot:
    id: int
    parent: int | None
    order: int
    """Iceberg's sequence number: a later commit has a higher one."""
    summary: Mapping[str, str]

    def records(self) -> dict[str, dict[str, Any]]:
        read: dict[str, dict[str, Any]] = json.loads(self.summary.get(RECORDS, "{}"))
        return read

    def published(self) -> frozenset[str]:
        return frozenset(day for day, record in self.records().items() if record["published"])


@dataclass(frozen=True)
class History:
    """One version of a table's metadata."""

    location: str
    partitioned_by: tuple[str, ...]
    """Each field as `transform(column)`."""
    branches: Mapping[str, int]
    snapshots: Mapping[int, Snapshot]

    @property
    def main(self) -> int | None:
        """The current snapshot; None when nothing was ever published."""
        return self.branches.get("main")

    def ancestors(self, snapshot: int | None) -> Iterator[Snapshot]:
        """The snapshot and those it descends from, newest first, as far back as they were not expired."""
        while snapshot is not None and snapshot in self.snapshots:
            found = self.snapshots[snapshot]
            yield found
            snapshot = found.parent

    def published_by(self, token: str, targets: Sequence[str]) -> Snapshot | None:
        """The snapshot of main that this unit published, when it says what came of all targets."""
        for snapshot in self.ancestors(self.main):
            if snapshot.summary.get(TOKEN) == token and snapshot.records().keys() >= set(targets):
                return snapshot
        return None

    def is_quarantine(self, branch: str) -> bool:
        """Whether the branch was kept because of bad partitions, and its head says which."""
        return RECORDS in self.snapshots[self.branches[branch]].summary

    def settled_quarantines(self) -> tuple[str, ...]:
        """Branches of ours whose bad partitions have all been published by a later snapshot of main."""
        return tuple(sorted(name for name, head in self.branches.items() if self._is_settled(name, head)))

    def _is_settled(self, name: str, head: int) -> bool:
        # A branch without records is still being staged, or its driver died; its unit replaces it when it runs again.
        if not name.startswith(_BRANCH_PREFIX) or not self.is_quarantine(name):
            return False
        quarantine = self.snapshots[head]
        since: set[str] = set()
        for snapshot in self.ancestors(self.main):
            if snapshot.order <= quarantine.order:
                break
            since |= snapshot.published()
        return quarantine.records().keys() - quarantine.published() <= since


def parse_history(metadata: str) -> History:
    """The history in Iceberg's table metadata JSON."""
    read = json.loads(metadata)
    names = {field["id"]: field["name"] for schema in read["schemas"] for field in schema["fields"]}
    spec = next(spec for spec in read["partition-specs"] if spec["spec-id"] == read["default-spec-id"])
    return History(
        location=read["location"],
        partitioned_by=tuple(f"{field['transform']}({names[field['source-id']]})" for field in spec["fields"]),
        branches={name: ref["snapshot-id"] for name, ref in read["refs"].items() if ref["type"] == "branch"},
        snapshots={
            one["snapshot-id"]: Snapshot(
                id=one["snapshot-id"],
                parent=one.get("parent-snapshot-id"),
                order=one["sequence-number"],
                summary=one["summary"],
            )
            for one in read["snapshots"]
        },
    )


def pin(table: str, history: History, named: Sequence[int]) -> int | None:
    """The snapshot to read: the newest that the records name, or the current one when they name none.

    All others must be its ancestors, else what is read is not what was recorded. Expired snapshots cannot be looked
    at: where expiry has cut the ancestry they are taken to lie beyond the cut, and the oldest kept descendant of theirs
    holds the same partitions.
    """
    if not named:
        return history.main
    known = sorted((id_ for id_ in named if id_ in history.snapshots), key=lambda id_: history.snapshots[id_].order)
    chain = list(history.ancestors(known[-1] if known else history.main))
    is_cut = bool(chain) and chain[-1].parent is not None
    lineage = {snapshot.id for snapshot in chain}
    for id_ in named:
        if id_ in history.snapshots and id_ not in lineage:
            raise LostSnapshotError(table, id_, f"is no ancestor of {chain[0].id}, the newest that they name")
        if id_ not in history.snapshots and not is_cut:
            raise LostSnapshotError(table, id_, "the table does not have")
    return known[-1] if known else chain[-1].id
