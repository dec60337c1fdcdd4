"""What the runner refuses to do: each refusal names the thing, the value and the mend.

The cluster's side of `lineage_assets.errors`, which does not ship.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class RefusedError(Exception):
    """The program was not run, or nothing of it was published."""


class CodeMismatchError(RefusedError):
    """The bytes of a module here are not those that the program names."""

    def __init__(self, module: str, *, wanted: str, found: str | None) -> None:
        self.module = module
        self.wanted = wanted
        self.found = found
        made = f"The program was made from the module {module} with the SHA-256 {wanted}"
        super().__init__(
            f"{made}, but where Spark runs it is not there. Ship it, or put its folder on PYTHONPATH."
            if found is None
            else f"{made}, but the module where Spark runs has {found}. "
            "Ship the code of this program, or start a new driver."
        )


class NoSuchJobError(RefusedError):
    """The module of a job does not have the function."""

    def __init__(self, function: str) -> None:
        self.function = function
        super().__init__(f'There is no function "{function}". Name it as package.module:function.')


class MissingTableError(RefusedError):
    """A table that the job reads does not exist."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(f"The input table {table} does not exist. Materialize the asset that makes it first.")


class MissingExternalTableError(RefusedError):
    """A table that another producer is to make does not exist."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            f"The external table {table} does not exist. "
            "Name it in `external(table=...)` as Spark does, with its catalog, or have its producer make it first."
        )


class OtherColumnsError(RefusedError):
    """A table that another producer makes does not have the columns that were declared."""

    def __init__(self, table: str, differences: Sequence[str]) -> None:
        self.table = table
        self.differences = tuple(differences)
        super().__init__(
            f"The external table {table} is not as it is declared: {'; '.join(differences)}. "
            "Declare what it has, or ask its producer."
        )


class LostSnapshotError(RefusedError):
    """A snapshot that a record names cannot be what is read."""

    def __init__(self, table: str, snapshot: int, why: str) -> None:
        self.table = table
        self.snapshot = snapshot
        self.why = why
        super().__init__(
            f"The records name snapshot {snapshot} of {table}, which {why}: the table was changed behind our back. "
            "Materialize the upstream partitions again, or take the table as it is with `lineage-assets adopt`."
        )


class WrongLayoutError(RefusedError):
    """An existing table cannot hold what the asset declares."""

    def __init__(self, table: str, found: str, declared: str) -> None:
        self.table = table
        self.found = found
        self.declared = declared
        super().__init__(
            f"The table {table} has {found}, the asset declares {declared}. "
            "Alter the table, or declare what it has, and run again."
        )


class WrongResultError(RefusedError):
    """A job returned something that is not its outputs."""

    def __init__(self, function: str, returned: str, wanted: Sequence[str]) -> None:
        self.function = function
        self.returned = returned
        self.wanted = tuple(wanted)
        super().__init__(
            f"The job {function} returned {returned}. Return a DataFrame for one output, "
            f"or a mapping of DataFrames by asset name: {', '.join(self.wanted)}."
        )


class NoPlaceError(RefusedError):
    """An output names neither a table nor an outbox."""

    def __init__(self, asset: str) -> None:
        self.asset = asset
        super().__init__(f'The program gives the output "{asset}" neither a table nor an outbox. Give it one of them.')


class RowsOutsideError(RefusedError):
    """A job made rows for partitions that it was not asked for."""

    def __init__(self, asset: str, rows: Mapping[str, int]) -> None:
        self.asset = asset
        self.rows = dict(rows)
        days = ", ".join(f"{day} ({count} rows)" for day, count in sorted(self.rows.items()))
        super().__init__(
            f'The job made rows of "{asset}" outside the partitions asked for: {days}. Nothing was published. '
            "Keep the column `ds` of the inputs as it is, and join and group by it."
        )
