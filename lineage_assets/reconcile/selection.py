"""What part of the ledger is meant: some assets, some days, or all of it. Values, and the words that name it again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from lineage_assets.errors import BadPartitionError
from lineage_assets.graph import AssetGraph, AssetKey, name_of
from lineage_assets.lineage.retelling import OpenAttempt
from lineage_assets.partitions import PartitionSet, parse_day


@dataclass(frozen=True, slots=True)
class Selection:
    """Assets and days; what is not said is not limited."""

    assets: frozenset[AssetKey] = frozenset()
    first: date | None = None
    last: date | None = None

    @property
    def is_all(self) -> bool:
        return not self.assets and self.is_every_day

    @property
    def is_every_day(self) -> bool:
        return self.first is None and self.last is None

    def has_asset(self, asset: AssetKey) -> bool:
        return not self.assets or asset in self.assets

    def days(self, partitions: PartitionSet) -> PartitionSet:
        """Those of the partitions that are meant."""
        if self.is_every_day:
            return partitions
        first = date.min if self.first is None else self.first
        last = date.max if self.last is None else self.last
        return partitions & PartitionSet.between(first.toordinal(), last.toordinal())

    def touches(self, attempt: OpenAttempt) -> bool:
        return any(self.has_asset(one.asset) and self.days(one.partitions) for one in attempt.attempts)

    def options(self) -> str:
        """As it is given to a command; empty when it means everything."""
        said = [f"--asset {name_of(asset)}" for asset in sorted(self.assets)]
        said += [] if self.first is None else [f"--from {self.first}"]
        said += [] if self.last is None else [f"--to {self.last}"]
        return " ".join(said)


def select(
    names: Iterable[str], first: str | None, last: str | None, *, graph: AssetGraph, known: Iterable[AssetKey]
) -> Selection:
    """What a person named; an asset may be one that only the log still knows.

    Raises `UnknownAssetError`, `AmbiguousAssetError` or `BadPartitionError`.
    """
    logged = {name_of(key): key for key in known}
    assets = frozenset(logged[name] if name in logged else graph.find(name) for name in names)
    start = None if first is None else parse_day(first)
    end = None if last is None else parse_day(last)
    if start is not None and end is not None and end < start:
        raise BadPartitionError("range", f"{start}..{end}", f"swap the two: --from {end} --to {start}")
    return Selection(assets, start, end)
