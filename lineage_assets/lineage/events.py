"""Events as they leave: turns of our runs as OpenLineage events, in bytes that are the same for the same facts.

One of the two files that know the OpenLineage client; knows no receiver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from openlineage.client import event_v2, facet_v2
from openlineage.client.facet_v2 import RunFacet
from openlineage.client.serde import Serde

from lineage_assets.graph import LineageJob
from lineage_assets.ledger.scene import Site
from lineage_assets.lineage.extras import Extras
from lineage_assets.lineage.facets import MOST_NAMED, PRODUCER, instant
from lineage_assets.lineage.facets.dataset import (
    dataset_facets,
    read_facets,
    read_input_facets,
    written_facets,
    written_output_facets,
)
from lineage_assets.lineage.facets.job import job_facets, source_facets
from lineage_assets.lineage.facets.run import run_facets
from lineage_assets.lineage.names import check_name
from lineage_assets.lineage.turns import DatasetRead, DatasetWritten, Turn, TurnType
from lineage_assets.partitions import PartitionSet, Range, key_of

_subset = facet_v2.base_subset_dataset


@dataclass(frozen=True, slots=True)
class Event:
    """One event, ready to leave."""

    lineage_run_id: UUID
    type: TurnType
    job: str
    time: datetime
    body: str
    """JSON, keys sorted."""


def event_of(turn: Turn, extras: Extras) -> Event:
    """The event that tells of this turn."""
    run = turn.run
    for dataset in (*(read.dataset for read in turn.inputs), *(written.dataset for written in turn.outputs)):
        check_name("dataset", dataset.namespace, dataset.name)
    facets = {**job_facets(run.job), **source_facets(run.source)}
    return _event(
        turn.type,
        turn.time,
        event_v2.Run(str(run.lineage_run_id), run_facets(run, turn.notes, with_parent=extras.parents)),
        (run.job, event_v2.Job(run.job.namespace, run.job.name, facets)),
        (
            [_input(read, run.site, extras) for read in turn.inputs],
            [_output(written, run.site, extras) for written in turn.outputs],
        ),
    )


def bare_event(
    turn: TurnType, time: datetime, lineage_run: UUID, job: LineageJob, facets: dict[str, RunFacet]
) -> Event:
    """An event of a run that reads and writes nothing itself: a backfill."""
    told = event_v2.Job(job.namespace, job.name, job_facets(job, integration="DAGSTER", job_type="DAG"))
    return _event(turn, time, event_v2.Run(str(lineage_run), facets), (job, told), ([], []))


def _event(
    turn: TurnType,
    time: datetime,
    run: event_v2.Run,
    job: tuple[LineageJob, event_v2.Job],
    datasets: tuple[list[event_v2.InputDataset], list[event_v2.OutputDataset]],
) -> Event:
    named, told = job
    check_name("lineage job", named.namespace, named.name)
    inputs, outputs = datasets
    made = event_v2.RunEvent(
        eventType=event_v2.RunState(turn.value),
        eventTime=instant(time),
        run=run,
        job=told,
        inputs=inputs,
        outputs=outputs,
        producer=PRODUCER,
    )
    return Event(UUID(run.runId), turn, named.name, time, Serde.to_json(made))


def _input(read: DatasetRead, site: Site, extras: Extras) -> event_v2.InputDataset:
    subset = _subset.InputSubsetInputDatasetFacet(_condition(read.partitions), producer=PRODUCER)
    return event_v2.InputDataset(
        read.dataset.namespace,
        read.dataset.name,
        facets={**dataset_facets(read.dataset, site, with_symlinks=extras.symlinks), **read_facets(read)},
        inputFacets={**({"subset": subset} if read.partitions else {}), **read_input_facets(read)},
    )


def _output(written: DatasetWritten, site: Site, extras: Extras) -> event_v2.OutputDataset:
    subset = _subset.OutputSubsetOutputDatasetFacet(_condition(written.partitions), producer=PRODUCER)
    return event_v2.OutputDataset(
        written.dataset.namespace,
        written.dataset.name,
        facets={
            **dataset_facets(written.dataset, site, with_symlinks=extras.symlinks),
            **written_facets(written),
        },
        outputFacets={"subset": subset, **written_output_facets(written)},
    )


def _condition(partitions: PartitionSet) -> Any:  # noqa: ANN401 - a union that the client spells as a string
    """Each partition by name; of very many the ranges, as comparisons of `ds`."""
    if len(partitions) > MOST_NAMED:
        return _any_of(partitions.ranges)
    named = [_subset.Partition({"ds": key_of(day)}, f"ds={key_of(day)}") for day in partitions]
    return _subset.PartitionSubsetCondition(named)


def _any_of(ranges: Sequence[Range]) -> Any:  # noqa: ANN401 - as above
    # Halved, not chained: receivers refuse JSON that is nested too deep.
    if len(ranges) == 1:
        return _between(ranges[0])
    half = len(ranges) // 2
    return _subset.BinarySubsetCondition(_any_of(ranges[:half]), _any_of(ranges[half:]), "OR")


def _between(one: Range) -> Any:  # noqa: ANN401 - as above
    first, last = one
    return _subset.BinarySubsetCondition(
        _compared("GREATER_EQUAL_THAN", first), _compared("LESS_EQUAL_THAN", last), "AND"
    )


def _compared(comparison: str, day: int) -> Any:  # noqa: ANN401 - as above
    return _subset.CompareSubsetCondition(
        _subset.FieldBaseCompareExpression("ds"), _subset.LiteralCompareExpression(key_of(day)), comparison
    )
