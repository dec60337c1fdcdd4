"""A log told as literals, one event after another an hour apart, and questions asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.record import Attempt, Cause, Fact, PartitionRecord, PartitionRef, State
from lineage_assets.ledger.scene import Site, SourceCode, scene_of, scene_text
from lineage_assets.ledger.seen import Seen, Tried, Unanswered
from lineage_assets.partitions import PartitionSet, set_of
from lineage_assets.questions.asking import Asker
from lineage_assets.questions.known import Log
from tests.support.graphs import NOW
from tests.support.records import make_record

MIDNIGHT = datetime(2021, 6, 13, tzinfo=timezone.utc)
Versions = Mapping[str, Mapping[str, str | None]]


@dataclass
class Told:
    """What a log holds; it is asked as the event log is."""

    graph: AssetGraph
    events: list[tuple[AssetKey, str, Seen]] = field(default_factory=list)
    attempts: dict[tuple[AssetKey, str], Tried] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    silent: dict[PartitionRef, list[Unanswered]] = field(default_factory=dict)
    queries: int = 0

    def good(
        self, asset: str, day: str, version: str, reads: Versions | None = None, **said: object
    ) -> PartitionRecord:
        """A good record; `reads` are the versions of its inputs by asset and day."""
        inputs = {(name,): dict(days) for name, days in (reads or {}).items()}
        run = said.pop("run_id", f"run-{len(self.events) + 1}")
        record = make_record(
            day, asset=(asset,), fingerprint=version, inputs=inputs, run_id=run, **{"made_by": run, **said}
        )
        return self._tell(record)

    def failed(self, asset: str, day: str, kind: str = "job failed", message: str = "it broke") -> PartitionRecord:
        return self._tell(self._bad(asset, day, State.FAILED, Cause(kind, message)))

    def blocked(self, asset: str, day: str, *by: tuple[str, str]) -> PartitionRecord:
        record = self._bad(asset, day, State.BLOCKED, Cause("upstream", "reads what is bad"))
        return self._tell(replace(record, blocked_by=tuple(PartitionRef((name,), key) for name, key in by)))

    def stranger(self, asset: str, day: str) -> None:
        """Somebody else's materialization."""
        self._add((asset,), day, "stranger", None)

    def attempt(
        self, record: PartitionRecord, source: SourceCode, *, days: Sequence[str] = (), blocked: Sequence[str] = ()
    ) -> None:
        """The attempt behind a record, with the source in its scene; of these days, some of which were blocked."""
        site = Site("file:///warehouse", "3.5.9", "0.1.0")
        made = Attempt(
            asset=record.asset,
            run_id=record.run_id,
            number=record.number,
            partitions=set_of(days or [record.partition]),
            started=record.started,
            code_version=record.code_version,
            owner="host:1:0",
            range_run=record.range_run,
            scene=scene_text(scene_of(record.asset, self.graph, site, source)),
        )
        self.attempts[record.asset, record.run_id] = Tried(made, set_of(blocked) if blocked else PartitionSet())

    def unfinished(self, asset: str, day: str, *, is_live: bool, status: str = "failure") -> None:
        run = Unanswered("run-silent", MIDNIGHT, is_live, status)
        self.silent.setdefault(PartitionRef((asset,), day), []).append(run)

    def asked(self, at: datetime | None = None, code: Mapping[str, str] | None = None) -> Asker:
        """Who answers from what was told until `at`."""
        known = replace(self, events=[one for one in self.events if at is None or one[2].at <= at])
        code_now = {(name,): version for name, version in (code or {}).items()}
        return Asker(self.graph, known, NOW if at is None else at, code_now, None if at is None else self)

    def of(self, asset: AssetKey, partitions: Sequence[str]) -> Mapping[str, Log]:
        self.queries += 1
        return {day: tuple(seen for key, on, seen in self.events if (key, on) == (asset, day)) for day in partitions}

    def attempt_at(self, asset: AssetKey, verdict: Seen) -> Tried | None:
        return self.attempts.get((asset, verdict.run_id))

    def unanswered(self, asset: AssetKey, partition: str, log: Log) -> tuple[Unanswered, ...]:
        assert all(seen.run_id != "run-silent" for seen in log)
        return tuple(self.silent.get(PartitionRef(asset, partition), ()))

    def reason_of(self, backfill: str) -> str | None:
        self.queries += 1
        return self.reasons.get(backfill)

    def _bad(self, asset: str, day: str, state: State, cause: Cause) -> PartitionRecord:
        return make_record(day, state, asset=(asset,), run_id=f"run-{len(self.events) + 1}", cause=cause)

    def _tell(self, record: PartitionRecord) -> PartitionRecord:
        self._add(record.asset, record.partition, record.run_id, record)
        return record

    def _add(self, asset: AssetKey, day: str, run_id: str, fact: Fact | None) -> None:
        place = len(self.events) + 1
        self.events.append((asset, day, Seen(place, hour(place), run_id, fact)))


def hour(number: int) -> datetime:
    """When the event of this number was recorded."""
    return MIDNIGHT + timedelta(hours=number)
