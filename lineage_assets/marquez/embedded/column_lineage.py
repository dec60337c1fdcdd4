"""Which column was made of which, walked from a dataset, a column or a job.

Cumulative over all runs, as in Marquez; of one pair of columns the latest statement counts.
"""

import json
from sqlite3 import Connection, Row

from lineage_assets.marquez.embedded.answers import Json, one
from lineage_assets.marquez.embedded.graph import node_of
from lineage_assets.marquez.embedded.refusals import RefusedRequestError, no_such_path

Column = tuple[int, str]

_SAID = {"transformationDescription": None, "transformationType": None}


def column_lineage(db: Connection, node_id: str, depth: int, *, downstream: bool) -> Json:
    pairs = _walk(db, _columns_of(db, node_id), depth, downstream=downstream)
    columns = sorted({column for pair in pairs for column in pair})
    nodes = [_node(db, column, pairs) for column in columns]
    return {"graph": sorted(nodes, key=lambda node: str(node["id"]))}


def _columns_of(db: Connection, node_id: str) -> list[Column]:
    """The columns a node stands for: its own, or those that a job writes."""
    kind, _, rest = node_id.partition(":")
    if kind not in ("job", "dataset", "datasetField"):
        raise no_such_path()
    parent, _, field = rest.rpartition(":")
    try:
        _, row = node_of(db, f"dataset:{parent}" if kind == "datasetField" else node_id)
    except RefusedRequestError:
        raise RefusedRequestError(404, "Could not find node") from None
    if kind == "datasetField":
        return [(row["id"], field)]
    versions = db.execute(
        "SELECT DISTINCT dataset, fields FROM dataset_versions WHERE dataset = ?"
        if kind == "dataset"
        else "SELECT DISTINCT v.dataset, v.fields FROM job_version_datasets u JOIN dataset_versions v"
        " ON v.dataset = u.dataset WHERE u.version = ? AND u.io = 'OUTPUT'",
        (row["id"] if kind == "dataset" else row["current_version"],),
    )
    columns = {(version["dataset"], field) for version in versions for field in json.loads(version["fields"])}
    if not columns:
        raise RefusedRequestError(404, "Could not find node")
    return sorted(columns)


def _walk(db: Connection, start: list[Column], depth: int, *, downstream: bool) -> dict[tuple[Column, Column], Row]:
    """Pairs of a column and one that it is made of."""
    made_of = "SELECT * FROM column_lineage WHERE dataset = ? AND field = ?"
    makes = "SELECT * FROM column_lineage WHERE of_dataset = ? AND of_field = ?"
    found: dict[tuple[Column, Column], Row] = {}
    queries = [(made_of, column) for column in start]
    for _ in range(max(depth, 1)):
        rows = [row for query, column in queries for row in db.execute(query, column)]
        pairs = {((row["dataset"], row["field"]), (row["of_dataset"], row["of_field"])): row for row in rows}
        fresh = {pair: row for pair, row in pairs.items() if pair not in found}
        if not fresh:
            break
        found |= fresh
        queries = [(made_of, source) for _, source in fresh]
        queries += [(makes, column) for column, _ in fresh] if downstream else []
    return found


def _node(db: Connection, column: Column, pairs: dict[tuple[Column, Column], Row]) -> Json:
    sources = {source: row for (made, source), row in pairs.items() if made == column}
    results = {made: row for (made, source), row in pairs.items() if source == column}
    own, row = _name(db, column), next(iter((sources or results).values()))
    version = row["version"] if sources else row["of_version"]
    # Marquez tells the type of a column only where it knows what the column is made of.
    typed = one(db, "SELECT fields FROM dataset_versions WHERE id = ?", version) if sources else None
    said = {
        "transformationDescription": row["transformation_description"],
        "transformationType": row["transformation_type"],
    }
    return {
        "id": _id(own),
        "type": "DATASET_FIELD",
        "data": {
            **own,
            "datasetVersion": version,
            **(said if sources else _SAID),
            "fieldType": "" if typed is None else json.loads(typed["fields"]).get(column[1], [""])[0],
            "inputFields": [
                {**_name(db, source), "datasetVersion": row["of_version"], **_SAID} for source, row in sources.items()
            ],
        },
        # As Marquez has it: an edge to what a column is made of begins at the column.
        "inEdges": [{"origin": _id(own), "destination": _id(_name(db, source))} for source in sources],
        "outEdges": [{"origin": _id(own), "destination": _id(_name(db, made))} for made in results],
    }


def _name(db: Connection, column: Column) -> dict[str, str]:
    namespace, name = db.execute("SELECT namespace, name FROM datasets WHERE id = ?", column[:1]).fetchone()
    return {"namespace": namespace, "dataset": name, "field": column[1]}


def _id(name: dict[str, str]) -> str:
    return ":".join(("datasetField", *name.values()))
