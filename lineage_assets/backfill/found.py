"""How partitions stand before a plan is run, read off the ledger's histories and marked in the plan.

Pure; marks for people, on which nothing that is planned depends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from lineage_assets.backfill.impact import NOTHING
from lineage_assets.backfill.plan import BackfillPlan, Found
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.record import State
from lineage_assets.partitions import PartitionSet, set_of

_FOUND = {State.GOOD: Found.GOOD, State.REUSED: Found.GOOD, State.FAILED: Found.FAILED, State.BLOCKED: Found.BLOCKED}

Standing = Mapping[str, Found]
"""How each partition of an asset stands of which anything is known."""


def standing(history: History) -> Standing:
    """Each partition by its newest verdict, or as not adopted when it was made without us since."""
    verdicts = {partition: _FOUND[record.state] for partition, record in history.verdicts.items()}
    return {**verdicts, **dict.fromkeys(history.unrecorded, Found.NOT_ADOPTED)}


def marked(plan: BackfillPlan, found: Mapping[AssetKey, Standing]) -> BackfillPlan:
    """The same plan, with marks in the assets that were looked up; it keeps its fingerprint."""
    assets = (
        replace(planned, found=_marks(planned.partitions, found[planned.asset])) if planned.asset in found else planned
        for planned in plan.assets
    )
    return replace(plan, assets=tuple(assets))


def _marks(planned: PartitionSet, found: Standing) -> dict[Found, PartitionSet]:
    keys: dict[Found, list[str]] = defaultdict(list)
    for partition, one in found.items():
        keys[one].append(partition)
    sets = {one: set_of(partitions) & planned for one, partitions in keys.items()}
    sets[Found.MISSING] = planned - set_of(found)
    return {one: sets[one] for one in Found if sets.get(one, NOTHING)}
