"""Declarations as Dagster definitions: one asset (or multi-asset) a job with its checks, and the graph read back."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from dagster import (
    AssetCheckSpec,
    AssetDep,
    AssetExecutionContext,
    AssetsDefinition,
    AssetSpec,
    BackfillPolicy,
    BetaWarning,
    DailyPartitionsDefinition,
    Definitions,
    ExecutorDefinition,
    MetadataValue,
    Output,
    PreviewWarning,
    TimeWindowPartitionMapping,
    in_process_executor,
    multi_asset,
)
from dagster import AssetKey as DagsterAssetKey

from lineage_assets.assets.code_version import code_version
from lineage_assets.assets.complete import complete_check
from lineage_assets.assets.declaration import JobDeclaration
from lineage_assets.assets.events import AUDIT_CHECK
from lineage_assets.assets.neighbours import refuse_false_neighbours
from lineage_assets.assets.platform import Platform
from lineage_assets.assets.services import SERVICES_KEY, services_resource
from lineage_assets.assets.step import run_job
from lineage_assets.backfill.job import build_backfill_job
from lineage_assets.errors import BadDeclarationError, did_you_mean
from lineage_assets.graph import AssetGraph, AssetNode, name_of, node_from_json, node_json
from lineage_assets.launch.launcher import Launcher
from lineage_assets.lineage.names import check_names
from lineage_assets.partitions import SAME_PARTITION, Daily
from lineage_assets.reconcile.sensor import build_reconcile_sensor
from lineage_assets.settings import Settings

NODE_KEY = "lineage_assets/node"


@contextmanager
def _no_news() -> Iterator[None]:
    """Each asset of ours has a backfill policy (beta) and a partitioned check (preview): no news to anybody."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BetaWarning)
        warnings.simplefilter("ignore", PreviewWarning)
        yield


@_no_news()
def build_definitions(
    jobs: Iterable[JobDeclaration],
    *,
    launcher: Launcher,
    settings: Settings,
    executor: ExecutorDefinition = in_process_executor,
) -> Definitions:
    """All that Dagster needs to know of the given jobs; merge it with your own by `Definitions.merge`."""
    declared = tuple(jobs)
    graph = AssetGraph.of(node for job in declared for node in job.nodes)
    _refuse_unreadable(graph)
    check_names(graph)
    platform = Platform(graph, launcher, settings, is_one_process=executor is in_process_executor)
    refuse_false_neighbours(platform)
    days: dict[Daily, DailyPartitionsDefinition] = {}
    for job in declared:
        days.setdefault(job.partitions, _partitions_def(job.partitions))
    ours = Definitions(
        assets=[_asset(job, days[job.partitions], launcher.conf) for job in declared],
        asset_checks=[complete_check(node.key, days[job.partitions]) for job in declared for node in job.nodes],
        resources={SERVICES_KEY: services_resource(platform)},
        sensors=[build_reconcile_sensor(graph, settings)],
        executor=executor,
    )
    # The job runs the assets it is defined beside; no definitions hold both before they are merged.
    return Definitions.merge(ours, Definitions(jobs=[build_backfill_job(graph, lambda: ours, settings)]))


def _refuse_unreadable(graph: AssetGraph) -> None:
    """A program reads tables of this graph, and what is declared external; a misspelt parameter shows here at once."""
    for node in graph.nodes.values():
        for read in node.inputs:
            what = f'input of "{name_of(node.key)}"'
            if read.asset == node.key:
                raise BadDeclarationError(what, name_of(read.asset), "an asset cannot read itself yet")
            if read.dataset is None and read.asset not in graph.nodes:
                hint = did_you_mean(name_of(read.asset), map(name_of, graph.nodes))
                mend = "no job declared makes it; what another producer makes is declared as external(...)."
                raise BadDeclarationError(what, name_of(read.asset), f"{mend}{hint}".rstrip("."))


def graph_of(definitions: Definitions) -> AssetGraph:
    """The graph of our assets among the definitions of a code location; assets of others are not in it."""
    found = (spec.metadata.get(NODE_KEY) for spec in definitions.resolve_all_asset_specs())
    return AssetGraph.of(node_from_json(_plain(one)) for one in found if one is not None)


def _asset(job: JobDeclaration, partitions_def: DailyPartitionsDefinition, conf: Mapping[str, str]) -> AssetsDefinition:
    version = code_version(job, conf)

    @multi_asset(
        name=job.lineage_job.name.replace(".", "__"),
        specs=[_spec(job, node, partitions_def, version) for node in job.nodes],
        check_specs=[
            AssetCheckSpec(
                AUDIT_CHECK,
                asset=DagsterAssetKey(node.key),
                description="The content before it is published; evaluated where it fails or failed before.",
                partitions_def=partitions_def,
            )
            for node in job.nodes
        ],
        partitions_def=partitions_def,
        backfill_policy=BackfillPolicy.single_run(),
        required_resource_keys={SERVICES_KEY},
        can_subset=True,
    )
    def computed(context: AssetExecutionContext) -> Iterator[Output[None]]:
        yield from run_job(context, job, getattr(context.resources, SERVICES_KEY))

    return computed


def _spec(job: JobDeclaration, node: AssetNode, partitions_def: DailyPartitionsDefinition, version: str) -> AssetSpec:
    made = next(one for one in job.makes if (one.name,) == node.key)
    said = [made.description, job.lineage_job.description]
    return AssetSpec(
        key=DagsterAssetKey(node.key),
        deps=[
            AssetDep(
                DagsterAssetKey(read.asset),
                # To Dagster what is not ours has no partitions.
                partition_mapping=None
                if read.window == SAME_PARTITION or read.dataset is not None
                else TimeWindowPartitionMapping(start_offset=read.window.first, end_offset=read.window.last),
            )
            for read in node.inputs
        ],
        description="\n\n".join(line for line in said if line),
        metadata={NODE_KEY: MetadataValue.json(node_json(node))},
        group_name=job.group,
        code_version=version,
        owners=list(job.lineage_job.owners),
        tags=dict(job.lineage_job.tags),
        kinds={"pyspark", "iceberg"} if node.dataset is not None else {"pyspark"},
        partitions_def=partitions_def,
    )


def _partitions_def(daily: Daily) -> DailyPartitionsDefinition:
    after = None if daily.last is None else (daily.last + timedelta(days=1)).isoformat()
    return DailyPartitionsDefinition(start_date=daily.first.isoformat(), end_date=after, timezone="UTC")


def _plain(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - metadata is wrapped or not, by the way it came
    data = getattr(value, "data", value)
    if not isinstance(data, Mapping):
        raise TypeError(f"The metadata {NODE_KEY} of an asset holds {data!r}, not a node.")
    return data
