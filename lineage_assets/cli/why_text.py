"""The answer of `why` on a terminal: how it stands, what made it, and a tree of what it was made from.

A version is drawn once and referred to afterwards; days of a window that share a run are one line. Layout only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from lineage_assets.cli.wording import (
    cause_text,
    code_text,
    commit_text,
    data_text,
    many_data_text,
    partition_text,
    past_text,
    run_text,
    short,
    time_text,
    unanswered_text,
)
from lineage_assets.graph import name_of
from lineage_assets.ledger.record import PartitionRef
from lineage_assets.partitions import ranges_text, set_of
from lineage_assets.questions.known import Verdict
from lineage_assets.questions.standing import CodeDiffers, Difference, Root, Standing
from lineage_assets.questions.trace import Made, Read, ReadOf, Trace, lineage_run_of
from lineage_assets.questions.why import Why

_COLOURS = {
    Standing.GOOD: "green",
    Standing.STALE: "yellow",
    Standing.READS_STALE: "yellow",
    Standing.MADE_FROM_BAD: "yellow",
    Standing.FAILED: "bold red",
    Standing.QUARANTINED: "bold red",
    Standing.BLOCKED: "yellow",
    Standing.BEING_MADE: "cyan",
}
_MOST_LINES = 10
"""Of a list that a person looks through; what is to be run is never cut."""


def print_why(console: Console, answer: Why) -> None:
    head = Text.assemble((partition_text(answer.ref), "bold"), ": ", (answer.standing.value, _colour(answer)))
    console.print(head, soft_wrap=True)
    for said in past_text(answer.known):
        console.print(Text(f"  {said}", style="yellow"), soft_wrap=True)
    for name, said in _facts(answer):
        console.print(Text(f"  {name:<12} {said}"), soft_wrap=True)
    if any(made.reads for made in answer.data):
        for line in _drawn(answer):
            console.print(Text(line), soft_wrap=True)
    elif answer.data.made:
        console.print(Text("  made from    no partition of ours"), soft_wrap=True)
    if answer.is_cut:
        console.print("More lies further up: --depth N follows it.", style="dim")
    first = [f"{partition_text(one.ref)}: {one.reason}" for one in answer.suspects]
    left = len(first) - _MOST_LINES
    more = [f"and {left} more; `--json` has all"] if left > 0 else []
    _print_list(console, "Look at first", [*first[:_MOST_LINES], *more])
    _print_list(console, "Next", answer.commands)


def _colour(answer: Why) -> str:
    return _COLOURS.get(answer.standing, "magenta")


def _print_list(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        console.print(Text(title, style="bold"))
        for line in lines:
            console.print(Text(f"  {line}"), soft_wrap=True)


def _facts(answer: Why) -> Iterator[tuple[str, str]]:
    last = answer.verdict
    if last is not None and not answer.standing.is_there:
        yield "said", f"{_made_by(answer, last)}: {last.record.state.value}"
        yield "because", cause_text(last.record.cause)
        yield from _links(answer, last)
    if answer.quarantine is not None:
        yield "quarantine", f"branch {answer.quarantine.branch} of {answer.quarantine.table}"
    if answer.known.began is None:  # else nothing at all was there, which says it better than a list
        yield from (("began at", said) for said in _roots(answer.roots))
    yield from (("being made" if run.is_live else "no verdict", unanswered_text(run)) for run in answer.runs)
    yield from _shown(answer)
    yield from (("differs", _difference(one)) for one in answer.differences)
    yield from (("stale input", said) for said in _by_asset(answer.stale))


def _shown(answer: Why) -> Iterator[tuple[str, str]]:
    """What a reader of the table sees."""
    first = next(iter(answer.data), None)
    if first is None:
        if answer.standing is Standing.NOT_ADOPTED:
            yield "the table", "holds data that was made without a record of ours"
        elif answer.known.graph.nodes[answer.ref.asset].dataset is not None:
            yield "the table", "holds nothing of it, by our records"
        return
    record = first.verdict.record
    name = "made" if answer.standing.is_there else "still there"
    yield name, _made_by(answer, first.verdict)
    yield "code", code_text(record, answer.known.source(first.verdict))
    yield "data", data_text(record)
    if answer.confirmed is not None:
        yield "let stand", _made_by(answer, answer.confirmed)
    yield from _links(answer, first.verdict)


def _made_by(answer: Why, verdict: Verdict) -> str:
    by = run_text(verdict.record, answer.known.reason(verdict.record))
    return f"{time_text(verdict.seen.at)} by {by}"


def _links(answer: Why, verdict: Verdict) -> Iterator[tuple[str, str]]:
    lineage_run = lineage_run_of(answer.known, verdict)
    if lineage_run is not None:
        yield "lineage run", str(lineage_run)


def _roots(roots: Sequence[Root]) -> Iterator[str]:
    """Days of one asset that went wrong for one reason are one line."""
    found: dict[tuple[str, str], list[str]] = {}
    for root in roots:
        run = "" if not root.run_id else f", in run {root.run_id}"
        why = "" if root.cause is None else f", {cause_text(root.cause)}"
        found.setdefault((name_of(root.ref.asset), f"{root.state}{why}{run}"), []).append(root.ref.partition)
    for (asset, why), days in found.items():
        yield f"{asset} {ranges_text(set_of(days))}: {why}"


def _by_asset(refs: Sequence[PartitionRef]) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for ref in refs:
        found.setdefault(name_of(ref.asset), []).append(ref.partition)
    yield from (f"{asset} {ranges_text(set_of(days))}" for asset, days in found.items())


def _difference(one: Difference) -> str:
    if isinstance(one, CodeDiffers):
        return f"the code is version {short(one.now)} now, {short(one.read)} made it"
    if one.read is None:
        return f"{partition_text(one.ref)} is read by now, and was not"
    by = "" if one.run_id is None else f", by run {one.run_id}"
    return f"{partition_text(one.ref)} is version {short(one.now)} now{by}; {short(one.read)} was read"


def _drawn(answer: Why) -> Iterator[str]:
    first = next(iter(answer.data))
    yield "  made from"
    yield from _branches(answer, [first], {first.verdict.seen.storage_id}, "  ")


def _branches(answer: Why, made: Sequence[Made], shown: set[int], margin: str) -> Iterator[str]:
    """A branch a group of input days that share a story; what was drawn before is only named."""
    groups = _groups(answer.data, made, shown)
    for number, (is_shown, group) in enumerate(groups, 1):
        arm, below = ("└─ ", "   ") if number == len(groups) else ("├─ ", "│  ")
        yield f"{margin}{arm}{_line(answer, group, is_shown=is_shown)}"
        places = [read.made for read in group if read.made is not None]
        if not is_shown:
            shown.update(places)
            yield from _branches(answer, [answer.data.made[place] for place in places], shown, f"{margin}{below}")


def _groups(data: Trace, made: Sequence[Made], shown: set[int]) -> list[tuple[bool, list[Read]]]:
    unique = {(read.ref, read.made, read.version): read for one in made for read in one.reads}
    groups: dict[tuple[object, ...], tuple[bool, list[Read]]] = {}
    for read in sorted(unique.values(), key=lambda read: (read.ref, -1 if read.made is None else read.made)):
        is_shown = read.made in shown
        story = (read.ref.asset, *_story(data, read), is_shown)
        groups.setdefault(story, (is_shown, []))[1].append(read)
    return list(groups.values())


def _story(data: Trace, read: Read) -> tuple[object, ...]:
    """What days must share to be drawn as one line."""
    if read.made is None:
        # Of what is not ours the version is that of the whole table.
        return read.found, read.is_superseded, read.version if read.found is ReadOf.NOT_OURS else None
    record = data.made[read.made].verdict.record
    return record.run_id, record.number, record.code_version, read.is_superseded


def _line(answer: Why, group: Sequence[Read], *, is_shown: bool) -> str:
    first = group[0]
    named = f"{name_of(first.ref.asset)} {ranges_text(set_of(read.ref.partition for read in group))}"
    changed = "; PUBLISHED AGAIN SINCE in another version" if first.is_superseded else ""
    if first.made is None:
        missing = {
            ReadOf.NOT_OURS: "not ours" if first.version is None else f"not ours, snapshot {first.version}",
            ReadOf.NO_RECORD: "no record of the version that was read",
            ReadOf.DEEPER: "further up",
        }
        return f"{named}  {missing[first.found]}{changed}"
    if is_shown:
        return f"{named}  (drawn above){changed}"
    verdicts = [answer.data.made[read.made].verdict for read in group if read.made is not None]
    record = verdicts[0].record
    source = answer.known.source(verdicts[0])
    commit = "" if source is None or source.commit is None else f", commit {commit_text(source.commit)}"
    if len(verdicts) == 1:
        return f"{named}  run {short(record.run_id)}{commit}, {data_text(replace(record, snapshot=None))}{changed}"
    data = many_data_text([one.record for one in verdicts])
    return f"{named}  run {short(record.run_id)}{commit}, {data}{changed}"
