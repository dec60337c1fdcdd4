"""What a person asks to have redone: partitions of assets, and with them everything that reads them.

A value; knows neither the graph nor what follows from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lineage_assets.graph import AssetKey
from lineage_assets.partitions import PartitionSet, key_of, parse_day

RangesJson = list[list[str]]


@dataclass(frozen=True, slots=True)
class Root:
    """Partitions of one asset from which a backfill starts."""

    asset: AssetKey
    partitions: PartitionSet


@dataclass(frozen=True, slots=True)
class BackfillRequest:
    """The roots of a backfill, one an asset and sorted by asset."""

    roots: tuple[Root, ...]
    include_roots: bool = True
    """False when the roots stand as they are and only what reads them is redone."""

    @classmethod
    def of(cls, roots: Iterable[Root], *, include_roots: bool = True) -> BackfillRequest:
        """The request for `roots` in any order; those of one asset become one."""
        merged: dict[AssetKey, PartitionSet] = {}
        for root in roots:
            merged[root.asset] = merged.get(root.asset, PartitionSet()) | root.partitions
        return cls(tuple(Root(asset, merged[asset]) for asset in sorted(merged)), include_roots)

    @classmethod
    def downstream_of(cls, asset: AssetKey, partitions: PartitionSet, *, include_root: bool = True) -> BackfillRequest:
        """The request for one asset's partitions and everything that reads them."""
        return cls((Root(asset, partitions),), include_root)

    @property
    def partitions(self) -> Mapping[AssetKey, PartitionSet]:
        return {root.asset: root.partitions for root in self.roots}

    def to_json(self) -> dict[str, object]:
        return {
            "roots": [{"asset": list(root.asset), "ranges": ranges_json(root.partitions)} for root in self.roots],
            "include_roots": self.include_roots,
        }


def request_from_json(read: Mapping[str, object]) -> BackfillRequest:
    """The request that `to_json` gave; a `KeyError`, `TypeError` or refusal of a day when it is none."""
    roots = read["roots"]
    include = read["include_roots"]
    if not isinstance(roots, list) or not isinstance(include, bool):
        raise TypeError(roots, include)
    return BackfillRequest.of(
        (Root(tuple(root["asset"]), set_from_json(root["ranges"])) for root in roots), include_roots=include
    )


def ranges_json(partitions: PartitionSet) -> RangesJson:
    """First and last partition key of each range."""
    return [[key_of(first), key_of(last)] for first, last in partitions.ranges]


def set_from_json(ranges: Sequence[Sequence[str]]) -> PartitionSet:
    return PartitionSet.of_ranges((parse_day(first).toordinal(), parse_day(last).toordinal()) for first, last in ranges)
