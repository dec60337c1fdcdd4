"""What a table's metadata says of its past: snapshots, branches, what was published under which token.

Pure values read from Iceberg's metadata as JSON; refuses to know Spark and Java. Format: Iceberg table spec.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lineage_assets.spark.summary import RECORDS, TOKEN, Packed, fingerprint_of, is_published, parse_records

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

    @property
    def is_ours(self) -> bool:
        """Whether it says which partitions it published."""
        return RECORDS in self.summary

    @property
    def changes_rows(self) -> bool:
        """Not so of a compaction: files in place of others that hold the same rows."""
        return self.summary.get("operation") != "replace"

    def records(self) -> dict[str, Packed]:
        return parse_records(self.summary)

    def published(self) -> dict[str, str | None]:
        """The partitions that it published, with their fingerprints."""
        return {day: fingerprint_of(one) for day, one in self.records().items() if is_published(one)}


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
        return self.snapshots[self.branches[branch]].is_ours

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
            since |= snapshot.published().keys()
        return quarantine.records().keys() - quarantine.published().keys() <= since


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
