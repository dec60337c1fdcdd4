"""The program a Spark driver is asked to run: values that travel as JSON; what it sends home is in `report`.

The things that both sides of the wire know. Standard library only, Python 3.9 and up; no Spark, no Dagster.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

PROTOCOL = 2
"""Rises when a value of either side changes its meaning; the runner refuses a program of another protocol."""

PUBLISHED_BY_ANOTHER = "published by another"
"""The cause of a partition that was good, but whose table somebody changed on the same days meanwhile."""


@dataclass(frozen=True)
class TableInput:
    """A table that the job reads, through the window that each target partition has on it."""

    parameter: str
    """The job's parameter that receives it."""
    asset: str
    """The asset's name, `/`-joined; names the input in the report."""
    table: str
    """The table with its catalog: `lake.food_delivery.orders`."""
    window: dict[str, tuple[str, str]]
    """Target partition to the first and last source partition it reads, clipped to those that exist."""
    snapshots: dict[str, int] = field(default_factory=dict)
    """Source partition to the snapshot that its record names.

    What is read of it is what that snapshot holds, whatever is published meanwhile. Empty for a table without records
    of ours: read at its current snapshot.
    """
    versions: dict[str, str] = field(default_factory=dict)
    """Source partition to its fingerprint in the record, by which a later publish of the same content is known."""
    raw: bool = False
    """Not exploded: `ds` is then the source partition, and the job also receives the frame `targets` (`ds`)."""
    is_external: bool = False
    """Another producer makes it: it need be no Iceberg table."""
    is_whole: bool = False
    """Read whole, without `ds`; it has no windows then."""
    columns: tuple[tuple[str, str], ...] = ()
    """Name and Spark type of the columns that the job gets of an external table, less `ds`; none: all that it has."""


@dataclass(frozen=True)
class LandingInput:
    """Files that a feed dropped, listed and versioned by the step; `ds` is the folder's `ds=YYYY-MM-DD`."""

    parameter: str
    format: str
    """`csv` (with a header) or `json` (one object a line)."""
    columns: tuple[tuple[str, str], ...]
    """Name and Spark type of each column, in order."""
    root: str
    """The folder that holds the `ds=` folders."""
    files: dict[str, tuple[str, ...]]
    """Partition to its files, relative to the root."""
    versions: dict[str, str]
    """Partition to the hash of its files (`landing_version`); what is read must still have it."""


@dataclass(frozen=True)
class Output:
    """What the job makes for one asset, and what each partition of it must hold before it is published."""

    asset: str
    columns: tuple[tuple[str, str], ...]
    """Name and Spark type of each column but `ds`, in order."""
    table: str | None = None
    """The table with its catalog; None for an outbox."""
    outbox: str | None = None
    """A folder that gets `ds=YYYY-MM-DD/` with one file, written only if absent; None for a table."""
    min_rows: int = 0
    required: tuple[str, ...] = ()
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class NamedRun:
    """A lineage run with its job."""

    namespace: str
    job: str
    run_id: str


@dataclass(frozen=True)
class Lineage:
    """How Spark's own events of this program are named: namespace and name of the lineage job, id of its run."""

    namespace: str
    job: str
    run_id: str
    """Of the application that the program is to Spark's listener."""
    parent: NamedRun | None = None
    """The lineage run that the program is part of: the first of them, when it makes partitions of several."""
    root: NamedRun | None = None
    """The backfill, or else the Dagster run."""


@dataclass(frozen=True)
class Program:
    """One Spark program: one job, one set of target partitions."""

    function: str
    """`package.module:function`."""
    code: dict[str, str]
    """Module name to SHA-256 of its source file; the runner refuses to run any other bytes."""
    token: str
    """The publish token: names the unit (backfill or run, asset, range) in the commit."""
    targets: tuple[str, ...]
    """Partitions to compute, sorted."""
    lineage: Lineage
    outputs: tuple[Output, ...]
    tables: tuple[TableInput, ...] = ()
    landings: tuple[LandingInput, ...] = ()
    existing: bool = False
    """Audit what the outputs' tables hold for the targets, as it is; compute and publish nothing."""
    is_whole: bool = True
    """All that the job makes is asked for: what it then does not read, it never reads."""

    def to_json(self) -> str:
        return json.dumps({"protocol": PROTOCOL, **asdict(self)}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Program:
        """The program, or a ValueError when it speaks another protocol."""
        read: dict[str, Any] = json.loads(text)
        spoken = read.pop("protocol", None)
        if spoken != PROTOCOL:
            raise ValueError(f"This runner speaks protocol {PROTOCOL}, the program {spoken}: ship the same version.")
        return cls(
            function=read["function"],
            code=read["code"],
            token=read["token"],
            targets=tuple(read["targets"]),
            lineage=_lineage(read["lineage"]),
            outputs=tuple(_output(one) for one in read["outputs"]),
            tables=tuple(_table(one) for one in read["tables"]),
            landings=tuple(_landing(one) for one in read["landings"]),
            existing=read["existing"],
            is_whole=read["is_whole"],
        )


def _lineage(read: dict[str, Any]) -> Lineage:
    above = {name: None if read[name] is None else NamedRun(**read[name]) for name in ("parent", "root")}
    return Lineage(**{**read, **above})


def _pairs(columns: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, type_) for name, type_ in columns)


def _output(read: dict[str, Any]) -> Output:
    return Output(
        **{
            **read,
            "columns": _pairs(read["columns"]),
            "required": tuple(read["required"]),
            "key": tuple(read["key"]),
        }
    )


def _table(read: dict[str, Any]) -> TableInput:
    window = {target: (first, last) for target, (first, last) in read["window"].items()}
    return TableInput(**{**read, "window": window, "columns": _pairs(read["columns"])})


def _landing(read: dict[str, Any]) -> LandingInput:
    files = {day: tuple(names) for day, names in read["files"].items()}
    return LandingInput(**{**read, "columns": _pairs(read["columns"]), "files": files})
