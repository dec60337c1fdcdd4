"""The driver's loop: a plan's units, one after the other, in plan order, on a lane.

Pure but for the lane that it is given; knows no Dagster. What is blocked is the gate's to say, inside each run: the
loop goes on after a bad unit, and leaves out only what reads partitions that a run gave no verdict on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from lineage_assets.backfill.impact import NOTHING
from lineage_assets.backfill.plan import BackfillPlan, Unit
from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.record import PartitionRecord
from lineage_assets.partitions import PartitionSet, set_of


@dataclass(frozen=True, slots=True)
class Begun:
    """A unit is about to run."""

    unit: Unit


@dataclass(frozen=True, slots=True)
class Ran:
    """A unit's run has ended."""

    unit: Unit
    run_id: str
    records: tuple[PartitionRecord, ...]
    """The verdicts that the run gave; none on a partition when the run died before."""
    is_interrupted: bool = False
    """Somebody asked this process to end meanwhile."""

    def without_verdict(self, asset: AssetKey) -> PartitionSet:
        judged = set_of(record.partition for record in self.records if record.asset == asset)
        return self.unit.partitions - judged


@dataclass(frozen=True, slots=True)
class Stopped:
    """A person ended the backfill; nothing more is run."""


Step = Begun | Ran | Stopped


class Lane(Protocol):
    """What runs units."""

    def run(self, unit: Unit) -> Ran: ...

    def is_stopped(self) -> bool:
        """Whether a person has asked that nothing more be run."""


def drive(plan: BackfillPlan, graph: AssetGraph, lane: Lane) -> Iterator[Step]:
    """Run the plan; each step is given out as it happens."""
    lost: dict[AssetKey, PartitionSet] = {}
    for planned in plan.units:
        unread = _readers_of(lost, graph, planned)
        for asset in planned.assets:
            lost[asset] = lost.get(asset, NOTHING) | unread
        for left in (planned.partitions - unread).ranges:
            unit = replace(planned, range=left)
            if lane.is_stopped():
                yield Stopped()
                return
            yield Begun(unit)
            ran = lane.run(unit)
            yield ran
            for asset in unit.assets:
                lost[asset] = lost.get(asset, NOTHING) | ran.without_verdict(asset)
            if ran.is_interrupted:
                yield Stopped()
                return


def _readers_of(lost: Mapping[AssetKey, PartitionSet], graph: AssetGraph, unit: Unit) -> PartitionSet:
    """Those of a unit's partitions that would read what this backfill should have redone and has not.

    They must not run: the old data there may be good, but it is not what the plan promised to compute from.
    """
    reached = (
        read.window.affects(lost.get(read.asset, NOTHING))
        for asset in unit.assets
        for read in graph.nodes[asset].inputs
    )
    return PartitionSet.of_ranges(each for one in reached for each in one.ranges) & unit.partitions
