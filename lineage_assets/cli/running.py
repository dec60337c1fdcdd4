"""Runs the backfill job inside this process and shows how it goes. The job is the same that the launchpad starts."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

from dagster import DagsterInstance, ExecuteInProcessResult, RunsFilter
from rich.console import Console

from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.ending import ending_lines
from lineage_assets.backfill.job import JOB_NAME, OP_NAME, WATCHER_KEY
from lineage_assets.backfill.lane import quiet
from lineage_assets.cli.destination import undelivered_text
from lineage_assets.cli.progress import ProgressDisplay
from lineage_assets.cli.project import Project, open_instance
from lineage_assets.cli.terminal import own_terminal
from lineage_assets.clock import utc_now
from lineage_assets.dagster_private import BACKFILL_TAG
from lineage_assets.ledger.receipts import Receipt, receipt_of
from lineage_assets.settings import Settings

INTERRUPTED = 130
"""What a shell says of a program that Ctrl-C ended."""


def run_backfill(project: Project, ask: Ask, settings: Settings) -> ProgressDisplay:
    """Run it to its end; the display that is given back knows what came of it."""
    log = settings.home / "logs" / f"backfill-{utc_now():%Y%m%dT%H%M%S}.log"
    started = monotonic()
    with open_instance(settings) as instance, own_terminal(log) as console:
        display = ProgressDisplay(console)
        job = project.definitions.resolve_job_def(JOB_NAME)
        result = job.execute_in_process(
            run_config={"ops": {OP_NAME: {"config": ask.to_config()}}, **quiet(job)},
            instance=instance,
            resources={WATCHER_KEY: display},
            raise_on_error=False,
        )
        _say_end(console, display, result, log, monotonic() - started)
        told = undelivered_text(_receipts(instance, display.backfill_id), settings)
        if told is not None:
            console.print(told, markup=False, soft_wrap=True, style="yellow")
    return display


def exit_code(seen: ProgressDisplay) -> int:
    """0 only when everything planned is there now."""
    if seen.tally is None:
        return 1
    if seen.tally.is_cancelled:
        return INTERRUPTED
    return 0 if seen.tally.is_whole else 1


def _say_end(
    console: Console, display: ProgressDisplay, result: ExecuteInProcessResult, log: Path, seconds: float
) -> None:
    if display.tally is None:
        said = f"The backfill could not run: {_failure(result)} Its output is in {log}."
        console.print(said, style="red", markup=False, soft_wrap=True)
        return
    stopped = "Stopped. " if display.tally.is_cancelled else ""
    console.print(f"{stopped}{display.tally}, in {seconds:.1f} s.", style="bold")
    for line in ending_lines(display.tally, display.records):
        # Unwrapped, so that a command can be copied; as it is, whatever brackets a cause has.
        console.print(f"  {line}", markup=False, soft_wrap=True)


def _receipts(instance: DagsterInstance, backfill_id: str | None) -> list[Receipt | None]:
    if backfill_id is None:
        return []
    return [receipt_of(run) for run in instance.get_runs(filters=RunsFilter(tags={BACKFILL_TAG: backfill_id}))]


def _failure(result: ExecuteInProcessResult) -> str:
    """The first thing that went wrong in the driver's own run, as its exception said it."""
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error is not None:
            error = event.step_failure_data.error
            said = error.cause if error.cause is not None else error
            return said.message.strip()
    return f"its run {result.run_id} ended as {result.dagster_run.status.value}."
