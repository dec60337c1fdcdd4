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
    table = Table(title="o good   F failed   b blocked   = reused   . never made", title_justify="left", box=None)
    table.add_column("asset", no_wrap=True)
    table.add_column(f"{days[0]} to {days[-1]}", no_wrap=True)
    for asset, by_day in verdicts.items():
        line = Text()
        for day in days:
            record = by_day.get(day)
            mark, style = (".", "dim") if record is None else _MARKS[record.state]
            line.append(mark, style)
        table.add_row(name_of(asset), line)
    return table


def causes_table(verdicts: Verdicts) -> Table:
    """Each failure with its cause; each block by contiguous range, with where it began."""
    table = Table(title="What is bad, and why", title_justify="left")
    for heading in ("asset", "partitions", "state", "why"):
        table.add_column(heading, overflow="fold")
    for asset, by_day in verdicts.items():
        for why, days in _reasons(by_day.values()).items():
            state, said = why
            table.add_row(name_of(asset), ranges_text(set_of(days)), state.value, said)
    return table


def _reasons(records: Iterable[PartitionRecord]) -> dict[tuple[State, str], list[str]]:
    found: dict[tuple[State, str], list[str]] = {}
    for record in sorted(records, key=lambda one: (one.state.value != "failed", one.partition)):
        if record.state is State.FAILED and record.cause is not None:
            found.setdefault((record.state, f"{record.cause.kind}: {record.cause.message}"), []).append(
                record.partition
            )
        elif record.state is State.BLOCKED:
            roots = sorted({name_of(ref.asset) for ref in record.blocked_by})
            found.setdefault((record.state, f"reads bad partitions of {', '.join(roots)}"), []).append(record.partition)
    return found


def jobs_table(jobs: Iterable[Job]) -> Table:
    """The lineage server's jobs, with what they read and write and how their newest run ended."""
    table = Table(title="Jobs on the lineage server", title_justify="left")
    for heading in ("job", "reads", "writes", "newest run"):
        table.add_column(heading, overflow="fold")
    for job in sorted(jobs, key=lambda one: one.name):
        state = "none" if job.latest_run is None else job.latest_run.state
        reads, writes = (", ".join(sorted(name for _, name in ends)) for ends in (job.inputs, job.outputs))
        table.add_row(job.name, reads, writes, Text(state, _STATES.get(state, "")))
    return table


def runs_table(job: str, runs: Iterable[Run]) -> Table:
    """A job's runs by partition, oldest first: what was tried, and what came of it."""
    by_day: dict[str, list[Run]] = {}
    for run in runs:
        by_day.setdefault(_partition(run), []).append(run)
    table = Table(title=f"Runs of {job} by partition", title_justify="left")
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
