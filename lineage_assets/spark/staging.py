"""Staging into an Iceberg table: the range is written once, to a branch of its own, never to main.

Refuses to know what makes a partition good, and how good ones get to main.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from lineage_assets.spark.contract import all_columns
from lineage_assets.spark.history import History, branch_of
from lineage_assets.spark.iceberg import IcebergTable, create_table, quoted
from lineage_assets.spark.inputs import days_of, within
from lineage_assets.spark.place import Adopted
from lineage_assets.spark.program import Output, Program
from lineage_assets.spark.publish import StagedTable, adopted_from, settle_branches
from lineage_assets.spark.refusal import WrongLayoutError
from lineage_assets.spark.summary import STAGED

LAYOUT = ("identity(ds)",)


@dataclass(frozen=True)
class TablePlace:
    """A table that can hold the output, and its history when the program began."""

    spark: SparkSession
    output: Output
    name: str
    program: Program
    table: IcebergTable
    history: History
    """Its main is the base: whoever publishes one of the same days after it is in conflict with this program."""

    def adopted(self) -> Adopted | None:
        snapshot = self.history.published_by(self.program.token, self.program.targets)
        if snapshot is None:
            return None
        # The driver that published may have died before it came to this.
        settle_branches(self.table, branch_of(self.program.token), snapshot.summary)
        return adopted_from(snapshot, self.history.location, self.program.targets)

    def stage(self, frame: DataFrame) -> StagedTable:
        branch = branch_of(self.program.token)
        if branch in self.history.branches:
            self.table.drop_branches([branch])
        self.table.create_branch(branch, self.history.main)
        written = f"{quoted(self.name)}.`branch_{branch}`"
        targets = within(days_of(self.program.targets))
        frame.writeTo(written).option(f"snapshot-property.{STAGED}", self.program.token).overwrite(targets)
        return StagedTable(
            output=self.output,
            frame=self.spark.table(written).where(targets),
            name=self.name,
            branch=branch,
            token=self.program.token,
            targets=self.program.targets,
            table=self.table,
            location=self.history.location,
            base=self.history.main,
            files=self.table.added_files(branch),
        )


def prepared_table(spark: SparkSession, output: Output, name: str, program: Program) -> TablePlace:
    """The table, created when there is none; refused when it cannot hold the output."""
    table = IcebergTable.load(spark, name)
    if table is None:
        create_table(spark, name, output.columns)
        table = IcebergTable.load(spark, name)
        if table is None:
            raise WrongLayoutError(name, "vanished right after it was created", "that it stays")
    history = table.history()
    wanted = all_columns(output)
    found = spark.table(name).dtypes
    if history.partitioned_by != LAYOUT or sorted(found) != sorted(wanted):
        raise WrongLayoutError(name, _layout(found, history.partitioned_by), _layout(wanted, LAYOUT))
    return TablePlace(spark, output, name, program, table, history)


def _layout(columns: list[tuple[str, str]], partitioned_by: tuple[str, ...]) -> str:
    listed = ", ".join(f"{name} {type_}" for name, type_ in sorted(columns))
    return f"the columns {listed}, partitioned by {', '.join(partitioned_by) if partitioned_by else 'nothing'}"
