"""The commands `why`, `history` and `impact` on a default SQLite instance of 100,000 partition records.

The food_delivery graph over twenty years, run day by day: an attempt, a verdict and a planned event an asset and day,
one day in fifty failed first. Rows go into Dagster's index shard directly, in the form in which Dagster writes them:
by its own door they would take an hour, for one commit each.
"""

from __future__ import annotations

import hashlib
import io
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from uuid import NAMESPACE_URL, uuid5

from dagster import AssetKey as DagsterAssetKey
from dagster import DagsterEventType, DagsterInstance
from dagster._core.events import (
    AssetMaterializationPlannedData,
    AssetObservationData,
    DagsterEvent,
    StepMaterializationData,
)
from dagster._core.events.log import EventLogEntry
from dagster._serdes import serialize_value
from rich.console import Console

from lineage_assets.cli.history_text import print_history
from lineage_assets.cli.impact_text import print_impact
from lineage_assets.cli.why_text import print_why
from lineage_assets.graph import AssetGraph, AssetKey, AssetNode
from lineage_assets.ledger.dagster_log import attempt_event, bad_event, good_event
from lineage_assets.ledger.gate import reads_of
from lineage_assets.ledger.partition_log import PartitionLogs
from lineage_assets.ledger.record import Attempt, Cause, PartitionRecord, State
from lineage_assets.ledger.scene import Site, SourceCode, scene_of, scene_text
from lineage_assets.partitions import Daily, PartitionSet, key_of, keys_of
from lineage_assets.pipelines.food_delivery.assets import JOBS
from lineage_assets.questions.asking import Asker

TITLE = "Questions about single partitions"

