"""The account of a backfill, read from Dagster's record of it: who asked for what, and what came of it.

From the record alone, so that whoever tells of it, its driver or the reconciler, tells the same. Of a backfill that
Dagster's daemon drives there is no plan of ours, only its target.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from lineage_assets.dagster_private import (
    USER_TAG,
    AssetBackfillData,
    BaseAssetGraph,
    BulkActionStatus,
    PartitionBackfill,
)
from lineage_assets.graph import AssetGraph, AssetKey, LineageJob
from lineage_assets.ledger.receipts import ENDED
from lineage_assets.lineage.backfills import BackfillResult, BackfillTold
from lineage_assets.lineage.parents import backfill_job, repairs

RESULT_TAG = "lineage_assets/result"
"""On the record of a backfill of ours: its partitions by what came of them, as JSON."""
FINGERPRINT_TAG = "lineage_assets/plan_fingerprint"
JOB_TAG = "lineage_assets/backfill_job"
"""On the record and the runs of a backfill of ours: the lineage job that it is a run of, as JSON.

Settled when it is opened, so that every run of it and every replay names the same one, whatever the graph is by then.
"""
ESTIMATE_TAG = "lineage_assets/estimate_seconds"


def job_tag(assets: Iterable[AssetKey], graph: AssetGraph) -> str:
    """The tag of a backfill of these assets: one job, by their jobs alone."""
    job = backfill_job(_jobs(assets, graph))
    return json.dumps([job.namespace, job.name])


def job_in(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """Namespace and name of the job that a backfill is a run of, where it was settled."""
    if JOB_TAG not in tags:
        return None
    namespace, name = json.loads(tags[JOB_TAG])
    return namespace, name


def _jobs(assets: Iterable[AssetKey], graph: AssetGraph) -> list[LineageJob]:
    return [graph.nodes[asset].job for asset in sorted(assets) if asset in graph.nodes]


def told_of(record: PartitionBackfill, assets: BaseAssetGraph[Any], graph: AssetGraph) -> BackfillTold | None:
    """What was asked for; None where none of the assets is ours."""
    chosen = [tuple(key.path) for key in record.asset_selection or ()]
    ours, settled = _jobs(chosen, graph), job_in(record.tags)
    data = _data(record, assets)
    if not ours or data is None:
        return None
    return BackfillTold(
        id=record.backfill_id,
        job=backfill_job(ours) if settled is None else repairs(*settled),
        started=datetime.fromtimestamp(record.backfill_timestamp, timezone.utc),
        requested_by=record.tags.get(USER_TAG, ""),
        reason=record.description if record.description is not None else "",
        plan=record.tags.get(FINGERPRINT_TAG),
        assets=len(chosen),
        partitions=data.target_subset.num_partitions_and_non_partitioned_assets,
        estimate_seconds=float(record.tags[ESTIMATE_TAG]) if ESTIMATE_TAG in record.tags else None,
    )


def result_of(record: PartitionBackfill, assets: BaseAssetGraph[Any]) -> BackfillResult | None:
    """What came of it; None of one that goes on."""
    data = _data(record, assets)
    if record.status not in ENDED or record.backfill_end_timestamp is None or data is None:
        return None
    ended = datetime.fromtimestamp(record.backfill_end_timestamp, timezone.utc)
    counted = _counted(record.tags.get(RESULT_TAG), data)
    return BackfillResult(ended, **counted, is_cancelled=record.status is BulkActionStatus.CANCELED)


def _counted(tag: str | None, data: AssetBackfillData) -> Mapping[str, int]:
    if tag is not None:
        counted: dict[str, int] = json.loads(tag)
        return counted
    total = data.target_subset.num_partitions_and_non_partitioned_assets
    made = data.materialized_subset.num_partitions_and_non_partitioned_assets
    failed = data.failed_and_downstream_subset.num_partitions_and_non_partitioned_assets
    return {"repaired": made, "failed": failed, "not_run": max(total - made - failed, 0)}


def _data(record: PartitionBackfill, assets: BaseAssetGraph[Any]) -> AssetBackfillData | None:
    return None if record.asset_backfill_data is None else record.get_asset_backfill_data(assets)
