"""Runs a replay and shows how it goes. Ctrl-C ends it between two lineage runs; a second one at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from lineage_assets.cli.terminal import console_on
from lineage_assets.errors import LineageAssetsError
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.unreadable import UnreadableRecordError
from lineage_assets.lineage.extras import extras_of
from lineage_assets.lineage.foreground import Audience
from lineage_assets.lineage.http_receiver import HttpReceiver
from lineage_assets.lineage.outlet import open_audience
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.receiver import Off, Receiver, find_receiver
from lineage_assets.lineage.retelling import attempts_in
from lineage_assets.lineage.sender import NOBODY_THERE
from lineage_assets.marquez.client import marquez_at
from lineage_assets.marquez.errors import MarquezRefusedError, MarquezUnreachableError, NotMarquezError
from lineage_assets.reconcile.backfills import backfills_told
from lineage_assets.reconcile.bookmark import Bookmark, bookmark_in
from lineage_assets.reconcile.mending import replay_command
from lineage_assets.reconcile.passes import Project
from lineage_assets.reconcile.replay import Progress, Source, chapters, deliver
from lineage_assets.reconcile.selection import Selection, select
from lineage_assets.reconcile.whole_log import (
    follow_log,
    goes_on,
    ledger_id,
    logged_assets,
    made_with,
    newest_place,
    pipelines_of,
)

_MOST_NAMED = 10
Asked = tuple[tuple[str, ...], str | None, str | None]
"""Names of assets, first and last partition, as a person gave them."""


class NobodyToTellError(LineageAssetsError):
    """There is no receiver."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"There is nobody to tell lineage to: {reason}.")


def run_replay(project: Project, asked: Asked, *, restart: bool) -> int:
    """Replay to the end, or until it is stopped; the exit code."""
    instance, settings, graph = project.instance, project.settings, project.graph
    known = logged_assets(instance, graph)
    names, first, last = asked
    selection = select(names, first, last, graph=graph, known=known)
    receiver, audience = find_receiver(settings), open_audience(settings)
    if receiver is None or audience is None:
        raise NobodyToTellError(NOBODY_THERE)
    if isinstance(audience, Off):
        raise NobodyToTellError(audience.reason)
    assets = made_with(instance, selection.assets, known) if selection.assets else set(known)
    extras, unreadable = extras_of(settings), list[UnreadableRecordError]()
    source = Source(
        attempts_in(follow_log(instance, sorted(assets), unreadable.append)),
        goes_on=lambda attempt: goes_on(instance, attempt),
        pipelines=(lambda run_id: pipelines_of(instance, run_id)) if extras.parents else None,
        backfills=backfills_told(instance, project.assets, graph) if selection.is_all else (),
    )
    bookmark = bookmark_in(settings.home, ledger_id(instance), receiver, selection.options())
    if restart or (bookmark.place and _is_emptied(receiver, graph)):
        bookmark.remove()
    try:
        code = _told(source, selection, Projection(extras), audience, bookmark, newest_place(instance, assets))
    finally:
        audience.close()
    print_unreadable(console_on(soft_wrap=True), unreadable)
    return max(code, int(bool(unreadable)))


def print_unreadable(console: Console, unreadable: Sequence[UnreadableRecordError]) -> None:
    """Name what the log holds and nobody here can read, a line each."""
    for one in unreadable[:_MOST_NAMED]:
        console.print(str(one), markup=False, style="red")
    if len(unreadable) > _MOST_NAMED:
        console.print(f"{len(unreadable) - _MOST_NAMED} more cannot be read.", style="red")


def _is_emptied(receiver: Receiver, graph: AssetGraph) -> bool:
    """Whether a server that can be asked holds nothing of ours: it was made anew since some of it was told."""
    if not isinstance(receiver, HttpReceiver):
        return False
    key = None if receiver.api_key is None else receiver.api_key.get_secret_value()
    try:
        with marquez_at(receiver.url, api_key=key) as client:
            there = client.namespaces()
    except (MarquezRefusedError, MarquezUnreachableError, NotMarquezError):
        return False
    return not any(node.job.namespace in there for node in graph.nodes.values())


def _told(
    source: Source,
    selection: Selection,
    projection: Projection,
    audience: Audience,
    bookmark: Bookmark,
    newest: int,
) -> int:
    console = console_on(soft_wrap=True)
    after = bookmark.place
    if after:
        console.print(f"Going on where it stopped, at {after} of {newest} in the log; --restart begins anew.")
    display = _Display(console, after, newest)
    with display.bar, _between_runs() as stops:
        story = chapters(source, selection, projection, after=after)
        done = deliver(story, audience, bookmark, saw=display.saw, stops=stops)
    console.print(f"{display.counted(done)} To {bookmark.receiver}.", markup=False)
    if done.rejected:
        console.print(f"{done.rejected} events were refused for good: {done.reason}.", markup=False, style="red")
    if done.stopped is not None:
        again = replay_command(selection)
        console.print(f"Stopped: {done.stopped}. The same command goes on from here: {again}", markup=False)
        return 130 if done.is_interrupted else 1
    return 1 if done.rejected else 0


class _Display:
    """Counts on a line; on a terminal that moves."""

    def __init__(self, console: Console, after: int, newest: int) -> None:
        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            refresh_per_second=4,
            disable=not console.is_terminal,
        )
        self._task = self.bar.add_task("reading", total=newest, completed=after)
        self._since = monotonic()

    def saw(self, progress: Progress) -> None:
        self.bar.update(self._task, completed=progress.place, description=self.counted(progress))

    def counted(self, progress: Progress) -> str:
        rate = progress.events / max(monotonic() - self._since, 0.001)
        return f"{progress.attempts} attempts, {progress.events} events, {rate:.0f} a second."


@contextmanager
def _between_runs() -> Iterator[Callable[[], bool]]:
    """Hold a first Ctrl-C back, and tell who asks; outside the main thread Python hears none."""
    asked = threading.Event()

    def heard(_signal: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return
    before = signal.signal(signal.SIGINT, heard)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
