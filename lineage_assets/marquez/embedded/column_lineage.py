"""Which column was made of which, walked from a dataset, a column or a job.

Cumulative over all runs, as in Marquez; of one pair of columns the latest statement counts.
"""

import json
from collections.abc import Iterable
from sqlite3 import Connection, Row

from lineage_assets.marquez.embedded.answers import Json
from lineage_assets.marquez.embedded.graph import node_of
from lineage_assets.marquez.embedded.refusals import RefusedRequestError, no_such_path

Column = tuple[int, str]


def column_lineage(db: Connection, node_id: str, depth: int, *, downstream: bool) -> Json:
    rows = _walk(db, _columns_of(db, node_id), depth, downstream=downstream)
    nodes: dict[Column, Json] = {}
    for row in rows:
        out, source = (row["out_dataset"], row["out_field"]), (row["in_dataset"], row["in_field"])
        node = nodes.setdefault(out, {})
        said = {"transformationDescription": row["description"], "transformationType": row["type"]}
        nodes.setdefault(source, {})
        node.setdefault("said", {**said, "version": row["out_version"]})
        node.setdefault("inputs", {})[source] = {**said, "version": row["in_version"]}
        nodes[source].setdefault("outputs", set()).add(out)
        nodes[source].setdefault("read", row["in_version"])
    names = {column: _name(db, column) for column in nodes}
    answers = [_node(db, column, node, names) for column, node in nodes.items()]
    return {"graph": sorted(answers, key=lambda answer: str(answer["id"]))}


def _columns_of(db: Connection, node_id: str) -> list[Column]:
    """The columns a node stands for: its own, or those that a job writes."""
    kind, _, rest = node_id.partition(":")
    if kind == "datasetField":
        parent, _, field = rest.rpartition(":")
        _, dataset = _known(db, f"dataset:{parent}")
        return [(dataset["id"], field)]
    if kind not in ("job", "dataset"):
        raise no_such_path()
    _, row = _known(db, node_id)
    if kind == "dataset":
        datasets = [row["id"]]
    else:
        written = "SELECT dataset FROM job_version_datasets WHERE version = ? AND io = 'OUTPUT'"
        datasets = [used["dataset"] for used in db.execute(written, (row["version"],))]
    columns = {(dataset, field) for dataset in datasets for field in _fields_ever(db, dataset)}
    if not columns:
        raise RefusedRequestError(404, "Could not find node")
    return sorted(columns)


def _known(db: Connection, node_id: str) -> tuple[str, Row]:
    try:
        return node_of(db, node_id)
    except RefusedRequestError:
        raise RefusedRequestError(404, "Could not find node") from None


def _fields_ever(db: Connection, dataset: int) -> Iterable[str]:
    for row in db.execute("SELECT DISTINCT fields FROM dataset_versions WHERE dataset = ?", (dataset,)):
        yield from json.loads(row["fields"])


def _walk(db: Connection, start: list[Column], depth: int, *, downstream: bool) -> list[Row]:
    made_of = "SELECT * FROM column_lineage WHERE out_dataset = ? AND out_field = ?"
    makes = "SELECT * FROM column_lineage WHERE in_dataset = ? AND in_field = ?"
    found: dict[tuple[Column, Column], Row] = {}
    queries = [(made_of, column) for column in start]
    for _ in range(max(depth, 1)):
        fresh = {}
        for query, column in queries:
            for row in db.execute(query, column):
                pair = ((row["out_dataset"], row["out_field"]), (row["in_dataset"], row["in_field"]))
                if pair not in found:
                    fresh[pair] = row
        found |= fresh
        queries = [(made_of, source) for _, source in fresh]
        if downstream:
            queries += [(makes, out) for out, _ in fresh]
    return list(found.values())


def _name(db: Connection, column: Column) -> dict[str, str]:
    row = db.execute("SELECT namespace, name FROM datasets WHERE id = ?", (column[0],)).fetchone()
    return {"namespace": row["namespace"], "dataset": row["name"], "field": column[1]}


def _id(name: dict[str, str]) -> str:
    return f"datasetField:{name['namespace']}:{name['dataset']}:{name['field']}"


def _node(db: Connection, column: Column, node: Json, names: dict[Column, dict[str, str]]) -> Json:
    own = _id(names[column])
    said = node.get(
        "said", {"transformationDescription": None, "transformationType": None, "version": node.get("read")}
    )
    version = db.execute("SELECT fields FROM dataset_versions WHERE id = ?", (said["version"],)).fetchone()
    fields = json.loads(version["fields"]) if "said" in node and version is not None else {}
    inputs, outputs = node.get("inputs", {}), node.get("outputs", ())
    return {
        "id": own,
        "type": "DATASET_FIELD",
        "data": {
            **names[column],
            "datasetVersion": said["version"],
            "fieldType": fields.get(column[1], [""])[0],
            "transformationDescription": said["transformationDescription"],
            "transformationType": said["transformationType"],
            "inputFields": [
                {
                    **names[source],
                    "datasetVersion": use["version"],
                    "transformationDescription": None,
                    "transformationType": None,
                }
                for source, use in inputs.items()
            ],
        },
        # As Marquez has it: an edge to what a column is made of begins at the column.
        "inEdges": [{"origin": own, "destination": _id(names[source])} for source in inputs],
        "outEdges": [{"origin": own, "destination": _id(names[out])} for out in outputs],
    }
