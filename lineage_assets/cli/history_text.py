"""The answer of `history` on a terminal: the attempts in the order of time, and what changed. Layout only."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from lineage_assets.cli.wording import (
    cause_text,
    code_text,
    commit_text,
    data_text,
    partition_text,
    past_text,
    run_text,
    short,
    time_text,
    unanswered_text,
)
from lineage_assets.graph import name_of
from lineage_assets.ledger.record import PartitionRecord
from lineage_assets.partitions import ranges_text, set_of
from lineage_assets.questions.history import Changed, Comparison, PartitionHistory, Tell
from lineage_assets.questions.trace import lineage_run_of

_COLOURS = {"good": "green", "reused": "cyan", "failed": "bold red", "blocked": "yellow"}
_HASHES = ("data version", "code version", "landing version")
_MOST_INPUTS = 20


def print_history(console: Console, answer: PartitionHistory) -> None:
    count = len(answer.tells)
    title = "no attempt is known" if not count else "1 attempt" if count == 1 else f"{count} attempts"
    console.print(Text.assemble((partition_text(answer.ref), "bold"), f": {title}"), soft_wrap=True)
    for said in past_text(answer.known):
        console.print(Text(f"  {said}", style="yellow"), soft_wrap=True)
    for tell in answer.tells:
        state, lines = _told(answer, tell)
        head = Text.assemble(f"{tell.number:>3}. {time_text(tell.at)}  ", (state, _COLOURS.get(state, "")))
        console.print(head, soft_wrap=True)
        for line in lines:
            console.print(Text(f"     {line}"), soft_wrap=True)
    for one in answer.comparisons:
        console.print(Text(f"From {one.before} to {one.after}", style="bold"))
        for line in _compared(one):
            console.print(Text(f"  {line}"), soft_wrap=True)
    if any(tell.has_data for tell in answer.tells) and not answer.known.is_past:
        console.print(Text("Next", style="bold"))
        console.print(Text(f"  lineage-assets impact {partition_text(answer.ref)}"), soft_wrap=True)


def _told(answer: PartitionHistory, tell: Tell) -> tuple[str, list[str]]:
    if tell.verdict is not None:
        record = tell.verdict.record
        lineage_run = lineage_run_of(answer.known, tell.verdict)
        links = [] if lineage_run is None else [f"lineage run {lineage_run}"]
        return record.state.value, [*_record_lines(answer, record), f"code {code_text(record, tell.source)}", *links]
    if tell.unanswered is not None:
        return "being made" if tell.unanswered.is_live else "no verdict", [unanswered_text(tell.unanswered)]
    by = tell.stranger.run_id if tell.stranger is not None and tell.stranger.run_id else "hand"
    return "not ours", [f"materialized by {by}, without a record of ours"]


def _record_lines(answer: PartitionHistory, record: PartitionRecord) -> Iterator[str]:
    yield run_text(record, answer.known.reason(record))
    if record.cause is not None:
        yield cause_text(record.cause)
    if record.made_by is not None and record.made_by != record.run_id:
        yield f"the data of run {record.made_by} stands"
    if record.fingerprint is not None:
        yield data_text(record)
    read = "; ".join(f"{name_of(asset)} {ranges_text(set_of(days))}" for asset, days in sorted(record.inputs.items()))
    if read:
        yield f"read {read}"
    yield from record.drift
    if record.warning is not None:
        yield record.warning


def _compared(one: Comparison) -> Iterator[str]:
    if one.is_nothing:
        yield "nothing that is on record changed"
    yield from (_changed(each) for each in one.changed)
    for read in one.inputs[:_MOST_INPUTS]:
        yield f"input {partition_text(read.ref)}: {_read(read.before)} -> {_read(read.after)}"
    if len(one.inputs) > _MOST_INPUTS:
        yield f"and {len(one.inputs) - _MOST_INPUTS} inputs more; `--json` has all"
    yield from one.source_diff


def _changed(each: Changed) -> str:
    if each.what in _HASHES:
        return f"{each.what}: {short(each.before)} -> {short(each.after)}"
    if each.what == "commit":
        both = each.before is not None and each.after is not None
        span = f" (git log {commit_text(each.before)}..{commit_text(each.after)})" if both else ""
        return f"commit: {commit_text(each.before)} -> {commit_text(each.after)}{span}"
    return f"{each.what}: {_said(each.before)} -> {_said(each.after)}"


def _said(value: str | None) -> str:
    return "none" if value is None else value


def _read(version: str | None) -> str:
    return "not read" if version is None else f"version {short(version)}"
