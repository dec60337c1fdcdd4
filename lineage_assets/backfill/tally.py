"""What has come of a plan so far: its partitions by their verdicts. A value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lineage_assets.backfill.impact import NOTHING
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.partitions import PartitionSet, set_of

Sets = Mapping[AssetKey, PartitionSet]


@dataclass(frozen=True, slots=True)
class Tally:
    """The verdicts on a plan's partitions; what has none was not run."""

    plan: BackfillPlan
    verdicts: Mapping[State, Sets] = field(default_factory=dict)
    is_cancelled: bool = False
    """A person ended it."""

    def with_records(self, records: Iterable[PartitionRecord]) -> Tally:
        """The tally with the verdicts of one more run added."""
        verdicts = {state: dict(sets) for state, sets in self.verdicts.items()}
        for state, sets in by_state(records).items():
            into = verdicts.setdefault(state, {})
            for asset, partitions in sets.items():
                into[asset] = into.get(asset, NOTHING) | partitions
        return replace(self, verdicts=verdicts)

    def cancelled(self) -> Tally:
        return replace(self, is_cancelled=True)

    def count(self, *states: State) -> int:
        """The partitions with one of these verdicts."""
        return sum(len(one) for state in states for one in self.verdicts.get(state, {}).values())

    def of(self, *states: State) -> Sets:
        """The partitions with one of these verdicts, by asset."""
        found: dict[AssetKey, PartitionSet] = {}
        for state in states:
            for asset, partitions in self.verdicts.get(state, {}).items():
                found[asset] = found.get(asset, NOTHING) | partitions
        return found

    @property
    def not_run(self) -> Sets:
        judged = self.of(*State)
        left = {planned.asset: planned.partitions - judged.get(planned.asset, NOTHING) for planned in self.plan.assets}
        return {asset: partitions for asset, partitions in left.items() if partitions}

    @property
    def not_run_count(self) -> int:
        return self.plan.partition_count - self.count(*State)

    def counted(self) -> dict[str, int]:
        """The partitions by what came of them, as the lineage record counts them."""
        return {
            "repaired": self.count(State.GOOD),
            "reused": self.count(State.REUSED),
            "failed": self.count(State.FAILED),
            "blocked": self.count(State.BLOCKED),
            "not_run": self.not_run_count,
        }

    @property
    def is_whole(self) -> bool:
        """Everything planned is there now."""
        return self.count(State.GOOD, State.REUSED) == self.plan.partition_count

    def __str__(self) -> str:
        counted = {
            "done": self.count(State.GOOD),
            "reused": self.count(State.REUSED),
            "failed": self.count(State.FAILED),
            "blocked": self.count(State.BLOCKED),
            "not run": self.not_run_count,
        }
        said = [f"{number:,} {word}" for word, number in counted.items() if number]
        return f"{', '.join(said) or '0 done'} of {self.plan.partition_count:,} partitions"


def by_state(records: Iterable[PartitionRecord]) -> dict[State, dict[AssetKey, PartitionSet]]:
    """The partitions of the records by state and asset; a later record of a partition replaces an earlier one."""
    newest = {(record.asset, record.partition): record.state for record in records}
    keys: dict[State, dict[AssetKey, list[str]]] = {}
    for (asset, partition), state in newest.items():
        keys.setdefault(state, {}).setdefault(asset, []).append(partition)
    return {state: {asset: set_of(days) for asset, days in sets.items()} for state, sets in keys.items()}
