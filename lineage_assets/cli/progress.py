"""How a backfill goes, drawn on a terminal: a line a finished run, and below them what runs now.

Shows what the driver tells; decides nothing.
"""

from __future__ import annotations

from collections import Counter
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from lineage_assets.backfill.driver import Begun, Ran, Step, Stopped
from lineage_assets.backfill.plan import BackfillPlan, Unit
from lineage_assets.backfill.tally import Tally
from lineage_assets.ledger.record import PartitionRecord, State

_WORDS = {
    State.GOOD: ("done", "green"),
    State.REUSED: ("reused", "green"),
    State.FAILED: ("failed", "red"),
    State.BLOCKED: ("blocked", "yellow"),
}


class ProgressDisplay:
    """Watches one backfill."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.backfill_id: str | None = None
        self.tally: Tally | None = None
        self.records: list[PartitionRecord] = []
        self._runs = 0
        self._since = monotonic()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            refresh_per_second=4,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=None)

    def opened(self, backfill_id: str, plan: BackfillPlan) -> None:
        self.backfill_id = backfill_id
        self._runs = len(plan.units)
        self.console.print(f"Backfill {backfill_id}")
        self._bar.update(self._task, total=plan.partition_count)
        self._bar.start()

    def saw(self, step: Step) -> None:
        match step:
            case Begun(unit=unit):
                self._since = monotonic()
                self._bar.update(self._task, description=str(unit))
            case Ran(unit=unit, records=records):
                self.records += records
                self.console.print(f"  {unit}: {_came_of(unit, records)} ({monotonic() - self._since:.1f} s)")
                self._bar.advance(self._task, len(unit.partitions) * len(unit.assets))
            case Stopped():
                self._bar.update(self._task, description="stopping")

    def closed(self, tally: Tally) -> None:
        self.tally = tally
        self._bar.stop()


def _came_of(unit: Unit, records: tuple[PartitionRecord, ...]) -> str:
    counted = Counter({(record.asset, record.partition): record.state for record in records}.values())
    said = [f"[{colour}]{counted[state]} {word}[/]" for state, (word, colour) in _WORDS.items() if counted[state]]
    unmade = len(unit.partitions) * len(unit.assets) - counted.total()
    return ", ".join([*said, *([f"[red]{unmade} not run[/]"] if unmade else [])])
