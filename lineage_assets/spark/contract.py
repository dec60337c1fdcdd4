"""The schema contract of a job's result: the declared columns and `ds` with their types, no more and no less.

`source_ds`, which the runner gave to the job, may come back and is left out. Refuses to look at rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from lineage_assets.spark.program import Output
from lineage_assets.spark.report import OutputReport, PartitionReport

_GIVEN = "source_ds"


def broken_contract(frame: DataFrame, output: Output) -> str | None:
    """Where the frame differs from the declaration, in words; None when it does not."""
    wanted = dict(all_columns(output))
    found = {name: type_ for name, type_ in frame.dtypes if name != _GIVEN or name in wanted}
    return "; ".join(_differences(wanted, found)) or None


@dataclass(frozen=True)
class BrokenContract:
    """A result that is not staged, for it is not what was declared: a `Staged` of which every partition is bad."""

    difference: str
    targets: Sequence[str]

    def rows_outside(self) -> Mapping[str, int]:
        return {}

    def audited(self) -> Mapping[str, PartitionReport]:
        return dict.fromkeys(
            self.targets, PartitionReport(published=False, cause="schema change", message=self.difference)
        )

    def publish(self, verdicts: Mapping[str, PartitionReport], notes: Mapping[str, str]) -> OutputReport:  # noqa: ARG002
        return OutputReport(dict(verdicts))

    def discard(self) -> None:
        """There is nothing."""


def all_columns(output: Output) -> list[tuple[str, str]]:
    """What a partition of the output has: the declared columns, and its day."""
    return [*output.columns, ("ds", "date")]


def contracted(frame: DataFrame, output: Output) -> DataFrame:
    """The declared columns in the declared order, and `ds`."""
    return frame.select(*(f"`{name}`" for name, _ in output.columns), "ds")


def _differences(wanted: dict[str, str], found: dict[str, str]) -> Iterator[str]:
    for name, type_ in wanted.items():
        if name not in found:
            yield f"the column {name} is gone"
        elif found[name] != type_:
            yield f"the column {name} is {found[name]}, declared is {type_}"
    undeclared = [name for name in found if name not in wanted]
    if undeclared:
        yield f"there are columns that are not declared: {', '.join(undeclared)}"
