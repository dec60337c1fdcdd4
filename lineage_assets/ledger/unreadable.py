"""What lies in the log and cannot be read: written by newer code than this, or damaged."""

from __future__ import annotations

from lineage_assets.errors import LineageAssetsError
from lineage_assets.graph import AssetKey, name_of


class UnreadableRecordError(LineageAssetsError):
    """A record of ours in the log, or the scene that it carries, is not understood."""

    def __init__(self, asset: AssetKey, run_id: str, version: object, reason: str) -> None:
        self.asset = asset
        self.run_id = run_id
        self.version = version
        self.reason = reason
        super().__init__(
            f'A record of "{name_of(asset)}" by run {run_id}, version {version}, cannot be read: {reason}. '
            "Upgrade lineage-assets here to what wrote it, or delete that run."
        )
