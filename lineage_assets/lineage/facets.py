"""The facets of our events: the published ones, and four of our own with their schemas in `schemas/`.

One of the two files that know the OpenLineage client. Its global producer is left alone: each facet names ours, so
that a stranger's events in this process keep theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

import attr
from openlineage.client import facet_v2 as standard
from openlineage.client.facet_v2 import DatasetFacet, JobFacet, RunFacet

from lineage_assets.datasets import Dataset
from lineage_assets.graph import LineageJob
from lineage_assets.lineage.ids import backfill_lineage_run_id
from lineage_assets.lineage.site import Site
from lineage_assets.lineage.turns import Block, DatasetWritten, LineageRun, Mistake, Note, Reuse
from lineage_assets.partitions import key_of

PRODUCER = "https://github.com/lineage-assets/lineage-assets"
"""The repository of this project: who made an event, and where the schemas of its facets are."""

SCHEMAS = f"{PRODUCER}/raw/facets-1-0-0/lineage_assets/lineage/schemas"
"""A tag that never moves: a facet whose meaning changes gets a new one."""

MOST_NAMED = 100
"""Longer lists of partitions are told as ranges, or cut off beside their true count."""


def _schema(name: str) -> str:
    return f"{SCHEMAS}/{name}.json#/$defs/{name}"


@attr.define
class LineageAssetsAttemptRunFacet(RunFacet):
    dagsterRunId: str  # noqa: N815 - OpenLineage's spelling, here and below
    assetKeys: list[list[str]]  # noqa: N815
    attempt: int
    codeVersion: str  # noqa: N815
    partition: str | None = None
    partitions: dict[str, str] | None = None

    @staticmethod
    def _get_schema() -> str:
        return _schema("LineageAssetsAttemptRunFacet")


@attr.define
class LineageAssetsBackfillRunFacet(RunFacet):
    id: str
    run: dict[str, str]
    requestedBy: str | None = None  # noqa: N815
    reason: str | None = None
    plan: dict[str, str | int] | None = None
    estimateSeconds: float | None = None  # noqa: N815
    result: dict[str, int] | None = None

    @staticmethod
    def _get_schema() -> str:
        return _schema("LineageAssetsBackfillRunFacet")


@attr.define
class LineageAssetsBlockRunFacet(RunFacet):
    kind: str
    cause: str
    blockedBy: list[dict[str, Any]]  # noqa: N815
    blockedByCount: int  # noqa: N815

    @staticmethod
    def _get_schema() -> str:
        return _schema("LineageAssetsBlockRunFacet")


@attr.define
class LineageAssetsReuseRunFacet(RunFacet):
    made: list[dict[str, Any]]
    madeCount: int  # noqa: N815

    @staticmethod
    def _get_schema() -> str:
        return _schema("LineageAssetsReuseRunFacet")


def instant(time: datetime) -> str:
    """Milliseconds and `Z`, always: texts of one length sort as the times do."""
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_facets(run: LineageRun, notes: Iterable[Note], site: Site) -> dict[str, RunFacet]:
    """The facets of one run; the same at START and at the end but for the notes."""
    first, last = run.partitions.ranges[0]
    facets: dict[str, RunFacet] = {
        "nominalTime": standard.nominal_time_run.NominalTimeRunFacet(
            f"{key_of(first)}T00:00:00Z", f"{key_of(last + 1)}T00:00:00Z", producer=PRODUCER
        ),
        "processing_engine": standard.processing_engine_run.ProcessingEngineRunFacet(
            site.spark_version, "spark", site.adapter_version, producer=PRODUCER
        ),
        "lineageAssets_attempt": LineageAssetsAttemptRunFacet(
            dagsterRunId=run.run_id,
            assetKeys=[list(asset) for asset in run.assets],
            attempt=run.number,
            codeVersion=run.code_version,
            partition=key_of(first) if first == last else None,
            partitions=None if first == last else {"first": key_of(first), "last": key_of(last)},
            producer=PRODUCER,
        ),
    }
    if run.backfill is not None:
        facets["lineageAssets_backfill"] = backfill_facet(run.backfill, backfill_lineage_run_id(run.backfill))
    for note in notes:
        name, facet = _note_facet(note)
        facets[name] = facet
    return facets


def backfill_facet(
    backfill: str, lineage_run: UUID, story: Mapping[str, Any] | None = None
) -> LineageAssetsBackfillRunFacet:
    """Which backfill: its id and its own lineage run; on that run also who asked for what, and what came of it."""
    told = story if story is not None else {}
    return LineageAssetsBackfillRunFacet(id=backfill, run={"runId": str(lineage_run)}, **told, producer=PRODUCER)


def error_facet(message: str) -> RunFacet:
    return standard.error_message_run.ErrorMessageRunFacet(message, "PYTHON", producer=PRODUCER)


def _note_facet(note: Note) -> tuple[str, RunFacet]:
    match note:
        case Mistake(message):
            return "errorMessage", error_facet(message)
        case Block(cause, by):
            blocking = [{"assetKey": list(ref.asset), "partition": ref.partition} for ref in by[:MOST_NAMED]]
            facet = LineageAssetsBlockRunFacet(cause.kind, cause.message, blocking, len(by), producer=PRODUCER)
            return "lineageAssets_block", facet
        case Reuse(records):
            made = [
                {
                    "assetKey": list(record.asset),
                    "partition": record.partition,
                    "dagsterRunId": record.made_by,
                    "dataVersion": record.fingerprint,
                }
                for record in records[:MOST_NAMED]
            ]
            return "lineageAssets_reuse", LineageAssetsReuseRunFacet(made, len(records), producer=PRODUCER)


def job_facets(job: LineageJob, *, integration: str = "SPARK", job_type: str = "JOB") -> dict[str, JobFacet]:
    """The facets of a job; on every event, since Marquez takes the description from the last one."""
    facets: dict[str, JobFacet] = {
        "jobType": standard.job_type_job.JobTypeJobFacet("BATCH", integration, job_type, producer=PRODUCER)
    }
    if job.description:
        facets["documentation"] = standard.documentation_job.DocumentationJobFacet(job.description, producer=PRODUCER)
    if job.owners:
        owners = [standard.ownership_job.Owner(owner) for owner in job.owners]
        facets["ownership"] = standard.ownership_job.OwnershipJobFacet(owners, producer=PRODUCER)
    return facets


def dataset_facets(dataset: Dataset, site: Site) -> dict[str, DatasetFacet]:
    """What a dataset is and where it lies; the same on every event, or Marquez makes a version of each change."""
    fields = [
        standard.schema_dataset.SchemaDatasetFacetFields(
            column.name, column.type, column.description or None, fields=None
        )
        for column in dataset.fields
    ]
    facets: dict[str, DatasetFacet] = {
        "schema": standard.schema_dataset.SchemaDatasetFacet(fields, producer=PRODUCER),
        "dataSource": standard.datasource_dataset.DatasourceDatasetFacet(
            site.catalog, site.warehouse, producer=PRODUCER
        ),
        "storage": standard.storage_dataset.StorageDatasetFacet("iceberg", "parquet", producer=PRODUCER),
        "catalog": standard.catalog_dataset.CatalogDatasetFacet(
            framework="iceberg",
            type=site.catalog_type,
            name=site.catalog,
            warehouseUri=site.warehouse,
            source="spark",
            catalogProperties=None,
            producer=PRODUCER,
        ),
    }
    if dataset.description:
        facets["documentation"] = standard.documentation_dataset.DocumentationDatasetFacet(
            dataset.description, producer=PRODUCER
        )
    return facets


def written_facets(written: DatasetWritten) -> dict[str, DatasetFacet]:
    """What a run made of a dataset: the snapshot, and which input columns its columns come from."""
    facets: dict[str, DatasetFacet] = {}
    if written.snapshot is not None:
        facets["version"] = standard.dataset_version_dataset.DatasetVersionDatasetFacet(
            str(written.snapshot), producer=PRODUCER
        )
    if written.columns:
        lineage = standard.column_lineage_dataset
        fields = {
            column: lineage.Fields(
                [
                    lineage.InputField(dataset.namespace, dataset.name, source, transformations=None)
                    for dataset, source in sources
                ]
            )
            for column, sources in written.columns.items()
        }
        facets["columnLineage"] = lineage.ColumnLineageDatasetFacet(fields, dataset=None, producer=PRODUCER)
    return facets
