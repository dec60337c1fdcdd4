"""Named asset graphs, and nodes of which a test names only what matters to it."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime, timezone

from lineage_assets.graph import AssetGraph, AssetNode, Input, LineageJob
from lineage_assets.partitions import SAME_PARTITION, Daily, PartitionSet, Window, parse_day, trailing_days

NOW = datetime(2021, 6, 20, 12, 0, tzinfo=timezone.utc)
DAYS = Daily(date(2021, 5, 24), date(2021, 6, 12))
WEEK = trailing_days(7)

Reading = str | tuple[str, Window]


def make_node(name: str, *inputs: Reading, job: str = "", partitions: Daily = DAYS) -> AssetNode:
    """The asset `name`, made by a job of its own unless one is named."""
    windows = (read if isinstance(read, tuple) else (read, SAME_PARTITION) for read in inputs)
    return AssetNode(
        key=(name,),
        job=LineageJob("test", job or f"make_{name}"),
        partitions=partitions,
        inputs=tuple(Input((asset,), window) for asset, window in windows),
    )


def food_delivery() -> AssetGraph:
    """The graph of the backfill blog: 14 assets, 13 jobs."""
    sources = ("menus", "categories", "menu_items", "customers", "drivers", "restaurants", "orders", "order_status")
    return AssetGraph.of(
        [
            *(make_node(name) for name in sources),
            make_node("orders_7_days", ("orders", WEEK), "menu_items", "categories", "menus"),
            make_node("deliveries", "orders_7_days", ("order_status", WEEK), "customers", "restaurants", "drivers"),
            make_node("top_delivery_times", "deliveries", job="delivery_times"),
            make_node("discounts", "deliveries", job="delivery_times"),
            make_node("popular_orders_day_of_week", "top_delivery_times", "customers"),
            make_node("email_discounts", "discounts", "customers"),
        ]
    )


def rolling_chain() -> AssetGraph:
    """Three levels of seven-day windows over one source."""
    return AssetGraph.of(
        [
            make_node("raw"),
            make_node("week", ("raw", WEEK)),
            make_node("r2", ("week", WEEK)),
            make_node("r3", ("r2", WEEK)),
        ]
    )


def diamond() -> AssetGraph:
    """`top` to `bottom` by two ways, one of them through a window."""
    return AssetGraph.of(
        [
            make_node("top"),
            make_node("left", "top"),
            make_node("right", ("top", WEEK)),
            make_node("bottom", "left", "right"),
        ]
    )


def days(first: str, last: str | None = None) -> PartitionSet:
    return PartitionSet.between(
        parse_day(first).toordinal(), parse_day(last if last is not None else first).toordinal()
    )


def shuffled(graph: AssetGraph, order: Iterable[int]) -> AssetGraph:
    """The same graph, its nodes handed over in another order and each node's inputs turned round."""
    nodes = list(graph.nodes.values())
    return AssetGraph.of(replace(nodes[place], inputs=nodes[place].inputs[::-1]) for place in order)
