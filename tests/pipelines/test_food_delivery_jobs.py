"""Each job keeps its contract; the weekly orders and deliveries by small examples."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lineage_assets.assets.declaration import JobDeclaration
from lineage_assets.pipelines.food_delivery import feed, jobs
from lineage_assets.pipelines.food_delivery.assets import JOBS
from tests.pipelines.frames import at, declared, frame, rows_of, run_job

pytestmark = pytest.mark.spark

D4, D5 = date(2021, 6, 4), date(2021, 6, 5)


def week(spark: SparkSession, *orders: dict[str, Any], items: tuple[dict[str, Any], ...]) -> DataFrame:
    """`orders_7_days` of restaurant 7 with menu 70 and the categories 701 and 702, the same on both days."""
    sections = [{"ds": day, "id": id_, "menu_id": 70} for day in (D4, D5) for id_ in (701, 702)]
    return jobs.orders_7_days(
        frame(spark, "orders", orders),
        frame(spark, "menu_items", items),
        frame(spark, "categories", sections),
        frame(spark, "menus", [{"ds": day, "id": 70, "restaurant_id": 7} for day in (D4, D5)]),
    )


def people(spark: SparkSession) -> dict[str, DataFrame]:
    customers = [
        {"ds": D4, "id": 1, "name": "Ada", "email": "ada@example.com", "address": "1 Mill Lane", "city_id": 3},
        {"ds": D4, "id": 2, "name": "Bo", "email": "bo@example.com", "address": "2 Mill Lane", "city_id": 4},
    ]
    kitchens = [{"ds": D4, "id": id_, "address": f"{id_} Tower Hill", "city_id": 9} for id_ in (7, 8)]
    return {
        "customers": frame(spark, "customers", customers),
        "restaurants": frame(spark, "restaurants", kitchens),
        "drivers": frame(spark, "drivers", [{"ds": D4, "id": 5}, {"ds": D4, "id": 6}]),
    }


def status(id_: int, state: str, when: str, **changed: int) -> dict[str, Any]:
    told = {"order_id": 11, "customer_id": 1, "restaurant_id": 7, "driver_id": 5, **changed}
    return {"ds": D4, "id": id_, "status": state, "transitioned_at": at(when), **told}


def delivered(spark: SparkSession, *statuses: dict[str, Any]) -> list[dict[str, Any]]:
    """`deliveries` of order 11, ordered for restaurant 7."""
    order = {"ds": D4, "order_id": 11, "placed_on": at("06-04 12:00"), "restaurant_id": 7, "menu_item_id": 7011}
    made = jobs.deliveries(
        frame(spark, "orders_7_days", [order]), frame(spark, "order_status", statuses), **people(spark)
    )
    return [dict(zip(made.columns, row, strict=True)) for row in rows_of(made)]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.lineage_job.name)
def test_a_job_makes_the_declared_columns_and_types(spark: SparkSession, job: JobDeclaration) -> None:
    inputs = {
        parameter: frame(spark, job.makes[0].name if parameter == "landing" else parameter, [])
        for parameter in job.reads
    }
    made = run_job(spark, job, inputs, [D4])
    assert {
        asset: [(column.name, column.dataType.simpleString()) for column in rows.schema] for asset, rows in made.items()
    } == {
        one.name: [("ds", "date"), *((column.name, column.spark_type) for column in one.columns)] for one in job.makes
    }


@pytest.mark.parametrize("table", feed.TABLES)
def test_a_source_keeps_the_rows_of_the_feed(spark: SparkSession, table: feed.Table) -> None:
    job, made = declared(table)
    landed = [
        {
            "ds": D4,
            **row,
            **{
                column.name: at(str(row[column.name])[5:16].replace("T", " "))
                for column in made.columns
                if column.type == "TIMESTAMP"
            },
        }
        for row in feed.rows_of(feed.DEMO, table, D4)[:5]
    ]
    landing = frame(spark, table, landed)
    assert rows_of(job.function(landing)) == rows_of(landing)
    assert len(landed) == 5


def test_an_order_finds_its_restaurant_by_way_of_item_category_and_menu(spark: SparkSession) -> None:
    order = {"ds": D4, "id": 11, "placed_on": at("06-04 12:00"), "menu_item_id": 7011, "discount_id": 3}
    made = week(spark, order, items=({"ds": D4, "id": 7011, "category_id": "701"},))
    assert rows_of(made) == [(D4, 11, "2021-06-04 12:00:00", 3, 7, 70, 7011, 701)]


def test_an_item_whose_category_is_no_number_belongs_to_none(spark: SparkSession) -> None:
    """ANSI mode would fail the whole range for one such item."""
    orders = [
        {"ds": D4, "id": id_, "placed_on": at("06-04 12:00"), "menu_item_id": item} for id_, item in ((1, 8), (2, 9))
    ]
    items = ({"ds": D4, "id": 8, "category_id": "special"}, {"ds": D4, "id": 9, "category_id": "701"})
    assert [row[1] for row in rows_of(week(spark, *orders, items=items))] == [2]


def test_an_order_is_matched_with_the_card_of_the_partition_it_is_read_for(spark: SparkSession) -> None:
    orders = [{"ds": day, "id": 1, "placed_on": at("06-04 12:00"), "menu_item_id": 9} for day in (D4, D5)]
    items = ({"ds": D4, "id": 9, "category_id": "701"}, {"ds": D5, "id": 9, "category_id": "702"})
    assert [(row[0], row[-1]) for row in rows_of(week(spark, *orders, items=items))] == [(D4, 701), (D5, 702)]


def test_a_delivery_has_the_times_of_its_states_and_the_ids_of_its_latest(spark: SparkSession) -> None:
    rows = delivered(
        spark,
        status(1, "PLACED", "06-04 12:00", driver_id=5),
        status(2, "DISPATCHED", "06-04 12:10", driver_id=5),
        status(3, "DELIVERED", "06-04 12:40", driver_id=6, customer_id=2, restaurant_id=8),
    )
    assert rows == [
        {
            "ds": D4,
            "order_id": 11,
            "order_placed_on": "2021-06-04 12:00:00",
            "order_dispatched_on": "2021-06-04 12:10:00",
            "order_delivered_on": "2021-06-04 12:40:00",
            "customer_email": "bo@example.com",
            "customer_address": "2 Mill Lane",
            "menu_id": None,
            "restaurant_id": 8,
            "restaurant_address": "8 Tower Hill",
            "menu_item_id": 7011,
            "category_id": None,
            "discount_id": None,
            "city_id": 4,
            "driver_id": 6,
        }
    ]


def test_an_order_under_way_is_a_delivery_without_its_later_times(spark: SparkSession) -> None:
    (row,) = delivered(spark, status(1, "PLACED", "06-04 12:00"))
    assert (row["order_dispatched_on"], row["order_delivered_on"], row["driver_id"]) == (None, None, 5)


def test_of_states_reached_at_one_time_the_higher_id_is_the_latest(spark: SparkSession) -> None:
    (row,) = delivered(
        spark,
        status(2, "DISPATCHED", "06-04 12:00", driver_id=5),
        status(1, "PLACED", "06-04 12:00", driver_id=6),
    )
    assert row["driver_id"] == 5


def test_a_state_told_twice_makes_one_delivery_with_the_first_time(spark: SparkSession) -> None:
    (row,) = delivered(
        spark,
        status(1, "DELIVERED", "06-04 12:30"),
        status(2, "DELIVERED", "06-04 12:50"),
    )
    assert row["order_delivered_on"] == "2021-06-04 12:30:00"


def test_an_order_without_any_state_is_no_delivery(spark: SparkSession) -> None:
    assert delivered(spark, status(1, "PLACED", "06-04 12:00", order_id=99)) == []
