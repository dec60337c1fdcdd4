"""Whether an old result stands: the same inputs and code in the partition's own record. Pure.

That nothing changed in this plan decides nothing; only the record does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lineage_assets.assets.programs import Ready
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.record import PartitionRecord

HoldsSnapshot = Callable[[AssetKey, int], bool]
"""Whether a table's current data descends from a snapshot."""


def standing(
    partition: str, ready: Ready, history: History, code_version: str, holds: HoldsSnapshot
) -> PartitionRecord | None:
    """The record whose data stands for this partition, or None when it must be computed."""
    record = history.published.get(partition)
    if record is None or partition in history.unrecorded or record.drift:
        return None
    same_inputs = _plain(record.inputs) == _plain(ready.go.versions)
    same_landing = record.landing == landing_version_of(ready)
    if record.code_version != code_version or not same_inputs or not same_landing:
        return None
    if record.snapshot is not None and not holds(record.asset, record.snapshot):
        return None
    return record


def landing_version_of(ready: Ready) -> str | None:
    """The versions of all landing files a partition reads, as one text; None when it reads none."""
    return ",".join(landed.version for _, landed in sorted(ready.landed.items())) or None


def _plain(versions: Mapping[AssetKey, Mapping[str, str | None]]) -> dict[AssetKey, dict[str, str | None]]:
    return {asset: dict(days) for asset, days in versions.items()}
