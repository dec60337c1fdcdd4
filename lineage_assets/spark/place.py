"""Where an output goes: what a table and an outbox have in common, so that the runner need not know which it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame

from lineage_assets.spark.program import Output
from lineage_assets.spark.report import Observed, OutputReport, PartitionReport, Pinned


@dataclass(frozen=True)
class Adopted:
    """What the unit published before, in a driver that died before it could say so."""

    report: OutputReport
    inputs: Mapping[str, Pinned]
    """Input asset to the snapshots that were read then."""
    observed: Observed
    """What Spark's listener told then."""


class Staged(Protocol):
    """A result that is written where no reader looks."""

    def rows_outside(self) -> Mapping[str, int]:
        """Rows of partitions that the program was not asked for, by partition."""

    def audited(self) -> Mapping[str, PartitionReport]:
        """What was really written, judged a partition; `published` says that it may be."""

    def publish(self, verdicts: Mapping[str, PartitionReport], notes: Mapping[str, str]) -> OutputReport:
        """Show the good partitions to readers; the bad ones keep their old content. Keep the notes, if one can."""

    def discard(self) -> None:
        """Forget what was staged."""


class Place(Protocol):
    """Where one output of a program goes."""

    @property
    def output(self) -> Output:
        """What is to be made there."""

    def adopted(self) -> Adopted | None:
        """What this program's token has published already; None when it has not."""

    def stage(self, frame: DataFrame) -> Staged:
        """Write the whole result where no reader looks; `frame` has `ds` and the declared columns."""
