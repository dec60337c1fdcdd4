"""How partitions stand before a plan is run, read off the ledger's histories.

Pure; a mark for people beside the plan, on which nothing that is planned depends.
"""

from __future__ import annotations

from collections.abc import Mapping

from lineage_assets.backfill.plan import Found
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.record import State

_FOUND = {State.GOOD: Found.GOOD, State.REUSED: Found.GOOD, State.FAILED: Found.FAILED, State.BLOCKED: Found.BLOCKED}


def found_in(histories: Mapping[AssetKey, History]) -> dict[AssetKey, dict[str, Found]]:
    """Per asset, how each partition of which anything is known stands."""
    return {asset: _of_one(history) for asset, history in histories.items()}


def _of_one(history: History) -> dict[str, Found]:
    verdicts = {partition: _FOUND[record.state] for partition, record in history.verdicts.items()}
    return {**verdicts, **dict.fromkeys(history.unrecorded, Found.NOT_ADOPTED)}
