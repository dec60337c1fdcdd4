"""What stands above a lineage run where a hierarchy is asked for: the pipeline, and the backfill. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from uuid import UUID

from lineage_assets.errors import BadDeclarationError
from lineage_assets.graph import LineageJob
from lineage_assets.lineage.ids import parent_lineage_run_id

Parent = tuple[LineageJob, UUID]
"""A pipeline, and a run of it."""


def parent_of(job: LineageJob, run_id: str) -> Parent | None:
    """The pipeline of a job, `example` of `example.etl_orders`, and its run that a Dagster run is.

    None of a job whose name has no dot: under any other parent Marquez would make it a second job.
    """
    prefix = job.name.rpartition(".")[0]
    if not prefix:
        return None
    return LineageJob(job.namespace, prefix, owners=job.owners), parent_lineage_run_id(run_id, job.namespace, prefix)


def backfill_job(jobs: Iterable[LineageJob]) -> LineageJob:
    """The job whose runs are the backfills of a pipeline: `example.backfill` beside `example.etl_orders`."""
    of = list(jobs)
    if not of:
        raise BadDeclarationError("jobs of a backfill", "none", "name at least one")
    first = of[0]
    words = zip(*(job.name.split(".")[:-1] for job in of if job.namespace == first.namespace), strict=False)
    prefix = [column[0] for column in takewhile(lambda column: len(set(column)) == 1, words)]
    return repairs(first.namespace, ".".join([*prefix, "backfill"]))


def repairs(namespace: str, name: str) -> LineageJob:
    """The job of that name, whose runs are backfills."""
    return LineageJob(namespace, name, "Repairs of the pipeline.")
