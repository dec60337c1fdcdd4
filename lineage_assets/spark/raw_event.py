"""One of Spark's own events as it may go to a receiver: under our run, and with what the listener gets wrong put right.

Pure. Names no dataset or column anew; what the events are for is known elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineage_assets.spark.observed import table_and_snapshot
from lineage_assets.spark.program import Lineage, NamedRun


def mended(event: Mapping[str, Any], lineage: Lineage) -> dict[str, Any]:
    """The event under the lineage run that the program is part of, with tables instead of their branches."""
    datasets = {kind: [_table(one) for one in event[kind]] for kind in ("inputs", "outputs") if kind in event}
    return {**_placed(event, lineage), **datasets}


def _placed(event: Mapping[str, Any], lineage: Lineage) -> dict[str, Any]:
    """The listener names the application as parent, in its own spelling, of which Marquez would make another job."""
    run = event.get("run", {})
    facets = run.get("facets", {})
    told: Mapping[str, Any] = facets.get("parent", {})
    about = {name: value for name, value in told.items() if name.startswith("_")}
    root = lineage.root if lineage.root is not None else lineage.parent
    if lineage.parent is None or root is None:
        return dict(event)
    parent = {**about, **_named(lineage.parent), "root": _named(root)}
    return {**event, "run": {**run, "facets": {**facets, "parent": parent}}}


def _table(dataset: Mapping[str, Any]) -> dict[str, Any]:
    """Its second name is a branch or a snapshot, of each of which Marquez would make a dataset.

    And of a read of one snapshot the version is told to be the table's newest.
    """
    facets = dict(dataset.get("facets", {}))
    symlinks = facets.get("symlinks")
    if symlinks is None:
        return dict(dataset)
    named = [(link, *table_and_snapshot(link["name"])) for link in symlinks["identifiers"]]
    facets["symlinks"] = {**symlinks, "identifiers": [{**link, "name": table} for link, table, _ in named]}
    pinned = next((snapshot for _, _, snapshot in named if snapshot is not None), None)
    if pinned is not None and "version" in facets:
        facets["version"] = {**facets["version"], "datasetVersion": pinned}
    return {**dataset, "facets": facets}


def _named(run: NamedRun) -> dict[str, dict[str, str]]:
    return {"run": {"runId": run.run_id}, "job": {"namespace": run.namespace, "name": run.job}}
