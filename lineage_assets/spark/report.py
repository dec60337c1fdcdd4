"""The report that a Spark driver sends home, once, when a program ends well: values that travel as JSON.

Standard library only, Python 3.9 and up; no Spark, no Dagster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lineage_assets.spark.program import PROTOCOL


@dataclass(frozen=True)
class Assertion:
    """One thing that the audit asked of a partition, and what it saw."""

    kind: str
    """`row_count`, `not_null`, `unique`, or `unique(a, b)` of a key of several columns."""
    success: bool
    column: str | None = None
    expected: str | None = None
    actual: str | None = None


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
    size_bytes: int | None = None
    files: int | None = None
    nulls: dict[str, int] = field(default_factory=dict)
    """Required column to the number of rows without it."""
    assertions: tuple[Assertion, ...] = ()


@dataclass(frozen=True)
class OutputReport:
    """What came of one output: its partitions, and the snapshot that published the good ones."""

    partitions: dict[str, PartitionReport]
    snapshot: int | None = None
    """None when nothing was published, or for an outbox."""
    location: str | None = None
    """Where the table lies."""


@dataclass(frozen=True)
class Pinned:
    """The snapshots at which a table is read."""

    base: int
    """All partitions but those apart."""
    apart: dict[str, int] = field(default_factory=dict)
    """Source partitions that were published again since the record: each at the snapshot that its record names."""

    def of(self, partitions: Mapping[str, object]) -> int | None:
        """The one snapshot at which these partitions are read; None when there is no such one."""
        snapshots = {self.apart.get(partition, self.base) for partition in partitions}
        return snapshots.pop() if len(snapshots) == 1 else None


@dataclass(frozen=True, order=True)
class Transformation:
    """How a column came into another, or decided on rows; in OpenLineage's words."""

    type: str
    subtype: str
    masking: bool = False


@dataclass(frozen=True, order=True)
class Source:
    """A column that was read, by the physical name of its table or folder."""

    dataset: str
    column: str
    transformations: tuple[Transformation, ...] = ()


@dataclass(frozen=True)
class Observed:
    """What only Spark knows, from its listener: physical names, as Spark saw them."""

    inputs: tuple[str, ...] = ()
    """Physical names of the tables and folders read."""
    outputs: tuple[str, ...] = ()
    columns: dict[str, dict[str, tuple[Source, ...]]] = field(default_factory=dict)
    """Output -> column -> the columns it is made from; partition columns are left out."""
    row_sources: dict[str, tuple[Source, ...]] = field(default_factory=dict)
    """Output -> columns that decide which rows there are: joined, filtered, grouped, sorted by."""
    versions: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Input -> the snapshots of it that were read, where Spark says so."""
    failed: bool = False
    problem: str | None = None
    """Why nothing was observed, when the listener did not work."""

    def of_output(self, output: str | None) -> Observed:
        """The part that is about one output; all inputs, since nothing says which of them it is made from."""
        return Observed(
            inputs=self.inputs,
            outputs=tuple(name for name in self.outputs if name == output),
            columns={name: made for name, made in self.columns.items() if name == output},
            row_sources={name: made for name, made in self.row_sources.items() if name == output},
            versions=self.versions,
            problem=self.problem,
        )

    def __add__(self, other: Observed) -> Observed:
        versions = {
            name: tuple(sorted({*self.versions.get(name, ()), *other.versions.get(name, ())}))
            for name in sorted({*self.versions, *other.versions})
        }
        return Observed(
            inputs=tuple(sorted({*self.inputs, *other.inputs})),
            outputs=tuple(sorted({*self.outputs, *other.outputs})),
            columns={**self.columns, **other.columns},
            row_sources={**self.row_sources, **other.row_sources},
            versions=versions,
            failed=self.failed or other.failed,
            problem=self.problem if self.problem is not None else other.problem,
        )

    def to_json(self) -> dict[str, Any]:
        """Without what is empty."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Observed:
        columns: Mapping[str, Any] = read.get("columns", {})
        return cls(
            inputs=tuple(read.get("inputs", ())),
            outputs=tuple(read.get("outputs", ())),
            columns={
                output: {column: _sources(sources) for column, sources in made.items()}
                for output, made in columns.items()
            },
            row_sources={output: _sources(sources) for output, sources in read.get("row_sources", {}).items()},
            versions={name: tuple(snapshots) for name, snapshots in read.get("versions", {}).items()},
            failed=read.get("failed", False),
            problem=read.get("problem"),
        )


@dataclass(frozen=True)
class Report:
    """All that a program sends home; a program that raised sends none."""

    outputs: dict[str, OutputReport]
    """By asset name."""
    snapshots: dict[str, Pinned] = field(default_factory=dict)
    """Input asset to the snapshots it was read at."""
    observed: Observed = field(default_factory=Observed)
    spark_version: str = ""
    application_id: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    """Phase (`read`, `stage`, `audit`, `publish`, `listener`) to seconds."""

    def to_json(self) -> dict[str, Any]:
        return {"protocol": PROTOCOL, **asdict(self), "observed": self.observed.to_json()}

    @classmethod
    def from_json(cls, read: dict[str, Any]) -> Report:
        return cls(
            outputs={asset: _output_report(one) for asset, one in read["outputs"].items()},
            snapshots={asset: Pinned(**one) for asset, one in read["snapshots"].items()},
            observed=Observed.from_json(read["observed"]),
            spark_version=read["spark_version"],
            application_id=read["application_id"],
            seconds=read["seconds"],
        )


def _sources(read: list[dict[str, Any]]) -> tuple[Source, ...]:
    return tuple(
        Source(one["dataset"], one["column"], tuple(Transformation(**step) for step in one["transformations"]))
        for one in read
    )


def _output_report(read: dict[str, Any]) -> OutputReport:
    partitions = {day: _partition_report(one) for day, one in read["partitions"].items()}
    return OutputReport(**{**read, "partitions": partitions})


def _partition_report(read: dict[str, Any]) -> PartitionReport:
    return PartitionReport(**{**read, "assertions": tuple(Assertion(**one) for one in read["assertions"])})
