"""Each question from its words to its answer: checks them, reads what is needed, and hands it to the pure part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from lineage_assets.graph import AssetGraph, AssetKey, name_of
from lineage_assets.ledger.record import PartitionRef
from lineage_assets.partitions import PartitionSet, key_of, parse_day
from lineage_assets.questions.gather import Logs, read_attempts, read_logs, read_upstream
from lineage_assets.questions.history import PartitionHistory, history
from lineage_assets.questions.impact import Impact, impact, reached_by, refs_of
from lineage_assets.questions.known import Known, newest, published, verdicts
from lineage_assets.questions.why import Why, data_of, why

DEFAULT_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Asker:
    """The ledger of a project at a time."""

    graph: AssetGraph
    logs: Logs
    at: datetime
    code_now: Mapping[AssetKey, str] = field(default_factory=dict)
    """Empty where the question is asked of the past: what the code was then is in records alone."""

    def why(self, asset: str, partition: str, depth: int = DEFAULT_DEPTH) -> Why:
        ref = self._ref(asset, partition)
        known, is_cut = self._upstream([ref], depth)
        data = data_of(known, ref, depth)
        last = newest(known.log(ref))
        wanted = [*([] if last is None else [last]), *(made.verdict for made in data)]
        known = replace(known, tried=read_attempts(self.logs, wanted))
        runs = self.logs.unanswered(ref.asset, ref.partition, known.log(ref))
        # Only a cut of the walk itself; what was read and has no record above is no cut.
        return why(known, ref, data, runs, is_cut=is_cut)

    def impact(self, asset: str, partitions: str) -> Impact:
        """`partitions` is a day, or two with `..` between them."""
        first, dots, last = partitions.partition("..")
        key, days = self._asked(asset, first, last if dots else first)
        reached = reached_by(self.graph, key, days, self.at)
        asked = list(refs_of({key: days}))
        known, _ = self._upstream(asked, DEFAULT_DEPTH)
        below = read_logs(self.logs, [ref for ref in refs_of(reached) if ref not in known.logs])
        known = replace(known, logs={**known.logs, **below})
        shown = [published(known.log(ref)) for ref in (*asked, *refs_of(reached))]
        return impact(
            replace(known, tried=read_attempts(self.logs, [one for one in shown if one is not None])), key, days
        )

    def history(self, asset: str, partition: str, compared: tuple[int, int] | None = None) -> PartitionHistory:
        ref = self._ref(asset, partition)
        logs = read_logs(self.logs, [ref])
        tried = read_attempts(self.logs, verdicts(logs[ref]))
        runs = self.logs.unanswered(ref.asset, ref.partition, logs[ref])
        return history(Known(self.graph, self.at, logs, tried, self.code_now), ref, runs, compared)

    def _upstream(self, refs: list[PartitionRef], depth: int) -> tuple[Known, bool]:
        logs, is_cut = read_upstream(self.graph, self.logs, refs, depth)
        return Known(self.graph, self.at, logs, code_now=self.code_now), is_cut

    def _ref(self, asset: str, partition: str) -> PartitionRef:
        key, days = self._asked(asset, partition, partition)
        return PartitionRef(key, key_of(days.ranges[0][0]))

    def _asked(self, asset: str, first: str, last: str) -> tuple[AssetKey, PartitionSet]:
        """Refused with the nearest name, or with the partitions that there were at the time."""
        key = self.graph.find(asset)
        partitions = self.graph.nodes[key].partitions
        return key, partitions.asked(name_of(key), parse_day(first), parse_day(last), now=self.at)
