"""A backfill as a person asks for it: the words of a command line or a launchpad, before they are checked.

Pure; the one place where words become a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.errors import LineageAssetsError
from lineage_assets.graph import AssetGraph, name_of
from lineage_assets.partitions import parse_day


class PlanMovedError(LineageAssetsError):
    """The plan that was looked at is not the one that would be run."""

    def __init__(self, seen: str, now: str) -> None:
        self.seen = seen
        self.now = now
        super().__init__(
            f"The plan {seen} is out of date: the same request now gives plan {now}. "
            "Look at it with `lineage-assets plan`, and ask again."
        )


@dataclass(frozen=True, slots=True)
class Ask:
    """What to redo, in whose name, and why."""

    asset: str
    first: str
    last: str | None = None
    """None: the first alone."""
    include_root: bool = True
    reason: str = ""
    requested_by: str = ""
    plan: str = ""
    """The fingerprint of the plan that the person has seen; empty when nobody has."""

    def request(self, graph: AssetGraph, now: datetime) -> BackfillRequest:
        """The request these words mean; refused with the nearest name, or with the partitions there are."""
        key = graph.find(self.asset)
        first, last = parse_day(self.first), parse_day(self.last if self.last is not None else self.first)
        partitions = graph.nodes[key].partitions.asked(name_of(key), first, last, now=now)
        return BackfillRequest.downstream_of(key, partitions, include_root=self.include_root)

    def plan_at(self, graph: AssetGraph, now: datetime) -> BackfillPlan:
        """The plan that answers them; refused when a plan was seen and this is another."""
        plan = plan_backfill(graph, self.request(graph, now), now=now)
        if self.plan and plan.fingerprint != self.plan:
            raise PlanMovedError(self.plan[:16], plan.name)
        return plan

    @property
    def command(self) -> str:
        """The same as a command line."""
        last = self.last if self.last is not None else self.first
        rootless = "" if self.include_root else " --without-root"
        return f"lineage-assets backfill {self.asset} --from {self.first} --to {last}{rootless}"

    def to_config(self) -> dict[str, Any]:
        """The words as configuration of the driver's job, left out where they are the default."""
        last = {} if self.last is None else {"to": self.last}
        said = {name: getattr(self, name) for name in ("reason", "requested_by", "plan") if getattr(self, name)}
        return {"asset": self.asset, "from": self.first, **last, "include_root": self.include_root, **said}


def ask_from_config(config: Mapping[str, Any]) -> Ask:
    """The words that `to_config` gave, or that a person typed into the launchpad."""
    return Ask(
        asset=config["asset"],
        first=config["from"],
        last=config.get("to"),
        include_root=config.get("include_root", True),
        reason=config.get("reason", ""),
        requested_by=config.get("requested_by", ""),
        plan=config.get("plan", ""),
    )
