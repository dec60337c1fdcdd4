"""Jobs downstream of a dataset that this code location does not own, as Marquez knows them.

The one file of this room that asks a lineage server; what it does not know is no error here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineage_assets.datasets import Dataset
from lineage_assets.graph import AssetGraph
from lineage_assets.marquez.client import MarquezClient
from lineage_assets.marquez.errors import NotInMarquezError
from lineage_assets.marquez.shapes import Job, dataset_node_id, downstream_jobs


@dataclass(frozen=True, slots=True)
class ForeignJob:
    """A job of somebody else's that reads what was made from ours."""

    namespace: str
    name: str
    owners: tuple[str, ...]
    reads: tuple[tuple[str, str], ...]
    """Namespace and name of each of its inputs."""
    run_id: str | None
    """Marquez's, of its newest run."""
    state: str | None
    at: datetime | None
    """When that run ended, else when it began."""


def foreign_jobs(client: MarquezClient, dataset: Dataset, graph: AssetGraph) -> tuple[ForeignJob, ...]:
    """The jobs that read the dataset, directly or through others, and are not the graph's; the nearest first."""
    own = {(node.job.namespace, node.job.name) for node in graph.nodes.values()}
    start = dataset_node_id(dataset.namespace, dataset.name)
    try:
        seen = client.lineage(start)
    except NotInMarquezError:
        return ()  # no event has named it yet, so nobody has read it
    near = (seen.nodes[node_id] for node_id in downstream_jobs(seen, start))
    strange = [(node.namespace, node.name) for node in near if (node.namespace, node.name) not in own]
    return tuple(_foreign(client.job(*named)) for named in strange)


def _foreign(job: Job) -> ForeignJob:
    run = job.latest_run
    return ForeignJob(
        namespace=job.namespace,
        name=job.name,
        owners=tuple(_owners(job.facets)),
        reads=job.inputs,
        run_id=None if run is None else run.id,
        state=None if run is None else run.state,
        at=None if run is None else next((at for at in (run.ended_at, run.started_at) if at is not None), None),
    )


def _owners(facets: Any) -> list[str]:  # noqa: ANN401 - JSON, of anybody's making
    said = facets.get("ownership")
    owners = said.get("owners") if isinstance(said, dict) else None
    return [str(one["name"]) for one in owners or () if isinstance(one, dict) and one.get("name")]
