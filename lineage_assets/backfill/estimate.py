"""How long a plan may take, from what the same assets took before. Pure.

A rough word for the record: a unit is one program, and takes about what the last programs of its asset took.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.record import PartitionRecord, State

_LAST_PROGRAMS = 10


def estimate_seconds(plan: BackfillPlan, histories: Mapping[AssetKey, History]) -> float | None:
    """Seconds for all units, one after the other; None where an asset was never computed."""
    total = 0.0
    for unit in plan.units:
        known = [_seconds(histories[asset].published.values()) for asset in unit.assets if asset in histories]
        seconds = [one for one in known if one is not None]
        if not seconds:
            return None
        total += max(seconds)
    return round(total, 1)


def _seconds(records: Iterable[PartitionRecord]) -> float | None:
    """What the last programs of an asset took, the middle one of them."""
    computed = sorted((record for record in records if record.state is State.GOOD), key=lambda record: record.ended)
    programs = {(record.run_id, record.number): record for record in computed}
    took = [(record.ended - record.started).total_seconds() for record in list(programs.values())[-_LAST_PROGRAMS:]]
    return median(took) if took else None
