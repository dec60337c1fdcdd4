"""Words that the answers share: runs, times and code as people read them. Layout only; takes values, asks nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from rich.console import Console
from rich.text import Text

from lineage_assets.graph import name_of
from lineage_assets.ledger.record import Cause, PartitionRecord, PartitionRef
from lineage_assets.ledger.scene import SourceCode
from lineage_assets.ledger.seen import Unanswered
from lineage_assets.questions.known import Known

_SHORT = 8
_SHORT_COMMIT = 12


def short(identity: str | None) -> str:
    """The first digits of a run or version, enough to tell it from others; all of a word."""
    return "none" if identity is None else identity[:_SHORT]


def commit_text(commit: str | None) -> str:
    return "unknown" if commit is None else commit[:_SHORT_COMMIT]


def time_text(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def print_note(console: Console, note: str | None) -> None:
    """What goes before an answer, on a line of its own."""
    if note is not None:
        console.print(Text(note, style="yellow"), soft_wrap=True)


def past_text(known: Known) -> Iterator[str]:
    """What a reader must be told of an answer of the past, first of all."""
    if known.is_past:
        nothing = (
            "" if known.began is None else f"; nothing was on record yet, the first is of {time_text(known.began)}"
        )
        yield f"as of {time_text(known.at)}, not of now{nothing}"


def partition_text(ref: PartitionRef) -> str:
    return f"{name_of(ref.asset)} {ref.partition}"


def cause_text(cause: Cause | None) -> str:
    return "no cause was recorded" if cause is None else f"{cause.kind}: {cause.message}"


def run_text(record: PartitionRecord, reason: str | None = None) -> str:
    """The Dagster run in full, so that it can be copied, and why its backfill was asked for."""
    of = "" if record.backfill is None else f", backfill {record.backfill}"
    of += "" if reason is None else f' "{" ".join(reason.split())}"'
    return f"run {record.run_id}, attempt {record.number}{of}"


def code_text(record: PartitionRecord, source: SourceCode | None) -> str:
    version = f"version {short(record.code_version)}"
    if source is None or source.commit is None:
        return f"{version}, no git commit is known"
    path = "" if source.path is None else f", {source.path}"
    kept = "" if source.repository is None else f" of repository {source.repository}"
    return f"{version}, commit {commit_text(source.commit)}{path}{kept}"


def rows_text(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


def data_text(record: PartitionRecord) -> str:
    """Version, rows, snapshot, checks and landing files of one partition's data."""
    said = [f"version {short(record.fingerprint)}"]
    if record.rows is not None:
        said.append(rows_text(record.rows))
    if record.snapshot is not None:
        said.append(f"snapshot {record.snapshot}")
    if record.landing is not None:
        said.append(f"landing files {short(record.landing)}")
    return ", ".join([*said, *checks_text([record])])


def many_data_text(records: Sequence[PartitionRecord]) -> str:
    """The same of a range's data, each partition of which has its own."""
    counted = [record.rows for record in records if record.rows is not None]
    landed = {record.landing for record in records if record.landing is not None}
    said = [f"{len(records)} versions"]
    if counted:
        said.append(f"{rows_text(sum(counted))} in all")
    if landed:
        each = short(next(iter(landed))) if len(landed) == 1 else f"in {len(landed)} versions"
        said.append(f"landing files {each}")
    return ", ".join([*said, *checks_text(records)])


def checks_text(records: Iterable[PartitionRecord]) -> Iterator[str]:
    checks = [one.success for record in records for one in record.assertions]
    if checks:
        yield f"{sum(checks)} of {len(checks)} {'check' if len(checks) == 1 else 'checks'} passed"


def unanswered_text(run: Unanswered) -> str:
    """A run that gave no verdict: that it goes on, or how it ended."""
    if run.is_live:
        return f"run {run.run_id} is to make it ({run.status}), asked at {time_text(run.asked)}"
    why = "" if run.closing is None else f": {run.closing.cause.message}"
    return f"run {run.run_id}, asked at {time_text(run.asked)}, ended without a verdict ({run.status}){why}"
