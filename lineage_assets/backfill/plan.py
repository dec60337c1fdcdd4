"""The answer to a request: what is to be redone, in which order, and because of what.

A value, sorted, with a fingerprint: what `plan` prints, `--json` gives and `backfill` runs is this and nothing else.
Knows neither how it was found nor how it is run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from lineage_assets.backfill.impact import NOTHING, Reads
from lineage_assets.backfill.request import BackfillRequest, ranges_json, request_from_json, set_from_json
from lineage_assets.errors import BadPartitionError, LineageAssetsError
from lineage_assets.graph import AssetKey, name_of
from lineage_assets.partitions import PartitionSet, Range, Window, ranges_text

PLAN_VERSION = 1


class BadPlanError(LineageAssetsError):
    """A text was given as a plan that is none, or that somebody changed."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"This is not a plan that can be run: {reason}. Write a new one with `lineage-assets plan`.")


class Found(Enum):
    """How a partition stood when the plan was made."""

    GOOD = "good"
    FAILED = "failed"
    BLOCKED = "blocked"
    MISSING = "never built"
    NOT_ADOPTED = "not adopted"
    """There, but without a record of ours."""


@dataclass(frozen=True, slots=True)
class Because:
    """Why one partition is in a plan: a person asked for it, or it reads partitions that change."""

    upstream: AssetKey | None
    """None: it was asked for."""
    window: Window | None = None
    partitions: PartitionSet = NOTHING
    """Of `upstream`: those that change and are in the partition's window."""


@dataclass(frozen=True, slots=True)
class PlannedAsset:
    """One asset's part in a plan."""

    asset: AssetKey
    wave: int
    partitions: PartitionSet
    requested: PartitionSet
    reads: tuple[Reads, ...]
    found: Mapping[Found, PartitionSet] = field(default_factory=dict)
    """Empty when nobody looked. No part of the fingerprint: the work is the same however things stand."""


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """What one run does: assets that one job makes together, over one contiguous range."""

    wave: int
    assets: tuple[AssetKey, ...]
    range: Range

    @property
    def partitions(self) -> PartitionSet:
        return PartitionSet((self.range,))

    def __str__(self) -> str:
        return f"{', '.join(name_of(asset) for asset in self.assets)} {ranges_text(self.partitions)}"


@dataclass(frozen=True)
class BackfillPlan:
    """Everything that a request changes, in an order in which it can be redone."""

    request: BackfillRequest
    assets: tuple[PlannedAsset, ...]
    """By wave, then key."""
    units: tuple[Unit, ...]
    """By wave, then assets, then range; each may run once all units of earlier waves are done."""

    @cached_property
    def by_asset(self) -> Mapping[AssetKey, PlannedAsset]:
        return {planned.asset: planned for planned in self.assets}

    @property
    def partition_count(self) -> int:
        return sum(len(planned.partitions) for planned in self.assets)

    @property
    def wave_count(self) -> int:
        return max((unit.wave for unit in self.units), default=0)

    def changing(self, asset: AssetKey) -> PartitionSet:
        """All partitions of `asset` that change: planned here, or named as changed by the request."""
        planned = self.by_asset.get(asset)
        redone = planned.partitions if planned is not None else NOTHING
        return redone | self.request.partitions.get(asset, NOTHING)

    def because(self, asset: AssetKey, partition: int) -> tuple[Because, ...]:
        """Every reason for which the partition is in the plan; none when it is not."""
        planned = self.by_asset.get(asset)
        if planned is None or partition not in planned.partitions:
            return ()
        asked = (Because(None),) if partition in planned.requested else ()
        own = PartitionSet(((partition, partition),))
        reached = (read for read in planned.reads if partition in read.partitions)
        return asked + tuple(
            Because(read.upstream, read.window, read.window.reads(own) & self.changing(read.upstream))
            for read in reached
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the plan's canonical JSON, how things stood left out."""
        work = {**self._work_json(), "assets": [_asset_json(planned) for planned in self.assets]}
        return hashlib.sha256(_canonical(work)).hexdigest()

    @property
    def name(self) -> str:
        """The first sixteen digits of the fingerprint: as tags and people carry it."""
        return self.fingerprint[:16]

    def to_json(self) -> dict[str, Any]:
        assets = [{**_asset_json(planned), "found": _found_json(planned.found)} for planned in self.assets]
        return {"fingerprint": self.fingerprint, **self._work_json(), "assets": assets}

    def to_text(self) -> str:
        """The plan as a file holds it; the same bytes for the same plan."""
        return json.dumps(self.to_json(), indent=2) + "\n"

    def _work_json(self) -> dict[str, Any]:
        units = [
            {
                "wave": unit.wave,
                "assets": [list(asset) for asset in unit.assets],
                "range": ranges_json(unit.partitions)[0],
            }
            for unit in self.units
        ]
        return {"version": PLAN_VERSION, "request": self.request.to_json(), "units": units}


def plan_from_text(text: str) -> BackfillPlan:
    """The plan that `to_text` wrote; refused when it is none, or not the one its fingerprint names."""
    try:
        read = json.loads(text)
        if read["version"] != PLAN_VERSION:
            raise BadPlanError(f"it has version {read['version']}, this program reads version {PLAN_VERSION}")
        plan = BackfillPlan(
            request_from_json(read["request"]),
            tuple(_asset_from_json(asset) for asset in read["assets"]),
            tuple(_unit_from_json(unit) for unit in read["units"]),
        )
        claimed = read["fingerprint"]
    except (ValueError, KeyError, TypeError, AttributeError, BadPartitionError) as error:
        raise BadPlanError(f"{type(error).__name__} at {error}") from error
    if plan.fingerprint != claimed:
        raise BadPlanError(f"it was changed after it was made: its fingerprint is {plan.fingerprint}, not {claimed}")
    return plan


def _canonical(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _asset_json(planned: PlannedAsset) -> dict[str, Any]:
    return {
        "asset": list(planned.asset),
        "wave": planned.wave,
        "ranges": ranges_json(planned.partitions),
        "because": {
            "requested": ranges_json(planned.requested),
            "reads": [
                {
                    "asset": list(read.upstream),
                    "window": [read.window.first, read.window.last],
                    "ranges": ranges_json(read.partitions),
                }
                for read in planned.reads
            ],
        },
    }


def _found_json(found: Mapping[Found, PartitionSet]) -> dict[str, Any]:
    return {state.value: ranges_json(found[state]) for state in Found if state in found}


def _asset_from_json(read: Mapping[str, Any]) -> PlannedAsset:
    because = read["because"]
    return PlannedAsset(
        asset=tuple(read["asset"]),
        wave=read["wave"],
        partitions=set_from_json(read["ranges"]),
        requested=set_from_json(because["requested"]),
        reads=tuple(
            Reads(tuple(each["asset"]), Window(*each["window"]), set_from_json(each["ranges"]))
            for each in because["reads"]
        ),
        found={Found(state): set_from_json(ranges) for state, ranges in read["found"].items()},
    )


def _unit_from_json(read: Mapping[str, Any]) -> Unit:
    (only,) = set_from_json([read["range"]]).ranges
    return Unit(read["wave"], tuple(tuple(asset) for asset in read["assets"]), only)
