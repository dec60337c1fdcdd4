"""All attempts at one partition in the order of time, and what changed from one to another. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lineage_assets.datasets import Dataset
from lineage_assets.errors import BadPartitionError
from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.record import PartitionRecord, PartitionRef
from lineage_assets.ledger.scene import SourceCode, parse_scene
from lineage_assets.ledger.seen import Seen, Unanswered
from lineage_assets.questions.known import Known, Verdict


@dataclass(frozen=True, slots=True)
class Tell:
    """One attempt, by its place in the list."""

    number: int
    """From 1, the oldest."""
    at: datetime
    verdict: Verdict | None = None
    unanswered: Unanswered | None = None
    """A run that was to make it and gave no verdict."""
    stranger: Seen | None = None
    """Somebody else's materialization."""
    source: SourceCode | None = None
    dataset: Dataset | None = None
    """As declared when the attempt was made; None where no scene tells."""

    @property
    def record(self) -> PartitionRecord | None:
        return None if self.verdict is None else self.verdict.record

    @property
    def has_data(self) -> bool:
        return self.record is not None and not self.record.state.is_bad


@dataclass(frozen=True, slots=True)
class Changed:
    """One thing that is another in the later of two attempts; None where that attempt does not say."""

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class InputChanged:
    ref: PartitionRef
    before: str | None
    """None: it was not read."""
    after: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two attempts."""

    before: int
    after: int
    changed: tuple[Changed, ...]
    inputs: tuple[InputChanged, ...]
    source_diff: tuple[str, ...]
    """Of the text of the job's function, as `diff -u` writes it."""

    @property
    def is_nothing(self) -> bool:
        return not (self.changed or self.inputs or self.source_diff)


@dataclass(frozen=True, slots=True)
class PartitionHistory:
    known: Known
    ref: PartitionRef
    tells: tuple[Tell, ...]
    comparisons: tuple[Comparison, ...]


def history(
    known: Known, ref: PartitionRef, runs: Sequence[Unanswered], compared: tuple[int, int] | None = None
) -> PartitionHistory:
    """The attempts, and what changed between neighbours, or between the two that are `compared`."""
    tells = _tells(known, ref, runs)
    if compared is not None:
        pairs = [(_numbered(tells, compared[0]), _numbered(tells, compared[1]))]
    else:
        pairs = [(before, tell) for tell in tells if (before := _neighbour(tells, tell)) is not None]
    return PartitionHistory(known, ref, tells, tuple(compare(before, after) for before, after in pairs))


def _tells(known: Known, ref: PartitionRef, runs: Sequence[Unanswered]) -> tuple[Tell, ...]:
    found = [_tell(known, ref, seen) for seen in known.log(ref)]
    found += [Tell(0, run.asked if run.attempt is None else run.attempt.started, unanswered=run) for run in runs]
    ordered = sorted(found, key=lambda tell: tell.at)
    return tuple(replace(one, number=number) for number, one in enumerate(ordered, 1))


def _tell(known: Known, ref: PartitionRef, seen: Seen) -> Tell:
    if not isinstance(seen.fact, PartitionRecord):
        return Tell(0, seen.at, stranger=seen)
    verdict = Verdict(seen, seen.fact)
    tried = known.tried.get(verdict.attempt)
    if tried is None or not tried.attempt.scene:
        return Tell(0, seen.at, verdict)
    scene = parse_scene(tried.attempt.scene)
    return Tell(0, seen.at, verdict, source=scene.source, dataset=scene.graph.nodes[ref.asset].dataset)


def _neighbour(tells: Sequence[Tell], tell: Tell) -> Tell | None:
    """What an attempt is compared with: of one that left data the last before it that did, else the one before it."""
    earlier = tells[: tell.number - 1]
    if tell.verdict is None or not earlier:
        return None
    with_data = [one for one in earlier if one.has_data]
    if tell.has_data and with_data:
        return with_data[-1]
    return next((one for one in reversed(earlier) if one.verdict is not None), None)


def _numbered(tells: Sequence[Tell], number: int) -> Tell:
    if 1 <= number <= len(tells):
        return tells[number - 1]
    there = f"there are 1 to {len(tells)}" if tells else "there is none yet"
    raise BadPartitionError("number of an attempt", number, f"{there}; `lineage-assets history` lists them")


def compare(before: Tell, after: Tell) -> Comparison:
    """What is another in the later one, of what both say."""
    return Comparison(
        before.number,
        after.number,
        tuple(_changes(before, after)),
        tuple(_input_changes(before.record, after.record)),
        tuple(_source_diff(before.source, after.source)),
    )


def _changes(before: Tell, after: Tell) -> Iterator[Changed]:
    one, two = before.record, after.record
    if one is not None and two is not None:
        yield from _changed(("state", one.state.value, two.state.value), ("cause", _cause(one), _cause(two)))
        yield from _changed(("code version", one.code_version, two.code_version))
        said = (
            ("rows", _text(one.rows), _text(two.rows)),
            ("data version", one.fingerprint, two.fingerprint),
            ("landing version", one.landing, two.landing),
            ("Spark", one.spark_version, two.spark_version),
        )
        # What was not computed has no content that could have changed.
        yield from _changed(*(each for each in said if None not in each))
        if one.nulls and two.nulls:
            yield from _by_name("nulls in", one.nulls, two.nulls)
        if one.columns and two.columns:
            yield from _by_name("sources of", _sources(one), _sources(two))
    if before.source is not None and after.source is not None and before.source.commit != after.source.commit:
        yield Changed("commit", before.source.commit, after.source.commit)
    if before.dataset is not None and after.dataset is not None:
        types = ({column.name: column.type for column in each.fields} for each in (before.dataset, after.dataset))
        yield from _by_name("column", *types)


def _changed(*said: tuple[str, str | None, str | None]) -> Iterator[Changed]:
    return (Changed(*each) for each in said if each[1] != each[2])


def _by_name(what: str, before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[Changed]:
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield Changed(f"{what} {name}", _text(before.get(name)), _text(after.get(name)))


def _sources(record: PartitionRecord) -> dict[str, str]:
    """Column to the input columns it is made from, as observed."""
    return {
        column: ", ".join(sorted(f"{name_of(one.asset)}.{one.column}" for one in made))
        for column, made in record.columns.items()
    }


def _input_changes(before: PartitionRecord | None, after: PartitionRecord | None) -> Iterator[InputChanged]:
    """Only between attempts that read anything: a block and a missing file read nothing, and say nothing of inputs."""
    if before is None or after is None or not before.inputs or not after.inputs:
        return
    assets: list[AssetKey] = sorted({*before.inputs, *after.inputs})
    for asset in assets:
        one, two = before.inputs.get(asset, {}), after.inputs.get(asset, {})
        for partition in sorted({*one, *two}):
            if (partition in one, one.get(partition)) != (partition in two, two.get(partition)):
                yield InputChanged(PartitionRef(asset, partition), one.get(partition), two.get(partition))


def _source_diff(before: SourceCode | None, after: SourceCode | None) -> Iterator[str]:
    if before is None or after is None or not before.text or not after.text or before.text == after.text:
        return iter(())
    one, two = (f"{each.path or 'source'}@{(each.commit or 'unknown')[:12]}" for each in (before, after))
    return difflib.unified_diff(before.text.splitlines(), after.text.splitlines(), one, two, lineterm="")


def _cause(record: PartitionRecord) -> str | None:
    return None if record.cause is None else f"{record.cause.kind}: {record.cause.message}"


def _text(value: object) -> str | None:
    return None if value is None else str(value)
