"""Events as they leave: turns of our runs as OpenLineage events, in bytes that are the same for the same facts.

One of the two files that know the OpenLineage client; knows no receiver.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from openlineage.client import event_v2, facet_v2
from openlineage.client.facet_v2 import BaseFacet, RunFacet
from openlineage.client.serde import Serde

from lineage_assets.datasets import Dataset
from lineage_assets.graph import LineageJob
from lineage_assets.ledger.scene import Site, SourceCode
from lineage_assets.lineage.extras import Extras
from lineage_assets.lineage.facets import MOST_NAMED, PRODUCER, instant
from lineage_assets.lineage.facets.dataset import (
    dataset_facets,
    external_facets,
    owned_facets,
    read_facets,
    read_input_facets,
    written_facets,
    written_output_facets,
)
from lineage_assets.lineage.facets.job import job_facets, source_facets
from lineage_assets.lineage.facets.run import computation_of, frame_facets, run_facets
from lineage_assets.lineage.names import check_name
from lineage_assets.lineage.turns import DatasetRead, DatasetWritten, Turn, TurnType
from lineage_assets.partitions import PartitionSet, Range, key_of

Plain = dict[str, Any]
"""A JSON object."""

_subset = facet_v2.base_subset_dataset
_SCHEMA = event_v2.RunEvent(
    eventTime="2021-06-04T00:00:00Z",
    producer=PRODUCER,
    run=event_v2.Run(str(UUID(int=0))),
    job=event_v2.Job("any", "any"),
).schemaURL
"""The client's, of the version of OpenLineage that it speaks."""


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
    computed = computation_of(turn.notes).spark_version
    frame = _frame(
        run.partitions, computed if computed is not None else run.site.spark_version, run.site.adapter_version
    )
    return _event(
        turn.type,
        turn.time,
        (run.lineage_run_id, {**frame, **_plain(run_facets(run, turn.notes, with_parent=extras.parents))}),
        (run.job, _job(run.job, run.source)),
        (
            [_input(read, run.site, extras) for read in turn.inputs],
            [_output(written, run.site, extras) for written in turn.outputs],
        ),
    )


def bare_event(
    turn: TurnType, time: datetime, lineage_run: UUID, job: LineageJob, facets: dict[str, RunFacet]
) -> Event:
    """An event of a run that reads and writes nothing itself: a backfill."""
    told = _plain(job_facets(job, integration="DAGSTER", job_type="DAG"))
    return _event(turn, time, (lineage_run, _plain(facets)), (job, told), ([], []))


def _event(
    turn: TurnType,
    time: datetime,
    run: tuple[UUID, Plain],
    job: tuple[LineageJob, Plain],
    datasets: tuple[list[Plain], list[Plain]],
) -> Event:
    (lineage_run, run_told), (named, job_told) = run, job
    check_name("lineage job", named.namespace, named.name)
    inputs, outputs = datasets
    made = {
        "eventType": turn.value,
        "eventTime": instant(time),
        "run": {"runId": str(lineage_run), "facets": run_told},
        "job": {"namespace": named.namespace, "name": named.name, "facets": job_told},
        "inputs": inputs,
        "outputs": outputs,
        "producer": PRODUCER,
        "schemaURL": _SCHEMA,
    }
    return Event(lineage_run, turn, named.name, time, json.dumps(made, sort_keys=True))


def _input(read: DatasetRead, site: Site, extras: Extras) -> Plain:
    of_run = {"subset": _read_subset(read.partitions)} if read.partitions else {}
    return {
        "namespace": read.dataset.namespace,
        "name": read.dataset.name,
        "facets": {
            **(_external(read.dataset) if read.is_external else _dataset(read.dataset, site, extras.symlinks)),
            **_plain(read_facets(read)),
        },
        "inputFacets": {**of_run, **_plain(read_input_facets(read))},
    }


def _output(written: DatasetWritten, site: Site, extras: Extras) -> Plain:
    of_run = {"subset": _written_subset(written.partitions), **_plain(written_output_facets(written))}
    return {
        "namespace": written.dataset.namespace,
        "name": written.dataset.name,
        "facets": {
            **_dataset(written.dataset, site, extras.symlinks),
            **_owned(written.owners),
            **_plain(written_facets(written)),
        },
        "outputFacets": of_run,
    }


def _plain(facets: Mapping[str, BaseFacet]) -> Plain:
    """Facets as JSON has them, by the client's own rules."""
    return {name: Serde.to_dict(facet) for name, facet in facets.items()}


# What is declared comes in every event; made into JSON once, events are made four times as fast.


@lru_cache(maxsize=1024)
def _job(job: LineageJob, source: SourceCode) -> Plain:
    return _plain({**job_facets(job), **source_facets(source)})


@lru_cache(maxsize=1024)
def _dataset(dataset: Dataset, site: Site, with_symlinks: bool) -> Plain:  # noqa: FBT001 - part of a cache's key
    return _plain(dataset_facets(dataset, site, with_symlinks=with_symlinks))


@lru_cache(maxsize=1024)
def _owned(owners: tuple[str, ...]) -> Plain:
    return _plain(owned_facets(owners))


@lru_cache(maxsize=1024)
def _frame(partitions: PartitionSet, spark_version: str, adapter_version: str) -> Plain:
    return _plain(frame_facets(partitions, spark_version, adapter_version))


@lru_cache(maxsize=1024)
def _external(dataset: Dataset) -> Plain:
    return _plain(external_facets(dataset))


@lru_cache(maxsize=256)
def _read_subset(partitions: PartitionSet) -> Plain:
    return Serde.to_dict(_subset.InputSubsetInputDatasetFacet(_condition(partitions), producer=PRODUCER))


@lru_cache(maxsize=256)
def _written_subset(partitions: PartitionSet) -> Plain:
    return Serde.to_dict(_subset.OutputSubsetOutputDatasetFacet(_condition(partitions), producer=PRODUCER))


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
