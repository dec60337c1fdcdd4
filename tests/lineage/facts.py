"""What the ledger holds in these tests: a corner of food_delivery with declared datasets, its attempts and records."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from functools import cache

from lineage_assets.datasets import Dataset, Field, parse_fields
from lineage_assets.graph import AssetGraph, AssetKey, AssetNode, Input, LineageJob
from lineage_assets.ledger.record import Attempt, PartitionRecord, State
from lineage_assets.ledger.scene import Site, SourceCode, scene_of, scene_text
from lineage_assets.lineage.extras import Extras
from lineage_assets.lineage.projection import Projection
from lineage_assets.partitions import Daily, PartitionSet, trailing_days
from tests.support.records import make_attempt, make_record

STARTED = datetime(2021, 6, 7, 2, 0, tzinfo=timezone.utc)
RUN = "0a8f6f7e-1111-4222-8333-444455556666"
OWNERS = ("team:food-delivery",)
DAYS = Daily(date(2021, 5, 24), date(2021, 6, 12))
SITE = Site("s3://lake/warehouse", "3.5.6", "0.1.0")
SOURCE = SourceCode(
    text='def etl(orders):\n    return orders.groupBy("ds").count()\n',
    repository="https://github.com/example/food-delivery.git",
    commit="693e35482bc2e526ced2b5f9f76ef83dec6ec691",
    branch="main",
    path="jobs/orders.py",
)

ORDERS, MENUS, WEEKLY = ("orders",), ("menus",), ("orders_7_days",)
TOP, DISCOUNTS, MAILS = ("top_delivery_times",), ("discounts",), ("email_discounts",)


def dataset(name: str, columns: str) -> Dataset:
    said = f"A table for {name.replace('_', ' ')}."
    return Dataset("food_delivery", f"public.{name}", parse_fields(columns), said, f"food_delivery.{name}")


def job(name: str, description: str = "") -> LineageJob:
    return LineageJob("food_delivery", f"example.{name}", description, OWNERS)


def graph() -> AssetGraph:
    """Two sources, a window over one of them, a job with two outputs, an outbox, and an input that is not ours."""
    times = job("delivery_times_7_days", "Determine weekly top delivery times by restaurant.")
    week = (Input(ORDERS, trailing_days(7)), Input(MENUS), Input(("weather",)))
    orders = Dataset(
        "food_delivery",
        "public.orders",
        (Field("id", "INTEGER", "The id of the order."), Field("placed_on", "TIMESTAMP"), Field("menu_id", "INTEGER")),
        "A table for orders.",
        "food_delivery.orders",
    )
    return AssetGraph.of(
        [
            AssetNode(ORDERS, job("etl_orders", "Loads newly placed orders daily."), DAYS, (), orders),
            AssetNode(
                MENUS, job("etl_menus"), DAYS, (), replace(dataset("menus", "id INTEGER, name VARCHAR"), description="")
            ),
            AssetNode(
                WEEKLY,
                job("etl_orders_7_days", "Loads newly placed orders weekly."),
                DAYS,
                week,
                dataset("orders_7_days", "order_id INTEGER, placed_on TIMESTAMP, menu_id INTEGER"),
            ),
            AssetNode(TOP, times, DAYS, (Input(WEEKLY),), dataset("top_delivery_times", "order_id INTEGER")),
            AssetNode(DISCOUNTS, times, DAYS, (Input(WEEKLY),), dataset("discounts", "id INTEGER")),
            AssetNode(MAILS, job("email_discounts"), DAYS, (Input(DISCOUNTS),)),
        ]
    )


PRICES, RATES, CITIES = ("prices",), ("exchange_rates",), ("cities",)


def graph_with_neighbours() -> AssetGraph:
    """An asset made from a week of another producer's table, and from the whole of another one."""
    rates = Dataset("warehouse", "public.exchange_rates", parse_fields("currency VARCHAR, rate DOUBLE"))
    cities = Dataset("s3://geo", "cities", ())
    inputs = (
        Input(RATES, trailing_days(3), rates, "lake.finance.exchange_rates"),
        Input(CITIES, dataset=cities, table="lake.geo.cities", is_whole=True),
    )
    made = dataset("prices", "city VARCHAR, price DOUBLE")
    return AssetGraph.of([AssetNode(PRICES, job("etl_prices", "Prices by city."), DAYS, inputs, made)])


def projection(extras: Extras | None = None) -> Projection:
    return Projection() if extras is None else Projection(extras)


@cache
def _scene(asset: AssetKey) -> str:
    return scene_text(scene_of(asset, graph(), SITE, SOURCE))


def attempt(
    partitions: PartitionSet, asset: AssetKey = ORDERS, *, of: AssetGraph | None = None, **overrides: object
) -> Attempt:
    scene = _scene(asset) if of is None else scene_text(scene_of(asset, of, SITE, SOURCE))
    made = replace(make_attempt(), asset=asset, partitions=partitions, scene=scene)
    return replace(made, **{"run_id": RUN, "started": STARTED, "code_version": "c0ffee", **overrides})


def verdict(
    partition: str, state: State = State.GOOD, asset: AssetKey = ORDERS, **overrides: object
) -> PartitionRecord:
    """The record of an attempt of `attempt`, ended twenty seconds after it began."""
    known = {} if state.is_bad else {"rows": 120, "snapshot": 6412980114027655001, "made_by": RUN}
    fields: dict[str, object] = {
        "asset": asset,
        "run_id": RUN,
        "started": STARTED,
        "ended": STARTED + timedelta(seconds=20),
        "code_version": "c0ffee",
        **known,
        **overrides,
    }
    return make_record(partition, state, **fields)
