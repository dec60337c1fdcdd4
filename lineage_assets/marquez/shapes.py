"""What Marquez answers, as values: jobs, runs, datasets, the lineage graph, and walks over it.

Pure. Takes of an answer what is asked for here and leaves the rest; facets stay as they came.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DatasetVersion:
    """A version of a dataset that a run read or wrote, with what the run said of it."""

    namespace: str
    name: str
    version: str
    facets: Json = field(compare=False)


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    state: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    inputs: tuple[DatasetVersion, ...]
    outputs: tuple[DatasetVersion, ...]
    facets: Json = field(compare=False)


@dataclass(frozen=True, slots=True)
class Job:
    namespace: str
    name: str
    description: str | None
    inputs: tuple[tuple[str, str], ...]
    """Namespace and name of each."""
    outputs: tuple[tuple[str, str], ...]
    latest_run: Run | None
    facets: Json = field(compare=False)


@dataclass(frozen=True, slots=True)
class Dataset:
    namespace: str
    name: str
    fields: tuple[tuple[str, str | None], ...]
    """Name and type of each column."""
    current_version: str | None
    """None until a run that wrote it has completed."""
    facets: Json = field(compare=False)


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    kind: Literal["JOB", "DATASET"]
    namespace: str
    name: str
    state: str | None
    """Of a job: the state of the run that spoke last."""
    upstream: tuple[str, ...]
    """Ids of the nodes that this one is made from."""
    downstream: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineageGraph:
    nodes: Mapping[str, Node]

    def jobs(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes.values() if node.kind == "JOB")

    def datasets(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes.values() if node.kind == "DATASET")


def job_node_id(namespace: str, name: str) -> str:
    return f"job:{namespace}:{name}"


def dataset_node_id(namespace: str, name: str) -> str:
    return f"dataset:{namespace}:{name}"


def downstream_jobs(graph: LineageGraph, job_node_id: str) -> tuple[str, ...]:
    """Ids of the jobs that read, directly or through others, what this job writes; nearest first.

    A ring of jobs ends the walk where it closes, and the job itself is never in the answer.
    """
    found = {job_node_id: None}
    frontier = [job_node_id]
    while frontier:
        near = (_next(graph, node) for node in frontier)
        frontier = sorted({node for nodes in near for node in nodes} - found.keys())
        found |= dict.fromkeys(frontier)
    return tuple(node for node in found if node != job_node_id and graph.nodes[node].kind == "JOB")


def _next(graph: LineageGraph, node_id: str) -> Iterable[str]:
    node = graph.nodes.get(node_id)
    ends = () if node is None else node.downstream
    # An edge may leave the part of the graph that was asked for.
    return (end for end in ends if end in graph.nodes)


def graph_of(answer: Json) -> LineageGraph:
    nodes = (
        Node(
            id=node["id"],
            kind=node["type"],
            namespace=node["data"]["namespace"],
            name=node["data"]["name"],
            state=(node["data"].get("latestRun") or {}).get("state"),
            upstream=tuple(sorted(edge["origin"] for edge in node["inEdges"])),
            downstream=tuple(sorted(edge["destination"] for edge in node["outEdges"])),
        )
        for node in answer["graph"]
    )
    return LineageGraph({node.id: node for node in nodes})


def job_of(answer: Json) -> Job:
    latest = answer.get("latestRun")
    return Job(
        namespace=answer["namespace"],
        name=answer["name"],
        description=answer.get("description"),
        inputs=_names(answer["inputs"]),
        outputs=_names(answer["outputs"]),
        latest_run=None if latest is None else run_of(latest),
        facets=answer.get("facets") or {},
    )


def run_of(answer: Json) -> Run:
    return Run(
        id=answer["id"],
        state=answer["state"],
        created_at=_time(answer["createdAt"]),
        started_at=None if answer.get("startedAt") is None else _time(answer["startedAt"]),
        ended_at=None if answer.get("endedAt") is None else _time(answer["endedAt"]),
        inputs=_versions(answer.get("inputDatasetVersions") or ()),
        outputs=_versions(answer.get("outputDatasetVersions") or ()),
        facets=answer.get("facets") or {},
    )


def dataset_of(answer: Json) -> Dataset:
    return Dataset(
        namespace=answer["namespace"],
        name=answer["name"],
        fields=tuple(sorted((column["name"], column.get("type")) for column in answer.get("fields") or ())),
        current_version=answer.get("currentVersion"),
        facets=answer.get("facets") or {},
    )


def _names(answers: Iterable[Json]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((answer["namespace"], answer["name"]) for answer in answers))


def _versions(answers: Iterable[Json]) -> tuple[DatasetVersion, ...]:
    versions = (
        DatasetVersion(
            namespace=answer["datasetVersionId"]["namespace"],
            name=answer["datasetVersionId"]["name"],
            version=answer["datasetVersionId"]["version"],
            facets=answer.get("facets") or {},
        )
        for answer in answers
    )
    return tuple(sorted(versions, key=lambda version: (version.namespace, version.name)))


def _time(text: str) -> datetime:
    whole, _, fraction = text.removesuffix("Z").partition(".")
    # Python 3.10 reads fractions of three or six digits only.
    return datetime.fromisoformat(f"{whole}.{fraction[:6]:0<6}+00:00")
