"""A plan as people read it: a grid of assets by days, the reasons, the totals.

Shows a plan and changes nothing; what it shows is the plan's, worked out nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from lineage_assets.backfill.grid import Grid
from lineage_assets.backfill.impact import Reads
from lineage_assets.backfill.plan import BackfillPlan, Found, PlannedAsset
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.graph import name_of
from lineage_assets.partitions import SAME_PARTITION, PartitionSet, Window, ranges_text

_MARKS: dict[Found | None, tuple[str, str, str]] = {
    Found.FAILED: ("F", "red", "failed"),
    Found.BLOCKED: ("b", "yellow", "blocked"),
    Found.MISSING: ("+", "cyan", "never built"),
    Found.NOT_ADOPTED: ("?", "magenta", "not adopted"),
    Found.GOOD: ("o", "green", "good"),
    None: ("o", "green", "to run"),
}
"""By how a partition stands: mark, colour, meaning. Where a column holds several, the first of them in this order."""

_IDLE = "."
_SHOWN_ASSETS = 100
"""Rows of a grid; a plan of more is for `--json`."""
_WIDEST = 200
"""Columns of a grid, where lines may be longer: in a file."""


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan to be printed on a rich console of any width."""

    plan: BackfillPlan

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(f"Plan {self.plan.name}: {request_text(self.plan.request)}.", style="bold")
        if not self.plan.assets:
            yield Text("Nothing reads it: nothing is to be redone.")
            return
        yield Text()
        yield from grid_lines(self.plan, min(options.max_width, _WIDEST))
        yield Text()
        yield Text("Why", style="bold")
        for planned in self.plan.assets[:_SHOWN_ASSETS]:
            yield from (
                Text.assemble((name_of(planned.asset), "bold"), f" {why}") for why in reasons(self.plan, planned)
            )
        yield Text()
        yield Text(totals(self.plan), style="bold")


def plan_text(plan: BackfillPlan, width: int = 100) -> str:
    """What `PlanView` prints, without colours."""
    console = Console(width=width, color_system=None, force_terminal=False, highlight=False)
    with console.capture() as printed:
        console.print(PlanView(plan))
    return "\n".join(line.rstrip() for line in printed.get().splitlines()) + "\n"


def request_text(request: BackfillRequest) -> str:
    """`orders 2021-06-04..2021-06-06 and all that reads it`."""
    named = "; ".join(f"{name_of(root.asset)} {ranges_text(root.partitions)}" for root in request.roots)
    return f"{named} and all that reads it" if request.include_roots else f"all that reads {named}, without itself"


def grid_lines(plan: BackfillPlan, width: int) -> Iterator[Text]:
    """The grid: a row an asset, a column a day or, where there is no room, several days."""
    shown = plan.assets[:_SHOWN_ASSETS]
    names = min(max(len(name_of(planned.asset)) for planned in shown), max(width * 2 // 5, 12))
    margin = len("wave ") + names + 1
    days = PartitionSet.of_ranges(each for planned in plan.assets for each in planned.partitions.ranges)
    grid = Grid.fitting((days.ranges[0][0], days.ranges[-1][1]), width - margin)
    *above, lowest = grid.header()
    for line in above:
        yield Text(" " * margin + line, style="dim", no_wrap=True)
    yield Text("wave ".ljust(margin) + lowest, style="dim", no_wrap=True)
    seen: set[Found | None] = set()
    for planned in shown:
        row = Text(f"{planned.wave:>4} ", no_wrap=True, end="\n")
        row.append(_cut(name_of(planned.asset), names).ljust(names + 1), style="bold")
        for column in grid.columns():
            mark, colour, found = _mark(planned, column)
            if colour:
                seen.add(found)
            row.append(mark.rjust(grid.column_width), style=colour)
        yield row
    yield from _below(plan, grid, seen)


def _below(plan: BackfillPlan, grid: Grid, seen: set[Found | None]) -> Iterator[Text]:
    if len(plan.assets) > _SHOWN_ASSETS:
        yield Text(f"... and {len(plan.assets) - _SHOWN_ASSETS} assets more; `--json` lists all.")
    legend = [f"{mark} {meaning}" for found, (mark, _, meaning) in _MARKS.items() if found in seen]
    said = [f"To run, by how it stands: {legend[0]}" if seen - {None} else legend[0], *legend[1:], f"{_IDLE} untouched"]
    if grid.days_a_column > 1:
        said.append(f"one column is {grid.days_a_column} days")
    yield Text("   ".join(said), style="dim")


def _mark(planned: PlannedAsset, days: PartitionSet) -> tuple[str, str, Found | None]:
    redone = planned.partitions & days
    if not redone:
        return _IDLE, "", None
    standing = (found for found in _MARKS if found is not None and planned.found.get(found, PartitionSet()) & redone)
    found = next(standing, None)
    mark, colour, _ = _MARKS[found]
    return mark, colour, found


def reasons(plan: BackfillPlan, planned: PlannedAsset) -> Iterator[str]:
    """Why each of an asset's partitions is in the plan, by ranges: a line a reason."""
    if planned.requested:
        yield f"{ranges_text(planned.requested)}: requested"
    for read in planned.reads:
        yield f"{ranges_text(read.partitions)}: reads {_read_text(plan, read)}"


def _read_text(plan: BackfillPlan, read: Reads) -> str:
    changing = read.window.reads(read.partitions) & plan.changing(read.upstream)
    return f"{name_of(read.upstream)} {ranges_text(changing)}{window_text(read.window)}"


def window_text(window: Window) -> str:
    """` through trailing 7 days`, led by a space; nothing for the partition itself."""
    if window == SAME_PARTITION:
        return ""
    if window.last == 0:
        return f" through trailing {1 - window.first} days"
    return f" through days {window.first:+d}..{window.last:+d}"


def totals(plan: BackfillPlan) -> str:
    """What a plan comes to in one line."""
    standing: Counter[Found] = Counter()
    for planned in plan.assets:
        standing.update({found: len(partitions) for found, partitions in planned.found.items()})
    counted = [f"{standing[found]} {found.value}" for found in Found if standing[found] and found is not Found.GOOD]
    now = f" Now: {', '.join(counted)}." if counted else ""
    return (
        f"{_count(plan.partition_count, 'partition')} of {_count(len(plan.assets), 'asset')}"
        f" in {_count(len(plan.units), 'run')}, {_count(plan.wave_count, 'wave')}.{now}"
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: width - 1]}~"
