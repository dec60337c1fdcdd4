"""The answer of `impact` on a terminal: readers by asset and how they stand, and jobs of others. Layout only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from lineage_assets.cli.wording import cause_text, commit_text, past_text, short, time_text
from lineage_assets.graph import name_of
from lineage_assets.partitions import ranges_text, set_of
from lineage_assets.questions.foreign import ForeignJob
from lineage_assets.questions.impact import Effect, Impact, Reader

_COLOURS = {Effect.CURRENT: "green", Effect.BAD: "bold red", Effect.NEVER_MADE: "cyan"}
Told = tuple[Effect, str, tuple[str, ...]]
"""An effect, the days that have it, and what is said of them."""


def print_impact(console: Console, answer: Impact, foreign: Sequence[ForeignJob] | None, why_not: str | None) -> None:
    """`why_not`: why the lineage server was not asked, or did not answer."""
    asked = f"{name_of(answer.asset)} {ranges_text(answer.partitions)}"
    console.print(Text.assemble((asked, "bold"), f": {_counted(answer.readers)}"), soft_wrap=True)
    for said in past_text(answer.known):
        console.print(Text(f"  {said}", style="yellow"), soft_wrap=True)
    for told, assets in _alike(answer).items():
        console.print(Text(f"  {', '.join(assets)}", style="bold"), soft_wrap=True)
        for effect, days, lines in told:
            line = Text.assemble("    ", (effect.value, _COLOURS.get(effect, "yellow")), f"  {days}")
            console.print(line, soft_wrap=True)
            for said in lines:
                console.print(Text(f"      {said}"), soft_wrap=True)
    _print_foreign(console, foreign, why_not)
    if answer.commands:
        console.print(Text("Next", style="bold"))
        for command in answer.commands:
            console.print(Text(f"  {command}"), soft_wrap=True)


def _counted(readers: Sequence[Reader]) -> str:
    if not readers:
        return "nothing of this code location reads it"
    counts = {effect: sum(reader.effect is effect for reader in readers) for effect in Effect}
    named = ", ".join(f"{count} {effect.value}" for effect, count in counts.items() if count)
    # What is blocked or was never made has not read it: it would.
    what = "1 partition" if len(readers) == 1 else f"{len(readers)} partitions"
    return f"reaches {what}, directly or through others: {named}"


def _alike(answer: Impact) -> dict[tuple[Told, ...], list[str]]:
    """What is told of an asset, to the assets of which just that is told."""
    by_asset: dict[str, dict[Effect, list[Reader]]] = {}
    for reader in answer.readers:
        by_asset.setdefault(name_of(reader.ref.asset), {}).setdefault(reader.effect, []).append(reader)
    found: dict[tuple[Told, ...], list[str]] = {}
    for asset, effects in by_asset.items():
        told = tuple(
            (
                effect,
                ranges_text(set_of(reader.ref.partition for reader in readers)),
                tuple(_stories(answer, effect, readers)),
            )
            for effect, readers in effects.items()
        )
        found.setdefault(told, []).append(asset)
    return found


def _stories(answer: Impact, effect: Effect, readers: Sequence[Reader]) -> Iterator[str]:
    """A line for days that share it: who made them from which versions, or why they are bad."""
    lines: dict[str, list[str]] = {}
    for reader in readers:
        for line in _story(answer, effect, reader):
            lines.setdefault(line, []).append(reader.ref.partition)
    for line, days in lines.items():
        yield line if len(days) == len(readers) else f"{ranges_text(set_of(days))}: {line}"


def _story(answer: Impact, effect: Effect, reader: Reader) -> Iterator[str]:
    if effect is Effect.BAD and reader.newest is not None:
        yield f"{reader.newest.record.state.value}: {cause_text(reader.newest.record.cause)}"
    if reader.consumed is None:
        return
    record = reader.consumed.record
    source = answer.known.source(reader.consumed)
    commit = "" if source is None or source.commit is None else f", commit {commit_text(source.commit)}"
    by = record.run_id if record.made_by is None else record.made_by
    yield f"by run {by}, attempt {record.number}, code {short(record.code_version)}{commit}"
    for read in reader.reads:
        named = f"read {name_of(read.ref.asset)} {read.ref.partition} in version {short(read.version)}"
        if read.version != read.now:
            yield f"{named}; {short(read.now)} is published now"
        elif reader.distance == 1:
            yield named
    if not reader.reads:
        yield "its record names none of them"


def _print_foreign(console: Console, foreign: Sequence[ForeignJob] | None, why_not: str | None) -> None:
    if foreign is None:
        console.print(Text(f"Jobs of others are not known: {why_not}", style="dim"), soft_wrap=True)
        return
    if not foreign:
        console.print(Text("The lineage server knows no job of others downstream.", style="dim"), soft_wrap=True)
        return
    console.print(Text("Jobs of others downstream, by the lineage server", style="bold"))
    for job in foreign:
        owner = ", ".join(job.owners) if job.owners else "no owner is named"
        at = "" if job.at is None else f" at {time_text(job.at)}"
        run = "it never ran" if job.run_id is None else f"newest run {job.run_id} {job.state}{at}"
        console.print(Text(f"  {job.namespace} / {job.name}  {owner}; {run}"), soft_wrap=True)
