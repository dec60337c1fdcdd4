"""Runs a comparison of Marquez with the ledger and draws it: a line a job, and the command that mends what differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lineage_assets.cli.replaying import Asked, print_unreadable
from lineage_assets.cli.terminal import console_on
from lineage_assets.errors import LineageAssetsError
from lineage_assets.graph import name_of
from lineage_assets.lineage.receiver import Off, find_receiver, first_http, receiver_text
from lineage_assets.marquez.client import MarquezClient, marquez_at
from lineage_assets.marquez.errors import MarquezRefusedError
from lineage_assets.partitions import PartitionSet, ranges_text
from lineage_assets.reconcile.backfills import backfills_told
from lineage_assets.reconcile.expected import Found, JobReport
from lineage_assets.reconcile.mending import mends
from lineage_assets.reconcile.passes import Project
from lineage_assets.reconcile.selection import select
from lineage_assets.reconcile.verify import JobName, Verification
from lineage_assets.reconcile.whole_log import logged_assets
from lineage_assets.settings import Settings

_MOST_RANGES = 4
"""Named on a line; all of them are in the JSON."""


class NotVerifiableError(LineageAssetsError):
    """The receiver of lineage cannot be asked what it has."""

    def __init__(self, receiver: str, reason: str) -> None:
        self.receiver = receiver
        self.reason = reason
        super().__init__(
            f"The receiver of lineage, {receiver}, cannot be compared with the ledger: {reason}. "
            "What can be asked is a Marquez or the embedded server: name one among the receivers, by OPENLINEAGE_URL "
            "where nothing else is configured, or start one with `lineage-assets marquez up`."
        )


def run_verify(project: Project, asked: Asked, *, as_json: bool) -> int:
    """Compare, print, and give the exit code: 0 equal, 1 not."""
    instance, settings = project.instance, project.settings
    console = console_on(soft_wrap=True)
    known = logged_assets(instance, project.graph)
    names, first, last = asked
    selection = select(names, first, last, graph=project.graph, known=known)
    with _marquez(settings) as (client, url), console.status("reading the ledger") as status:

        def saw(job: JobName, runs: int) -> None:
            status.update(f"{job[1]}: {runs} runs")

        if not console.is_terminal or as_json:
            status.stop()
        verification = Verification(instance, client, selection, saw)
        reports = list(verification.reports(known))
        if selection.is_all:
            reports += verification.backfills(backfills_told(instance, project.assets, project.graph))
    if as_json:
        unreadable = [str(one) for one in verification.unreadable]
        click.echo(json.dumps({**_json(url, reports), "unreadable": unreadable}, indent=2, sort_keys=True))
    else:
        _draw(console, url, reports)
        print_unreadable(console, verification.unreadable)
    return 0 if all(report.is_equal for report in reports) and not verification.unreadable else 1


@contextmanager
def _marquez(settings: Settings) -> Iterator[tuple[MarquezClient, str]]:
    """A client of the server that gets the events, once it has answered like one."""
    found = find_receiver(settings)
    if found is None:
        raise NotVerifiableError("nobody", "no lineage server is up")
    receiver = first_http(found)
    if receiver is None:
        reason = "no events are sent" if isinstance(found, Off) else "events cannot be read back from it"
        raise NotVerifiableError(receiver_text(found), reason)
    key = None if receiver.api_key is None else receiver.api_key.get_secret_value()
    with marquez_at(receiver.url, api_key=key) as client:
        try:
            client.namespaces()
        except (MarquezRefusedError, ValueError, KeyError, TypeError) as error:
            raise NotVerifiableError(receiver_text(receiver), "it does not answer as Marquez does") from error
        yield client, receiver_text(receiver)


def _draw(console: Console, url: str, reports: Sequence[JobReport]) -> None:
    is_empty = bool(reports) and all(report.is_missing for report in reports)
    if reports and not is_empty:
        console.print(_table(reports))
    compared = sum(report.compared for report in reports)
    wrong = sum(found.runs for report in reports for found in report.found)
    in_ledger = f"{_count(compared, 'ended run')} of {_count(len(reports), 'job')} in the ledger"
    console.print(
        f"{in_ledger}; {url} holds nothing of them." if is_empty else f"{in_ledger}; {wrong} differ at {url}."
    )
    for count, said in _beside(reports):
        if count:
            console.print(f"{count} {said}")
    for command in mends(reports):
        console.print(f"To mend it: {command}", markup=False)


def _table(reports: Sequence[JobReport]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("job", "runs", "differs", "partitions"):
        table.add_column(column, overflow="fold", justify="right" if column == "runs" else "left")
    for report in reports:
        lines = list(_lines(report)) or [("equal", "")]
        table.add_row(report.name, str(report.compared), *("\n".join(column) for column in zip(*lines, strict=True)))
    return table


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _lines(report: JobReport) -> Iterator[tuple[str, str]]:
    if report.is_missing:
        yield "the job is not there", ""
    for name in report.missing_datasets:
        yield f"the dataset {name} is not there", ""
    for found in report.found:
        yield f"{found.runs} {_said(found)}", _short(found.partitions)


def _said(found: Found) -> str:
    return f"{found.kind.value}: {found.detail}" if found.detail else found.kind.value


def _short(partitions: PartitionSet) -> str:
    text = ranges_text(PartitionSet(partitions.ranges[:_MOST_RANGES])) if partitions else ""
    left = len(partitions.ranges) - _MOST_RANGES
    return f"{text} and {left} more ranges" if left > 0 else text


def _beside(reports: Sequence[JobReport]) -> tuple[tuple[int, str], ...]:
    return (
        (
            sum(report.unknown for report in reports),
            "runs there are not in the ledger: of deleted Dagster runs, or of somebody else.",
        ),
        (sum(report.underway for report in reports), "runs go on, or nobody has closed them; they were not compared."),
    )


def _json(url: str, reports: Sequence[JobReport]) -> dict[str, Any]:
    return {
        "receiver": url,
        "equal": all(report.is_equal for report in reports),
        "mend": list(mends(reports)),
        "jobs": [
            {
                "namespace": report.namespace,
                "name": report.name,
                "assets": [name_of(asset) for asset in report.assets],
                "compared": report.compared,
                "unknown": report.unknown,
                "underway": report.underway,
                "missing": report.is_missing,
                "missing_datasets": list(report.missing_datasets),
                "differences": [
                    {
                        "kind": found.kind.value,
                        "detail": found.detail,
                        "runs": found.runs,
                        "partitions": ranges_text(found.partitions) if found.partitions else "",
                    }
                    for found in report.found
                ],
            }
            for report in reports
        ],
    }
