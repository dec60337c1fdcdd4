"""A plan of 5,000 assets by a year: counted by ranges, and its cost put into the test report, not asserted."""

import time
from collections.abc import Callable
from datetime import date, datetime, timezone

from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.graph import AssetGraph
from lineage_assets.partitions import SAME_PARTITION, Daily, PartitionSet
from tests.support.graphs import WEEK, make_node

ASSETS = 5_000
YEARS = Daily(date(2014, 1, 1), date(2025, 12, 31))


def tree() -> AssetGraph:
    """Each asset read by three, one edge in five through a week."""
    readers = (
        make_node(f"a{n}", (f"a{(n - 1) // 3}", SAME_PARTITION if n % 5 else WEEK), partitions=YEARS)
        for n in range(1, ASSETS)
    )
    return AssetGraph.of([make_node("a0", partitions=YEARS), *readers])


def test_a_year_downstream_of_one_asset_in_five_thousand(record_property: Callable[[str, object], None]) -> None:
    graph = tree()
    year = PartitionSet.between(date(2024, 1, 1).toordinal(), date(2024, 12, 30).toordinal())
    started = time.perf_counter()
    plan = plan_backfill(
        graph, BackfillRequest.downstream_of(("a0",), year), now=datetime(2026, 6, 1, tzinfo=timezone.utc)
    )
    record_property("plan_seconds", round(time.perf_counter() - started, 3))
    assert plan.partition_count == 1_863_460
    assert len(plan.units) == ASSETS
    assert plan.wave_count == 9
