"""``lineage replay`` of 100,000 partition records: how fast they are read, made into events, and taken by a server.

The ledger is that of the questions: the food_delivery graph over twenty years, each day a run. Memory is measured in a
process of its own, which reads and makes everything and sends it nowhere.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

from dagster import DagsterInstance

from benchmarks.questions import _build, _instance
from lineage_assets.graph import AssetKey
from lineage_assets.lineage.foreground import Audience
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.retelling import attempts_in
from lineage_assets.lineage.transport import HttpTransport, Transport
from lineage_assets.marquez.client import marquez_at
from lineage_assets.marquez.process import down, up
from lineage_assets.pipelines.food_delivery.assets import JOBS
from lineage_assets.reconcile.bookmark import Bookmark
from lineage_assets.reconcile.replay import Chapter, Source, chapters, deliver
from lineage_assets.reconcile.selection import Selection
from lineage_assets.reconcile.verify import Verification
from lineage_assets.reconcile.whole_log import follow_log

TITLE = "Replay and verify"

_KEPT = 5000
"""Attempts held to time their events alone."""
_SENT = 1300
"""Attempts told to the embedded server."""


def rows() -> Iterable[tuple[str, str]]:
    """What was measured, and the figure with its unit."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        graph, records = _build(home)
        yield from _alone(home, records)
        with _instance(home) as instance:
            yield from _made(instance, graph.order)
            yield from _told(instance, graph.order, home)


def _alone(home: Path, records: int) -> Iterator[tuple[str, str]]:
    """The whole ledger in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.replay", str(home)], capture_output=True, text=True, check=True
    )
    said = json.loads(done.stdout.splitlines()[-1])
    seconds, events = said["seconds"], said["events"]
    yield f"{records:,} partition records read and made into {events:,} events, sent nowhere", f"{seconds:,.0f} s"
    yield "the same, as a rate", f"{events / seconds:,.0f} a second, {events / said['worked']:,.0f} of processor time"
    yield "memory of the process, at its start and at most", f"{said['before']:,.0f} MB, {said['most']:,.0f} MB"
    yield "reading alone", f"{said['facts'] / said['reading']:,.0f} facts a second"


def _made(instance: DagsterInstance, assets: tuple[AssetKey, ...]) -> Iterator[tuple[str, str]]:
    attempts = [attempt for _, attempt in islice(attempts_in(follow_log(instance, assets)), _KEPT)]
    began = process_time()
    bodies = [event.body for attempt in attempts for event in Projection().events(attempt.turns())]
    seconds = process_time() - began
    size = sum(map(len, bodies)) / len(bodies) / 1000
    yield f"making events of {size:.1f} kB alone", f"{len(bodies) / seconds:,.0f} a second of processor time"


def _told(instance: DagsterInstance, assets: tuple[AssetKey, ...], home: Path) -> Iterator[tuple[str, str]]:
    server = up(home, owner_pid=os.getpid())
    transport = HttpTransport(server.url)
    try:
        story = list(islice(_story(instance, assets), _SENT))
        began = perf_counter()
        events = _deliver(story, transport, home)
        seconds = perf_counter() - began
        yield f"replay of {events:,} events into the embedded server", f"{events / seconds:,.0f} events a second"
        with marquez_at(server.url) as client:
            began = perf_counter()
            compared = sum(one.compared for one in Verification(instance, client, Selection()).reports(assets))
            yield f"verify of {compared:,} runs, of which {events // 2:,} are there", f"{perf_counter() - began:,.0f} s"
    finally:
        transport.close()
        down(home)


def _story(instance: DagsterInstance, assets: Iterable[AssetKey]) -> Iterator[Chapter]:
    source = Source(attempts_in(follow_log(instance, tuple(assets))))
    return chapters(source, Selection(), Projection())


def _deliver(story: Iterable[Chapter], transport: Transport, home: Path) -> int:
    bookmark = Bookmark(home / "replay.json", "", "")
    return deliver(story, Audience(transport), bookmark, saw=lambda _progress: None).events


@dataclass
class _Nowhere:
    """Takes every event and keeps none."""

    def emit(self, body: str) -> None:
        """Forget it."""

    def close(self) -> None:
        """Hold nothing."""


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _main(home: Path) -> None:
    with _instance(home) as instance:
        assets = tuple(node.key for job in JOBS for node in job.nodes)
        before = _megabytes()
        began, worked = perf_counter(), process_time()
        events = _deliver(_story(instance, assets), _Nowhere(), home)
        seconds, worked, most = perf_counter() - began, process_time() - worked, _megabytes()
        began = perf_counter()
        facts = sum(1 for _ in follow_log(instance, assets))
        reading = perf_counter() - began
    said = {
        "events": events,
        "seconds": seconds,
        "worked": worked,
        "facts": facts,
        "reading": reading,
        "before": before,
        "most": most,
    }
    sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
