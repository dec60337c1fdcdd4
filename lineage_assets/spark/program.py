"""The program a Spark driver is asked to run, and the report it sends home: values that travel as JSON.

The one thing that both sides of the wire know. Standard library only, Python 3.9 and up; no Spark, no Dagster.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

PROTOCOL = 1
"""Rises when either value changes its meaning; the runner refuses a program of another protocol."""

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
    snapshots: tuple[int, ...] = ()
    """Snapshots that the record names for the partitions read.

    The program reads at the newest of them, which must have all others as ancestors: what was recorded is then what is
    read, whatever is published meanwhile. Empty for a table without records of ours: read at its current snapshot.
    """
    raw: bool = False
    """Not exploded: `ds` is then the source partition, and the job also receives the frame `targets` (`ds`)."""


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
class Lineage:
    """How Spark's own events of this program are named: namespace and name of the lineage job, id of its run."""

    namespace: str
    job: str
    run_id: str


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
            lineage=Lineage(**read["lineage"]),
            outputs=tuple(_output(one) for one in read["outputs"]),
            tables=tuple(_table(one) for one in read["tables"]),
            landings=tuple(_landing(one) for one in read["landings"]),
            existing=read["existing"],
        )


@dataclass(frozen=True)
class PartitionReport:
    """What came of one partition of one output."""

    published: bool
    cause: str | None = None
    """Why it was not published, a word: `schema change`, `incomplete data`, `nulls`, `duplicate keys`, ..."""
    message: str | None = None
    """The cause in a sentence with the numbers."""
    rows: int = 0
    fingerprint: str | None = None
    """32 hexadecimal digits over the content, in any order of rows and columns."""
    warning: str | None = None


@dataclass(frozen=True)
class OutputReport:
    """What came of one output: its partitions, and the snapshot that published the good ones."""

    partitions: dict[str, PartitionReport]
    snapshot: int | None = None
    """None when nothing was published, or for an outbox."""
    location: str | None = None
    """Where the table lies."""


@dataclass(frozen=True)
class Observed:
    """What only Spark knows, from its listener: physical names, as Spark saw them."""

    inputs: tuple[str, ...] = ()
    """Physical names of the tables and folders read."""
    outputs: tuple[str, ...] = ()
    columns: dict[str, dict[str, list[tuple[str, str]]]] = field(default_factory=dict)
    """Output physical name -> column -> (input physical name, column)."""
    failed: bool = False
    problem: str | None = None
    """Why nothing was observed, when the listener did not work."""


@dataclass(frozen=True)
class Report:
    """All that a program sends home, once, when it ends well; a program that raised sends none."""

    outputs: dict[str, OutputReport]
    """By asset name."""
    snapshots: dict[str, int] = field(default_factory=dict)
    """Input asset to the snapshot it was read at."""
    observed: Observed = field(default_factory=Observed)
    spark_version: str = ""
    application_id: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    """Phase (`read`, `stage`, `audit`, `publish`, `listener`) to seconds."""

    def to_json(self) -> dict[str, Any]:
        return {"protocol": PROTOCOL, **asdict(self)}

    @classmethod
    def from_json(cls, read: dict[str, Any]) -> Report:
        observed = read["observed"]
        return cls(
            outputs={asset: _output_report(one) for asset, one in read["outputs"].items()},
            snapshots=read["snapshots"],
            observed=Observed(
                inputs=tuple(observed["inputs"]),
                outputs=tuple(observed["outputs"]),
                columns={
                    output: {column: [(a, b) for a, b in sources] for column, sources in columns.items()}
                    for output, columns in observed["columns"].items()
                },
                failed=observed["failed"],
                problem=observed["problem"],
            ),
            spark_version=read["spark_version"],
            application_id=read["application_id"],
            seconds=read["seconds"],
        )


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
    return TableInput(**{**read, "window": window, "snapshots": tuple(read["snapshots"])})


def _landing(read: dict[str, Any]) -> LandingInput:
    files = {day: tuple(names) for day, names in read["files"].items()}
    return LandingInput(**{**read, "columns": _pairs(read["columns"]), "files": files})


def _output_report(read: dict[str, Any]) -> OutputReport:
    partitions = {day: PartitionReport(**one) for day, one in read["partitions"].items()}
    return OutputReport(**{**read, "partitions": partitions})
