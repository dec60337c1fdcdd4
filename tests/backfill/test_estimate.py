"""What a plan may take: for each unit about what the last programs of its asset took."""

from __future__ import annotations

from datetime import timedelta

from lineage_assets.backfill.estimate import estimate_seconds
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.fold import History, Logged, fold_history
from tests.support.graphs import NOW, days
from tests.support.records import NOON, make_record
from tests.support.small_shop import JOBS

GRAPH = AssetGraph.of(node for job in JOBS for node in job.nodes)


def plan() -> BackfillPlan:
    """Three units: orders, weekly, and the job of two outputs."""
    return plan_backfill(GRAPH, BackfillRequest.downstream_of(("orders",), days("2021-06-04")), now=NOW)


def history(asset: AssetKey, *seconds: float) -> History:
    """One program a day, each of which took so long."""
    log = []
    for day, took in enumerate(seconds, start=1):
        began = NOON + timedelta(days=day)
        ended = began + timedelta(seconds=took)
        record = make_record(f"2021-06-{day:02}", asset=asset, run_id=f"run-{day}", started=began, ended=ended)
        log.append(Logged(day, record))
    return fold_history(log)


def test_each_unit_takes_the_middle_of_what_the_last_programs_of_its_asset_took() -> None:
    told = {("orders",): history(("orders",), 2.0, 4.0, 60.0), ("weekly",): history(("weekly",), 3.0)}
    told |= {asset: history(asset, 1.5) for asset in (("best",), ("worst",))}
    assert len(plan().units) == 3
    assert estimate_seconds(plan(), told) == 4.0 + 3.0 + 1.5


def test_what_was_long_ago_does_not_count() -> None:
    told = {asset: history(asset, *[100.0] * 9, *[1.0] * 10) for asset in GRAPH.nodes}
    assert estimate_seconds(plan(), told) == 3.0


def test_an_asset_that_was_never_computed_leaves_no_estimate() -> None:
    told = {asset: history(asset, 3.0) for asset in GRAPH.nodes} | {("weekly",): History()}
    assert estimate_seconds(plan(), told) is None
