"""From the listener's events to what only Spark knows: tables and folders read, and where each column comes from.

Pure. Tables are named as Spark code names them (`lake.food_delivery.orders`), folders by their path, so that both
can be compared with what was declared. Refuses to know how the events came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lineage_assets.spark.program import Observed

Event = Mapping[str, Any]
Dataset = Mapping[str, Any]
Identity = tuple[str, str]
"""OpenLineage's: namespace and name."""

_VERSION = re.compile(r"\.(branch|snapshot_id)_[^.]+$")
_OWN_COLUMNS = ("ds", "source_ds")


def fold_events(events: Sequence[Event], folders: Iterable[str]) -> Observed:
    """All events of one program as one value.

    RUNNING events lack what START and COMPLETE have, so they are merged; a FAIL stays, for the listener sends
    COMPLETE after it. What lies in one of `folders` is named by that folder.
    """
    inputs = [dataset for event in events for dataset in event.get("inputs", ())]
    outputs = [dataset for event in events for dataset in event.get("outputs", ())]
    names = _Names([*inputs, *outputs], sorted(folders))
    columns: dict[str, dict[str, set[tuple[str, str]]]] = {}
    for dataset in outputs:
        made = columns.setdefault(names.of(_identity(dataset)), {})
        for column, source, field in _direct_sources(dataset):
            made.setdefault(column, set()).add((names.of(source), field))
    return Observed(
        inputs=tuple(sorted({names.of(_identity(dataset)) for dataset in inputs})),
        outputs=tuple(sorted(columns)),
        columns={
            output: {column: sorted(sources) for column, sources in sorted(made.items())}
            for output, made in sorted(columns.items())
        },
        failed=any(event.get("eventType") == "FAIL" for event in events),
    )


class _Names:
    """Physical names: a table's by what any event says of it, a file's by the folder that it lies in."""

    def __init__(self, datasets: Iterable[Dataset], folders: Sequence[str]) -> None:
        self._tables = {_identity(dataset): name for dataset in datasets if (name := _table_name(dataset)) is not None}
        self._folders = folders

    def of(self, identity: Identity) -> str:
        namespace, name = identity
        if identity in self._tables:
            return self._tables[identity]
        path = name if namespace == "file" else f"{namespace}/{name.lstrip('/')}"
        return next((folder for folder in self._folders if path == folder or path.startswith(f"{folder}/")), path)


def _identity(dataset: Dataset) -> Identity:
    return dataset["namespace"], dataset["name"]


def _table_name(dataset: Dataset) -> str | None:
    """Catalog and name, of the table itself when a branch was written or a snapshot read."""
    facets = dataset.get("facets", {})
    links = facets.get("symlinks", {}).get("identifiers", ())
    tables = [link["name"] for link in links if link.get("type") == "TABLE"]
    if not tables or "catalog" not in facets:
        return None
    return f"{facets['catalog']['name']}.{_VERSION.sub('', tables[0])}"


def _direct_sources(dataset: Dataset) -> Iterator[tuple[str, Identity, str]]:
    """Column, dataset and its column whose values went into it; what only filtered or grouped is no source."""
    fields = dataset.get("facets", {}).get("columnLineage", {}).get("fields", {})
    for column, lineage in fields.items():
        for source in lineage["inputFields"]:
            is_direct = any(step["type"] == "DIRECT" for step in source.get("transformations", ()))
            if is_direct and column not in _OWN_COLUMNS and source["field"] not in _OWN_COLUMNS:
                yield column, _identity(source), source["field"]
