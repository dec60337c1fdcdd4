"""Tables of the demo: how every partition stands, why some are bad, and what the lineage server holds.

Layout only: takes values, asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.marquez.shapes import Job, Run
from lineage_assets.partitions import ranges_text, set_of

Verdicts = Mapping[AssetKey, Mapping[str, PartitionRecord]]

_MARKS = {
    State.GOOD: ("o", "green"),
    State.REUSED: ("=", "cyan"),
    State.FAILED: ("F", "bold red"),
    State.BLOCKED: ("b", "yellow"),
}
_STATES = {"COMPLETED": "green", "FAILED": "red", "ABORTED": "yellow", "RUNNING": "cyan"}


def states_table(verdicts: Verdicts, days: Sequence[str]) -> Table:
    """Assets by days, a letter a partition."""
    table = Table(box=None, min_width=64)
    table.add_column("asset", no_wrap=True)
    table.add_column(f"{days[0]} to {days[-1]}", no_wrap=True)
    for asset, by_day in verdicts.items():
        line = Text()
        for day in days:
            record = by_day.get(day)
            mark, style = (".", "dim") if record is None else _MARKS[record.state]
            line.append(mark, style)
        table.add_row(name_of(asset), line)
    table.caption = "o good   F failed   b blocked   = reused   . never made"
    table.caption_justify = "left"
    return table


def causes_table(verdicts: Verdicts) -> Table:
    """Each failure with its cause; each block by contiguous range, with where it began."""
    table = Table(title="What is bad, and why", title_justify="left", box=None)
    table.add_column("state", no_wrap=True)
    table.add_column("partitions", no_wrap=True)
    table.add_column("why, and of which assets", overflow="fold")
    for (state, days, why), assets in _reasons(verdicts).items():
        table.add_row(Text(state.value, _MARKS[state][1]), days, f"{', '.join(assets)}: {why}")
    return table


def _reasons(verdicts: Verdicts) -> dict[tuple[State, str, str], list[str]]:
    """State, partitions and cause to the assets that share them."""
    found: dict[tuple[State, str, str], list[str]] = {}
    for asset, by_day in verdicts.items():
        days: dict[tuple[State, str], list[str]] = {}
        for day, record in sorted(by_day.items()):
            if record.state.is_bad:
                days.setdefault((record.state, _why(record)), []).append(day)
        for (state, why), of in days.items():
            found.setdefault((state, ranges_text(set_of(of)), why), []).append(name_of(asset))
    return found


def _why(record: PartitionRecord) -> str:
    if record.state is State.BLOCKED:
        return f"reads bad partitions of {', '.join(sorted({name_of(ref.asset) for ref in record.blocked_by}))}"
    return "no cause was recorded" if record.cause is None else f"{record.cause.kind}: {record.cause.message}"


def jobs_table(jobs: Iterable[Job]) -> Table:
    """The lineage server's jobs, with what they read and write and how their newest run ended."""
    table = Table(title="Jobs on the lineage server", title_justify="left", box=None)
    table.add_column("job", no_wrap=True)
    table.add_column("newest run", no_wrap=True)
    table.add_column("reads -> writes", overflow="fold")
    for job in sorted(jobs, key=lambda one: one.name):
        state = "none" if job.latest_run is None else job.latest_run.state
        reads, writes = (", ".join(sorted(name for _, name in ends)) for ends in (job.inputs, job.outputs))
        table.add_row(job.name, Text(state, _STATES.get(state, "")), f"{reads} -> {writes}".strip())
    return table


def runs_table(job: str, runs: Iterable[Run]) -> Table:
    """A job's runs by partition, oldest first: what was tried, and what came of it."""
    by_day: dict[str, list[Run]] = {}
    for run in runs:
        by_day.setdefault(_partition(run), []).append(run)
    table = Table(title=f"Runs of {job} by partition", title_justify="left", box=None)
    table.add_column("partition")
    table.add_column("runs, oldest first")
    for day, of_day in sorted(by_day.items()):
        line = Text(" -> ").join(
            Text(run.state, _STATES.get(run.state, "")) for run in sorted(of_day, key=lambda one: one.created_at)
        )
        table.add_row(day, line)
    return table


def _partition(run: Run) -> str:
    nominal = run.facets.get("nominalTime", {})
    return str(nominal.get("nominalStartTime", "?"))[:10]
