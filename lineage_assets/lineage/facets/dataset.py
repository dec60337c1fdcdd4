"""The facets of datasets: what one is, where it lies, what a run read of it and made of it."""

from __future__ import annotations

from typing import Any

from openlineage.client import facet_v2 as standard
from openlineage.client.facet_v2 import DatasetFacet, InputDatasetFacet, OutputDatasetFacet

from lineage_assets.datasets import Dataset
from lineage_assets.ledger.record import Assertion
from lineage_assets.ledger.scene import Site
from lineage_assets.lineage.facets import MOST_NAMED, PRODUCER
from lineage_assets.lineage.turns import ColumnOf, DatasetRead, DatasetWritten

_columns = standard.column_lineage_dataset


def dataset_facets(dataset: Dataset, site: Site, *, with_symlinks: bool) -> dict[str, DatasetFacet]:
    """What a dataset is and where it lies; the same on every event, or Marquez makes a version of each change."""
    facets: dict[str, DatasetFacet] = {
        "schema": _schema(dataset),
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
    if with_symlinks and dataset.table is not None:
        physical = standard.symlinks_dataset.Identifier(site.warehouse, dataset.table, "TABLE")
        facets["symlinks"] = standard.symlinks_dataset.SymlinksDatasetFacet([physical], producer=PRODUCER)
    return facets


def external_facets(dataset: Dataset) -> dict[str, DatasetFacet]:
    """Of what another makes only what Marquez cannot do without, and the columns where the reader declares them.

    Its producer says the rest: the last to speak of a source or a schema is believed.
    """
    source = dataset.namespace if ":" in dataset.namespace else f"dataset:{dataset.namespace}"
    facets: dict[str, DatasetFacet] = {
        "dataSource": standard.datasource_dataset.DatasourceDatasetFacet(dataset.namespace, source, producer=PRODUCER)
    }
    return {**facets, "schema": _schema(dataset)} if dataset.fields else facets


def _schema(dataset: Dataset) -> DatasetFacet:
    fields = [
        standard.schema_dataset.SchemaDatasetFacetFields(
            column.name, column.type, column.description or None, fields=None
        )
        for column in dataset.fields
    ]
    return standard.schema_dataset.SchemaDatasetFacet(fields, producer=PRODUCER)


def read_facets(read: DatasetRead) -> dict[str, DatasetFacet]:
    """The snapshot that a run read."""
    return {} if read.snapshot is None else {"version": _version(read.snapshot)}


def read_input_facets(read: DatasetRead) -> dict[str, InputDatasetFacet]:
    """How many rows the partitions hold that a run read."""
    if read.rows is None:
        return {}
    statistics = standard.input_statistics_input_dataset.InputStatisticsInputDatasetFacet
    return {"inputStatistics": statistics(read.rows, producer=PRODUCER)}


def owned_facets(owners: tuple[str, ...]) -> dict[str, DatasetFacet]:
    """Whose an output is. Each attempt replaces partitions, so `OVERWRITE` is on every event of it."""
    change = standard.lifecycle_state_change_dataset
    facets: dict[str, DatasetFacet] = {
        "lifecycleStateChange": change.LifecycleStateChangeDatasetFacet(
            change.LifecycleStateChange.OVERWRITE, producer=PRODUCER
        )
    }
    if owners:
        named = [standard.ownership_dataset.Owner(owner) for owner in owners]
        facets["ownership"] = standard.ownership_dataset.OwnershipDatasetFacet(named, producer=PRODUCER)
    return facets


def written_facets(written: DatasetWritten) -> dict[str, DatasetFacet]:
    """What a run makes of a dataset."""
    facets: dict[str, DatasetFacet] = {}
    if written.snapshot is not None:
        facets["version"] = _version(written.snapshot)
    if written.columns or written.row_sources:
        fields = {
            column: _columns.Fields([_input_field(source) for source in sources])
            for column, sources in written.columns.items()
        }
        facets["columnLineage"] = _columns.ColumnLineageDatasetFacet(
            fields, dataset=[_input_field(source) for source in written.row_sources] or None, producer=PRODUCER
        )
    return {**facets, **_quality(written)}


def written_output_facets(written: DatasetWritten) -> dict[str, OutputDatasetFacet]:
    if written.rows is None:
        return {}
    statistics = standard.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
    return {"outputStatistics": statistics(written.rows, written.size_bytes, written.files, producer=PRODUCER)}


def _version(snapshot: int) -> DatasetFacet:
    return standard.dataset_version_dataset.DatasetVersionDatasetFacet(str(snapshot), producer=PRODUCER)


def _quality(written: DatasetWritten) -> dict[str, DatasetFacet]:
    """What the audit measured and asked, where it did: on the output, since a job does not read what it makes."""
    facets: dict[str, DatasetFacet] = {}
    if written.rows is not None:
        metrics = standard.data_quality_metrics_dataset
        facets["dataQualityMetrics"] = metrics.DataQualityMetricsDatasetFacet(
            {column: metrics.ColumnMetrics(nullCount=count) for column, count in sorted(written.nulls.items())},
            rowCount=written.rows,
            bytes=written.size_bytes,
            fileCount=written.files,
            producer=PRODUCER,
        )
    if written.assertions:
        # Those that failed first: of a long range not all are told.
        asked = sorted(written.assertions, key=lambda one: one[1].success)[:MOST_NAMED]
        told: Any = standard.data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(
            [_assertion(day, one) for day, one in asked], producer=PRODUCER
        )
        facets["dataQualityAssertions"] = told  # the client files it under inputs only; the form is the same
    return facets


def _assertion(day: str, asked: Assertion) -> standard.data_quality_assertions_dataset.Assertion:
    return standard.data_quality_assertions_dataset.Assertion(
        asked.kind,
        asked.success,
        asked.column,
        severity="error",
        expected=asked.expected,
        actual=asked.actual,
        params={"ds": day},
    )


def _input_field(source: ColumnOf) -> _columns.InputField:
    dataset, column, steps = source
    told = [_columns.Transformation(step.type, step.subtype, masking=step.masking) for step in steps]
    return _columns.InputField(dataset.namespace, dataset.name, column, transformations=told or None)