_RECORDS = 100_000
_TIMES = 5
_LAST = date(2021, 6, 12)
_FAILED_FIRST = 50
"""One day in so many."""
_DEAD_DAY = date(2011, 6, 12)
"""The day of which a run was planned and begun that died without a word, after it was good."""
_ANY_RUN, _ANY_DAY = "11111111-2222-5333-8444-555555555555", date(1999, 12, 30).toordinal()
_INSERT = (
    "INSERT INTO event_logs (run_id, event, dagster_event_type, timestamp, asset_key, partition)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
_Row = tuple[str, str, str, str, str, str | None]


def rows() -> Iterable[tuple[str, str]]:
    """What was measured, and the figure with its unit."""
    with tempfile.TemporaryDirectory() as folder:
        began = perf_counter()
        graph, records = _build(Path(folder))
        yield f"an instance of {records:,} partition records, built", f"{perf_counter() - began:.0f} s"
        size = (Path(folder) / "history" / "runs" / "index.db").stat().st_size / 1e6
        yield "its index shard", f"{size:,.0f} MB"
        for what, ask in _questions():
            taken = [_timed(Path(folder), graph, ask) for _ in range(_TIMES)]
            wall, processor = (median(of) * 1000 for of in zip(*taken, strict=True))
            yield f"`{what}`, instance opened, answer printed", f"{wall:,.0f} ms, {processor:,.0f} ms of them computing"


def _questions() -> Iterator[tuple[str, Callable[[Asker, Console], None]]]:
    day, early = _LAST.isoformat(), _DEAD_DAY.isoformat()
    yield f"why orders_7_days {day}", lambda asker, console: print_why(console, asker.why("orders_7_days", day))
    yield f"why orders_7_days {early}", lambda asker, console: print_why(console, asker.why("orders_7_days", early))
    yield f"why email_discounts {day}", lambda asker, console: print_why(console, asker.why("email_discounts", day))
    yield f"history orders {early}", lambda asker, console: print_history(console, asker.history("orders", early))
    yield (
        f"impact orders {early}",
        lambda asker, console: print_impact(console, asker.impact("orders", early), (), None),
    )


def _timed(home: Path, graph: AssetGraph, ask: Callable[[Asker, Console], None]) -> tuple[float, float]:
    """Seconds that passed, and seconds of this process on a core: the rest is waiting, for others too."""
    began, computed = perf_counter(), process_time()
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    with _instance(home) as instance:
        ask(Asker(graph, PartitionLogs(instance), now), Console(file=io.StringIO(), width=120))
    return perf_counter() - began, process_time() - computed


@contextmanager
def _instance(home: Path) -> Iterator[DagsterInstance]:
    (home / "dagster.yaml").write_text("telemetry:\n  enabled: false\n", encoding="utf-8")
    with DagsterInstance.from_config(str(home)) as instance:
        yield instance


def _build(home: Path, wanted: int = _RECORDS) -> tuple[AssetGraph, int]:
    """A log of so many records, oldest first, and the graph it is of."""
    declared = {node.key: node for job in JOBS for node in job.nodes}
    days = -(-wanted // len(declared))
    partitions = Daily(_LAST - timedelta(days=days - 1), _LAST)
    graph = AssetGraph.of(replace(node, partitions=partitions) for node in declared.values())
    with _instance(home) as instance:
        instance.fetch_materializations(DagsterAssetKey("orders"), limit=1)  # makes the files
    found = 0
    with closing(sqlite3.connect(home / "history" / "runs" / "index.db")) as shard, shard:
        writer = _Writer(graph)
        for ordinal in range(partitions.first.toordinal(), _LAST.toordinal() + 1):
            batch = list(writer.day(ordinal))
            shard.executemany(_INSERT, batch)
            found += sum(
                row[2] != DagsterEventType.ASSET_MATERIALIZATION_PLANNED.value and bool(row[5]) for row in batch
            )
    return graph, found


@dataclass
class _Writer:
    """The rows of one day after another."""

    graph: AssetGraph

    def __post_init__(self) -> None:
        site = Site("file:///warehouse", "3.5.9", "0.1.0")
        source = SourceCode("def job(orders):\n    return orders\n" * 20, commit="4f2a" * 10, path="jobs.py")
        scenes = {key: scene_text(scene_of(key, self.graph, site, source)) for key in self.graph.nodes}
        self.openings = {key: list(_opening(key, scenes[key], _ANY_RUN, _ANY_DAY)) for key in self.graph.order}

    def day(self, ordinal: int) -> Iterator[_Row]:
        if ordinal % _FAILED_FIRST == 0:
            yield from self._run(ordinal, "first", State.FAILED)
        yield from self._run(ordinal, "second", State.GOOD)
        if ordinal == _DEAD_DAY.toordinal():
            dead = str(uuid5(NAMESPACE_URL, "dead"))
            yield from (_moved(row, dead, ordinal) for key in self.graph.order for row in self.openings[key])

    def _run(self, ordinal: int, which: str, state: State) -> Iterator[_Row]:
        run_id = str(uuid5(NAMESPACE_URL, f"{ordinal} {which}"))
        at = _time(ordinal)
        for key in self.graph.order:
            node = self.graph.nodes[key]
            yield from (_moved(row, run_id, ordinal) for row in self.openings[key])
            yield _verdict(self._record(node, ordinal, run_id, at, state))

    def _record(self, node: AssetNode, ordinal: int, run_id: str, at: datetime, state: State) -> PartitionRecord:
        read = reads_of(self.graph, node, key_of(ordinal))
        record = PartitionRecord(
            node.key,
            key_of(ordinal),
            state,
            run_id,
            1,
            at,
            at,
            "c" * 32,
            rows=400 + ordinal % 50,
            spark_version="3.5.9",
        )
        if state.is_bad:
            return replace(record, cause=Cause("schema change", 'column "id" is gone'))
        return replace(
            record,
            fingerprint=_version(node.key, key_of(ordinal)),
            inputs={asset: {day: _version(asset, day) for day in keys_of(days)} for asset, days in read.items()},
            landing=None if node.inputs else _version(("landing", *node.key), key_of(ordinal)),
            snapshot=ordinal,
            made_by=run_id,
        )


def _opening(key: AssetKey, scene: str, run_id: str, ordinal: int) -> Iterator[_Row]:
    """What a run logs of an asset before its verdict: that it is planned, and the attempt."""
    at, day = _time(ordinal), PartitionSet.of([ordinal])
    planned = AssetMaterializationPlannedData(DagsterAssetKey(key), key_of(ordinal))
    yield _row(run_id, at, DagsterEventType.ASSET_MATERIALIZATION_PLANNED, planned, key_of(ordinal))
    attempt = Attempt(key, run_id, 1, day, at, "c" * 32, "host:1:0", scene=scene)
    yield _row(run_id, at, DagsterEventType.ASSET_OBSERVATION, AssetObservationData(attempt_event(attempt)), None)


def _moved(row: _Row, run_id: str, ordinal: int) -> _Row:
    """The same row of another run and day: Dagster's way of writing an event takes most of the time."""
    before, after = _time(_ANY_DAY), _time(ordinal)
    text = (
        row[1]
        .replace(_ANY_RUN, run_id)
        .replace(key_of(_ANY_DAY), key_of(ordinal))
        .replace(before.isoformat(), after.isoformat())
        .replace(str(before.timestamp()), str(after.timestamp()))
    )
    partition = None if row[5] is None else key_of(ordinal)
    return run_id, text, row[2], f"{after:%Y-%m-%d %H:%M:%S.%f}", row[4], partition


def _time(ordinal: int) -> datetime:
    """When a day is made: in the morning after it."""
    return datetime.fromordinal(ordinal + 1).replace(hour=7, tzinfo=timezone.utc)


def _verdict(record: PartitionRecord) -> _Row:
    if record.state.is_bad:
        seen: object = AssetObservationData(bad_event(record))
        kind = DagsterEventType.ASSET_OBSERVATION
    else:
        tags = {"dagster/data_version": record.fingerprint or "", "dagster/code_version": record.code_version}
        seen = StepMaterializationData(good_event(record, metadata={}, tags=tags))
        kind = DagsterEventType.ASSET_MATERIALIZATION
    return _row(record.run_id, record.ended, kind, seen, record.partition)


_entry: Callable[..., EventLogEntry] = EventLogEntry
"""Dagster's class has no types of its own."""


def _row(run_id: str, at: datetime, kind: DagsterEventType, said: object, partition: str | None) -> _Row:
    event = DagsterEvent(kind.value, job_name="__ASSET_JOB", event_specific_data=said)  # type: ignore[arg-type]
    entry = _entry(
        error_info=None, level=20, user_message="", run_id=run_id, timestamp=at.timestamp(), dagster_event=event
    )
    asset_key = event.asset_key
    text = "" if asset_key is None else asset_key.to_string()
    return run_id, serialize_value(entry), kind.value, f"{at:%Y-%m-%d %H:%M:%S.%f}", text, partition


def _version(asset: tuple[str, ...], day: str) -> str:
    return hashlib.md5(f"{asset}{day}".encode(), usedforsecurity=False).hexdigest()


if __name__ == "__main__":
    for what, figure in rows():
        sys.stdout.write(f"{what}: {figure}\n")
