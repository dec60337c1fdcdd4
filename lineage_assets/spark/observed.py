"""From the listener's events to what only Spark knows: tables and folders read, where columns and rows come from.

Pure. Tables are named as Spark code names them (`lake.food_delivery.orders`), folders by their path, so that both
can be compared with what was declared. Refuses to know how the events came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lineage_assets.spark.report import Observed, Source, Transformation

Event = Mapping[str, Any]
Dataset = Mapping[str, Any]
Identity = tuple[str, str]
"""OpenLineage's: namespace and name."""

_VERSION = re.compile(r"\.(?:branch_[^.]+|snapshot_id_(?P<snapshot>\d+))$")
_OWN_COLUMNS = ("ds", "source_ds")


def fold_events(events: Sequence[Event], folders: Iterable[str], tables: Mapping[str, str] | None = None) -> Observed:
    """All events of one program as one value.

    RUNNING events lack what START and COMPLETE have, so they are merged; a FAIL stays, for the listener sends
    COMPLETE after it. What lies in one of `folders` is named by that folder, and what lies in one of
    `tables` by that table.
    """
    inputs = [dataset for event in events for dataset in event.get("inputs", ())]
    outputs = [dataset for event in events for dataset in event.get("outputs", ())]
    places = {**{folder: folder for folder in folders}, **(tables if tables is not None else {})}
    names = _Names([*inputs, *outputs], places)
    columns: dict[str, dict[str, _Sources]] = {}
    rows: dict[str, _Sources] = {}
    for dataset in outputs:
        lineage = dataset.get("facets", {}).get("columnLineage", {})
        output = names.of(_identity(dataset))
        made = columns.setdefault(output, {})
        for column, said in lineage.get("fields", {}).items():
            if column not in _OWN_COLUMNS:
                _add(made.setdefault(column, {}), said["inputFields"], names)
        _add(rows.setdefault(output, {}), lineage.get("dataset", ()), names)
    return Observed(
        inputs=tuple(sorted({names.of(_identity(dataset)) for dataset in inputs})),
        outputs=tuple(sorted(columns)),
        columns={
            output: {column: _sources(sources) for column, sources in sorted(made.items()) if sources}
            for output, made in sorted(columns.items())
        },
        row_sources={output: decisive for output, sources in sorted(rows.items()) if (decisive := _decisive(sources))},
        versions=_versions(inputs, names),
        failed=any(event.get("eventType") == "FAIL" for event in events),
    )


def table_and_snapshot(name: str) -> tuple[str, str | None]:
    """A table as Spark names a branch or snapshot of it: itself, and the snapshot when it is one."""
    found = _VERSION.search(name)
    return (name, None) if found is None else (name[: found.start()], found["snapshot"])


_Sources = dict[tuple[str, str], set[Transformation]]
"""Physical name and column to what was done with it."""


def _add(sources: _Sources, read: Iterable[Mapping[str, Any]], names: _Names) -> None:
    for source in read:
        if source["field"] not in _OWN_COLUMNS:
            steps = sources.setdefault((names.of(_identity(source)), source["field"]), set())
            steps.update(
                Transformation(step["type"], step.get("subtype") or "", step.get("masking") or False)
                for step in source.get("transformations", ())
            )


def _sources(sources: _Sources) -> tuple[Source, ...]:
    return tuple(Source(dataset, column, tuple(sorted(steps))) for (dataset, column), steps in sorted(sources.items()))


def _decisive(sources: _Sources) -> tuple[Source, ...]:
    """The listener also tells how a column came to where it decides; here only that it does counts."""
    steps = {of: {step for step in done if step.type == "INDIRECT"} for of, done in sources.items()}
    return _sources({of: done for of, done in steps.items() if done})


def _versions(inputs: Iterable[Dataset], names: _Names) -> dict[str, tuple[int, ...]]:
    """The snapshots read, by table; of a read of one snapshot its name tells, for the facet has the table's current."""
    found: dict[str, set[int]] = {}
    for dataset in inputs:
        _, pinned = table_and_snapshot(_physical(dataset) or "")
        current = dataset.get("facets", {}).get("version", {}).get("datasetVersion", "")
        version = current if pinned is None else pinned
        if version.isdigit():
            found.setdefault(names.of(_identity(dataset)), set()).add(int(version))
    return {name: tuple(sorted(snapshots)) for name, snapshots in sorted(found.items())}


class _Names:
    """Physical names: a table's by what any event says of it, a file's by what its folder keeps."""

    def __init__(self, datasets: Iterable[Dataset], places: Mapping[str, str]) -> None:
        self._tables = {_identity(dataset): name for dataset in datasets if (name := _table_name(dataset)) is not None}
        self._places = sorted(places.items())

    def of(self, identity: Identity) -> str:
        namespace, name = identity
        if identity in self._tables:
            return self._tables[identity]
        path = name if namespace == "file" else f"{namespace}/{name.lstrip('/')}"
        return next((kept for at, kept in self._places if path == at or path.startswith(f"{at}/")), path)


def _identity(dataset: Dataset) -> Identity:
    return dataset["namespace"], dataset["name"]


def _table_name(dataset: Dataset) -> str | None:
    """Catalog and name, of the table itself when a branch was written or a snapshot read."""
    facets = dataset.get("facets", {})
    table = _physical(dataset)
    return (
        None if table is None or "catalog" not in facets else f"{facets['catalog']['name']}.{_VERSION.sub('', table)}"
    )


def _physical(dataset: Dataset) -> str | None:
    """Name, with the branch or snapshot, of a table."""
    links = dataset.get("facets", {}).get("symlinks", {}).get("identifiers", ())
    return next((link["name"] for link in links if link.get("type") == "TABLE"), None)
