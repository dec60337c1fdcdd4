"""The command that makes a server equal to the ledger again, by what a comparison found. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from lineage_assets.partitions import PartitionSet
from lineage_assets.reconcile.expected import JobReport, Kind
from lineage_assets.reconcile.selection import Selection

_MOST_NAMED = 4
"""Assets in a command; where more differ, all are told again: who has it already stays as it is."""
REPLAY = "lineage-assets lineage replay"
FLUSH = "lineage-assets lineage flush"


def mends(reports: Iterable[JobReport]) -> tuple[str, ...]:
    """What to run, in order: a flush for what nobody closed, a replay for what is to be told again."""
    bad = [report for report in reports if not report.is_equal]
    is_open = any(found.kind is Kind.OPEN for report in bad for found in report.found)
    again = [report for report in bad if report.is_missing or report.missing_datasets or _to_tell(report)]
    commands = [FLUSH] if is_open else []
    return (*commands, replay_command(_covering(again))) if again else tuple(commands)


def replay_command(selection: Selection) -> str:
    """The command that tells this part of the ledger again."""
    return " ".join([REPLAY, *([] if selection.is_all else [selection.options()])])


def _covering(reports: Iterable[JobReport]) -> Selection:
    """The smallest short selection with all that differs; a backfill is in none but that of everything."""
    every = list(reports)
    if any(not report.assets for report in every):
        return Selection()
    named = frozenset(asset for report in every for asset in report.assets)
    assets = named if len(named) <= _MOST_NAMED else frozenset()
    found = [_to_tell(report) for report in every]
    if not all(found):  # a job or dataset that is gone though none of its runs is
        return Selection(assets)
    ordinals = [one for partitions in found for one in partitions.ranges]
    first, last = min(first for first, _ in ordinals), max(last for _, last in ordinals)
    return Selection(assets, date.fromordinal(first), date.fromordinal(last))


def _to_tell(report: JobReport) -> PartitionSet:
    told = (found.partitions for found in report.found if found.kind is not Kind.OPEN)
    return PartitionSet.of_ranges(one for partitions in told for one in partitions.ranges)
