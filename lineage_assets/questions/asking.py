"""Each question from its words to its answer: checks them, reads what is needed, and hands it to the pure part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from lineage_assets.errors import BadPartitionError
from lineage_assets.graph import AssetGraph, AssetKey, name_of
from lineage_assets.ledger.record import PartitionRef
from lineage_assets.partitions import PartitionSet, key_of, parse_day
from lineage_assets.questions.gather import (
    Logs,
    first_recorded,
    read_attempts,
    read_logs,
    read_reasons,
    read_upstream,
)
from lineage_assets.questions.history import PartitionHistory, history
from lineage_assets.questions.impact import Impact, impact, reached_by, refs_of
from lineage_assets.questions.known import Known, Log, Verdict, newest, published, verdicts
from lineage_assets.questions.why import Why, data_of, why

DEFAULT_DEPTH = 10
_DOTS = re.compile(r"\.{2,3}")


@dataclass(frozen=True, slots=True)
class Asker:
    """The ledger of a project at a time."""

    graph: AssetGraph
    logs: Logs
    at: datetime
    code_now: Mapping[AssetKey, str] = field(default_factory=dict)
    """Empty where the question is asked of the past: what the code was then is in records alone."""
    later: Logs | None = None
    """Where the question is asked of the past: the logs as they are by now, which say what was still to come."""

    def why(self, asset: str, partition: str, depth: int = DEFAULT_DEPTH) -> Why:
        ref = self._ref(asset, partition, "why")
        # How it stands does not hang on how much of it is to be shown.
        known, is_cut = self._upstream([ref], max(depth, DEFAULT_DEPTH))
        data = data_of(known, ref, depth)
        last = newest(known.log(ref))
        wanted = [*([] if last is None else [last]), *(made.verdict for made in data)]
        known = self._told(known, wanted, [ref])
        runs = self.logs.unanswered(ref.asset, ref.partition, known.log(ref))
        # Only a cut of the walk itself; what was read and has no record above is no cut.
        return why(known, ref, data, runs, is_cut=is_cut)

    def impact(self, asset: str, partitions: str) -> Impact:
        """`partitions` is a day, or two with `..` between them, or with Dagster's `...`."""
        first, *last = _DOTS.split(partitions, maxsplit=1)
        key, days = self._asked(asset, first, last[0] if last else first)
        reached = reached_by(self.graph, key, days, self.at)
        asked = list(refs_of({key: days}))
        known, _ = self._upstream(asked, DEFAULT_DEPTH)
        below = read_logs(self.logs, [ref for ref in refs_of(reached) if ref not in known.logs])
        known = replace(known, logs={**known.logs, **below})
        shown = [published(known.log(ref)) for ref in (*asked, *refs_of(reached))]
        return impact(self._told(known, [one for one in shown if one is not None], asked), key, days)

    def history(self, asset: str, partition: str, compared: tuple[int, int] | None = None) -> PartitionHistory:
        ref = self._ref(asset, partition, "history")
        logs = read_logs(self.logs, [ref])
        known = self._told(self._known(logs), list(verdicts(logs[ref])), [ref])
        runs = self.logs.unanswered(ref.asset, ref.partition, logs[ref])
        return history(known, ref, runs, compared)

    def _known(self, logs: Mapping[PartitionRef, Log]) -> Known:
        return Known(self.graph, self.at, logs, code_now=self.code_now, is_past=self.later is not None)

    def _upstream(self, refs: list[PartitionRef], depth: int) -> tuple[Known, bool]:
        logs, is_cut = read_upstream(self.graph, self.logs, refs, depth)
        return self._known(logs), is_cut

    def _told(self, known: Known, shown: Sequence[Verdict], asked: Sequence[PartitionRef]) -> Known:
        """With the attempts and the reasons behind what is shown; and, of a past that has nothing, what came first."""
        is_nothing = not any(known.log(ref) for ref in asked)
        return replace(
            known,
            tried=read_attempts(self.logs, shown),
            reasons=read_reasons(self.logs, shown),
            began=first_recorded(self.later, asked) if self.later is not None and is_nothing else None,
        )

    def _ref(self, asset: str, partition: str, question: str) -> PartitionRef:
        if _DOTS.search(partition):
            mend = f"{question} is asked of one day; impact takes a range: `lineage-assets impact {asset} {partition}`"
            raise BadPartitionError("partition", partition, mend)
        key, days = self._asked(asset, partition, partition)
        return PartitionRef(key, key_of(days.ranges[0][0]))

    def _asked(self, asset: str, first: str, last: str) -> tuple[AssetKey, PartitionSet]:
        """Refused with the nearest name, or with the partitions that there were at the time."""
        key = self.graph.find(asset)
        partitions = self.graph.nodes[key].partitions
        start, end = parse_day(first), parse_day(last)
        if end < start:
            raise BadPartitionError("range", f"{first}..{last}", f"put the earlier day first: {last}..{first}")
        return key, partitions.asked(name_of(key), start, end, now=self.at)
