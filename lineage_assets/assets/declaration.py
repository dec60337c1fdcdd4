"""How an author declares a job: the function, what it reads and through which windows, what it makes.

Values and their checks; refuses to know Dagster.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage_assets.datasets import Checks, Dataset, Field, parse_fields
from lineage_assets.errors import BadDeclarationError
from lineage_assets.graph import AssetKey, AssetNode, Input, LineageJob
from lineage_assets.partitions import SAME_PARTITION, Daily, Window

_PARTS_OF_A_TABLE = 3

JobFunction = Callable[..., Any]
"""A pure function of DataFrames to a DataFrame, or to a mapping of them by asset name."""


@dataclass(frozen=True, slots=True)
class Landing:
    """Files that a feed drops, one folder `ds=YYYY-MM-DD` a partition, below `landing/<folder>`."""

    folder: str
    columns: tuple[Field, ...]
    format: str = "csv"

    def __post_init__(self) -> None:
        if self.format not in ("csv", "json"):
            raise BadDeclarationError(f'format of landing files "{self.folder}"', self.format, "use csv or json")


@dataclass(frozen=True, slots=True)
class Read:
    """One table input: which asset, through which window, exploded to the partitions it is for or raw."""

    asset: AssetKey
    window: Window = SAME_PARTITION
    raw: bool = False


@dataclass(frozen=True, slots=True)
class External:
    """A table that another producer makes: what the lineage record calls it, and where it is."""

    dataset: Dataset
    """The columns that the job gets and the record tells; none declared: all, and none told."""
    table: str
    """With its catalog, as Spark names it: `lake.finance.exchange_rates`."""
    window: Window | None = None
    """None: it is read whole, and comes without `ds`."""
    raw: bool = False

    def __post_init__(self) -> None:
        what = f'table of the external dataset "{self.dataset.name}"'
        if len(self.table.split(".")) < _PARTS_OF_A_TABLE or not all(part.strip() for part in self.table.split(".")):
            raise BadDeclarationError(what, self.table, "name it with its catalog: lake.finance.exchange_rates")
        if any(column.name == "ds" for column in self.dataset.fields):
            raise BadDeclarationError(
                f'column of the external dataset "{self.dataset.name}"',
                "ds",
                "leave it out: with a window it comes by itself, without one it never comes",
            )
        if self.raw and self.window is None:
            raise BadDeclarationError(what, "raw", "only a table that is read through a window is exploded or raw")

    def input(self, parameter: str) -> Input:
        """As the graph has it; named as the job's parameter."""
        window = self.window if self.window is not None else SAME_PARTITION
        return Input((parameter,), window, self.dataset, self.table, is_whole=self.window is None)


@dataclass(frozen=True, slots=True)
class Made:
    """One thing a job makes: an asset with its dataset, or with an outbox when it leaves no dataset."""

    name: str
    columns: tuple[Field, ...]
    dataset: str | None = None
    outbox: str | None = None
    description: str = ""
    checks: Checks = field(default_factory=Checks)

    def __post_init__(self) -> None:
        if (self.dataset is None) == (self.outbox is None):
            raise BadDeclarationError("asset", self.name, "give it either a dataset name or an outbox folder")
        known = {column.name for column in self.columns}
        for column in (*self.checks.required, *self.checks.key):
            if column not in known:
                raise BadDeclarationError(f'checked column of "{self.name}"', column, "check columns it has")


def table(name: str, dataset: str, columns: str, *, description: str = "", checks: Checks | None = None) -> Made:
    """An asset that is a table: `columns` as `"id INTEGER, name VARCHAR"`, without the partition column `ds`."""
    kept = checks if checks is not None else Checks()
    return Made(name, parse_fields(columns), dataset=dataset, description=description, checks=kept)


def outbox(name: str, folder: str, columns: str, *, description: str = "", checks: Checks | None = None) -> Made:
    """An asset that is sent, not stored: one file a partition in `folder` of the state folder, written once."""
    kept = checks if checks is not None else Checks()
    return Made(name, parse_fields(columns), outbox=folder, description=description, checks=kept)


def external(
    namespace: str, name: str, columns: str = "", *, table: str, window: Window | None = None, raw: bool = False
) -> External:
    """An input that another producer makes, an Airflow or plain Spark job: the dataset `name` of its lineage record.

    `table` is where it is, with its catalog. Without a window it is read whole and comes without `ds`; with one, such
    as `trailing_days(7)`, it needs a column `ds` of type DATE. It is not ours: the gate lets it pass as it is.
    """
    return External(Dataset(namespace, name, parse_fields(columns) if columns else ()), table, window, raw)


def landing(folder: str, columns: str, *, format: str = "csv") -> Landing:  # noqa: A002 - Spark's own word
    return Landing(folder, parse_fields(columns), format)


@dataclass(frozen=True, slots=True)
class JobDeclaration:
    """One Spark job as declared: all that the asset, the program and the record are made from."""

    function: JobFunction
    lineage_job: LineageJob
    partitions: Daily
    reads: Mapping[str, Read | Landing | External]
    """By parameter of the function."""
    makes: tuple[Made, ...]
    group: str

    @property
    def nodes(self) -> tuple[AssetNode, ...]:
        """The assets of this job as graph values."""
        inputs = tuple(
            read.input(parameter) if isinstance(read, External) else Input(read.asset, read.window)
            for parameter, read in self.reads.items()
            if not isinstance(read, Landing)
        )
        return tuple(
            AssetNode(
                key=(made.name,),
                job=self.lineage_job,
                partitions=self.partitions,
                inputs=inputs,
                dataset=self._dataset(made),
            )
            for made in self.makes
        )

    def _dataset(self, made: Made) -> Dataset | None:
        if made.dataset is None:
            return None
        namespace = self.lineage_job.namespace
        return Dataset(namespace, made.dataset, made.columns, made.description, f"{namespace}.{made.name}")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What the jobs of one pipeline share: lineage namespace and group, partitions, owners."""

    name: str
    partitions: Daily
    owners: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    """Labels of every job, in Dagster and in the lineage record."""

    def job(
        self,
        function: JobFunction,
        name: str,
        makes: Made | tuple[Made, ...],
        *,
        reads: Mapping[str, Window | Landing | Read | External] | None = None,
        description: str = "",
    ) -> JobDeclaration:
        """Declare a job.

        Every parameter of the function is an input: an asset of that name, read for the partition's own day, unless
        `reads` says otherwise with a window, landing files, a `Read` of an asset of another name, or `external`.
        """
        parameters = tuple(inspect.signature(function).parameters)
        said = reads if reads is not None else {}
        for parameter in said:
            if parameter not in parameters:
                raise BadDeclarationError(
                    f"input of {name}", parameter, f"the function has the parameters {', '.join(parameters)}"
                )
        return JobDeclaration(
            function=function,
            lineage_job=LineageJob(self.name, name, description, self.owners, tuple(sorted(self.tags.items()))),
            partitions=self.partitions,
            reads={p: _read(p, said.get(p, SAME_PARTITION)) for p in parameters if p != "targets"},
            makes=makes if isinstance(makes, tuple) else (makes,),
            group=self.name,
        )


def _read(parameter: str, said: Window | Landing | Read | External) -> Read | Landing | External:
    return Read((parameter,), said) if isinstance(said, Window) else said


def function_name(function: JobFunction) -> str:
    """`package.module:function`, by which a driver finds it; refused for what has no such name."""
    name = f"{function.__module__}:{function.__qualname__}"
    if "<" in name or "." in function.__qualname__:
        raise BadDeclarationError("job function", name, "write it as a plain function at the top of a module")
    return name
