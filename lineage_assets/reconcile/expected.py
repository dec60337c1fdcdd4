"""What Marquez ought to hold of a job by the ledger, and how what it does hold differs. Pure.

Compares what a reader of the record relies on, not every facet: how a run ended, on which partition, by which code,
and what it left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lineage_assets.errors import BadPartitionError
from lineage_assets.graph import AssetKey
from lineage_assets.lineage.turns import Turn, TurnType
from lineage_assets.marquez.shapes import Run
from lineage_assets.partitions import PartitionSet, parse_day, set_of

Json = Mapping[str, Any]
DatasetName = tuple[str, str]
"""Namespace and name."""

STATES = {TurnType.COMPLETE: "COMPLETED", TurnType.FAIL: "FAILED", TurnType.ABORT: "ABORTED"}
"""How Marquez calls a run that ended so."""


class Kind(Enum):
    """How Marquez may differ from the ledger."""

    MISSING = "missing"
    UNENDED = "not ended"
    """There, and running for ever."""
    STATE = "ended otherwise"
    CONTENT = "told otherwise"
    """The same run with another code version, other partitions or rows."""
    OPEN = "never closed"
    """The ledger itself has no end of it, and its process is gone."""


@dataclass(frozen=True, slots=True)
class Expected:
    """An ended lineage run, by the ledger."""

    run_id: str
    """Dagster's."""
    assets: tuple[AssetKey, ...]
    partitions: PartitionSet
    state: str
    code_version: str | None
    """None of a backfill: it runs no code of its own."""
    outputs: tuple[tuple[DatasetName, PartitionSet, int | None], ...]
    """What a completed run wrote: the dataset, its partitions, their rows."""

    @classmethod
    def of(cls, end: Turn) -> Expected:
        run = end.run
        outputs = end.outputs if end.type is TurnType.COMPLETE else ()
        return cls(
            run_id=run.run_id,
            assets=run.assets,
            partitions=run.partitions,
            state=STATES[end.type],
            code_version=run.code_version,
            outputs=tuple(((one.dataset.namespace, one.dataset.name), one.partitions, one.rows) for one in outputs),
        )


def difference(expected: Expected, found: Run) -> tuple[Kind, str] | None:
    """How a run in Marquez differs, in what, or None when it does not."""
    if found.ended_at is None or found.state not in STATES.values():
        return Kind.UNENDED, f"{found.state}, not {expected.state}"
    if found.state != expected.state:
        return Kind.STATE, f"{found.state}, not {expected.state}"
    other = sorted(_differing(expected, found))
    return (Kind.CONTENT, ", ".join(other)) if other else None


def partitions_of(found: Run) -> PartitionSet:
    """The partitions that a run in Marquez says it is of; none when it is not of our making."""
    facet = found.facets.get("lineageAssets_attempt", {})
    try:
        if "partition" in facet:
            return set_of([facet["partition"]])
        first, last = (parse_day(facet["partitions"][end]).toordinal() for end in ("first", "last"))
        return PartitionSet.between(first, last)
    except (KeyError, TypeError, BadPartitionError):
        return PartitionSet()


def _differing(expected: Expected, found: Run) -> Iterator[str]:
    facet = found.facets.get("lineageAssets_attempt", {})
    if facet.get("codeVersion") != expected.code_version:
        yield "code version"
    if partitions_of(found) != expected.partitions:
        yield "partition"
    # A replay may have made several versions of one output in a run; the last one counts, and is told by each.
    written = {(one.namespace, one.name): one.facets for one in found.outputs}
    for dataset, partitions, rows in expected.outputs:
        facets = written.get(dataset)
        if facets is None:
            yield f"no output {dataset[1]}"
            continue
        if subset(facets.get("subset")) != partitions:
            yield f"partitions of {dataset[1]}"
        if facets.get("outputStatistics", {}).get("rowCount") != rows:
            yield f"rows of {dataset[1]}"


def subset(facet: Json | None) -> PartitionSet | None:
    """The days that a subset facet of ours names, or spans; None when it is none."""
    try:
        return None if facet is None else PartitionSet.of_ranges(_spans(facet["outputCondition"]))
    except (KeyError, TypeError, ValueError, BadPartitionError):
        return None


def _spans(condition: Json) -> Iterator[tuple[int, int]]:
    match condition["type"], condition.get("operator"):
        case "partition", _:
            days = (parse_day(one["dimensions"]["ds"]).toordinal() for one in condition["partitions"])
            yield from ((day, day) for day in days)
        case "binary", "OR":
            yield from _spans(condition["left"])
            yield from _spans(condition["right"])
        case _:
            first, last = (parse_day(condition[side]["right"]["value"]).toordinal() for side in ("left", "right"))
            yield first, last


@dataclass(frozen=True, slots=True)
class Found:
    """A difference, with all the partitions that have it."""

    kind: Kind
    detail: str
    partitions: PartitionSet
    runs: int


@dataclass(frozen=True, slots=True)
class JobReport:
    """One job compared."""

    namespace: str
    name: str
    assets: tuple[AssetKey, ...] = ()
    compared: int = 0
    """Ended runs by the ledger."""
    found: tuple[Found, ...] = ()
    unknown: int = 0
    """Runs that Marquez has and the ledger has not: of deleted Dagster runs, of other writers."""
    underway: int = 0
    """Runs whose process may yet tell of them."""
    is_missing: bool = False
    missing_datasets: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        return not self.found and not self.is_missing and not self.missing_datasets


def gathered(differences: Iterable[tuple[Kind, str, PartitionSet]]) -> tuple[Found, ...]:
    """Differences of one kind and detail as one, in the order of kinds."""
    found: dict[tuple[Kind, str], list[PartitionSet]] = {}
    for kind, detail, partitions in differences:
        found.setdefault((kind, detail), []).append(partitions)
    order = list(Kind)
    return tuple(
        Found(kind, detail, PartitionSet.of_ranges(one for each in of for one in each.ranges), len(of))
        for (kind, detail), of in sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    )
