"""What is made of deliveries, by small examples: the slowest, discounts, the popular day, mails."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lineage_assets.pipelines.food_delivery import jobs
from tests.pipelines.frames import at, frame, rows_of

pytestmark = pytest.mark.spark

D4 = date(2021, 6, 4)


def delivery(order_id: int, restaurant_id: int, placed: str, arrived: str | None, **more: str) -> dict[str, Any]:
    return {
        "ds": D4,
        "order_id": order_id,
        "restaurant_id": restaurant_id,
        "order_placed_on": at(placed),
        "order_delivered_on": None if arrived is None else at(arrived),
        "customer_email": "ada@example.com",
        "driver_id": 5,
        **more,
    }


def times(spark: SparkSession, *deliveries: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    made = jobs.delivery_times_7_days(frame(spark, "deliveries", deliveries))
    return {asset: rows_of(rows) for asset, rows in made.items()}


def customers(spark: SparkSession, *more: dict[str, Any]) -> DataFrame:
    ada = {"ds": D4, "id": 1, "name": "Ada", "email": "ada@example.com"}
    return frame(spark, "customers", [ada, {"ds": D4, "id": 2, "name": "Bo", "email": "bo@example.com"}, *more])


def test_each_restaurant_keeps_its_slowest_delivery_in_whole_minutes(spark: SparkSession) -> None:
    top = times(
        spark,
        delivery(1, 7, "06-04 12:00", "06-04 12:20"),
        delivery(2, 7, "06-04 23:50", "06-05 00:20"),
        delivery(3, 8, "06-04 12:00", "06-04 12:05"),
        delivery(4, 8, "06-04 12:00", None),
    )["top_delivery_times"]
    assert top == [
        (D4, 2, "2021-06-04 23:50:00", "2021-06-05 00:20:00", 30, "ada@example.com", 7, 5),
        (D4, 3, "2021-06-04 12:00:00", "2021-06-04 12:05:00", 5, "ada@example.com", 8, 5),
    ]


def test_of_equally_slow_deliveries_the_lowest_order_id_is_kept(spark: SparkSession) -> None:
    slow = [delivery(id_, 7, "06-04 12:00", "06-04 12:50") for id_ in (9, 3, 5)]
    assert [row[1] for row in times(spark, *slow)["top_delivery_times"]] == [3]


def test_discounts_go_to_all_who_waited_45_minutes_and_are_larger_from_60(spark: SparkSession) -> None:
    discounts = times(
        spark,
        delivery(1, 7, "06-04 12:00", "06-04 12:44:59"),
        delivery(2, 7, "06-04 12:00", "06-04 12:45"),
        delivery(3, 7, "06-04 12:00", "06-04 12:59:59"),
        delivery(4, 7, "06-04 12:00", "06-04 13:00", customer_email="bo@example.com"),
        delivery(5, 7, "06-04 12:00", None),
    )["discounts"]
    valid = ("2021-06-05 00:00:00", "2021-06-12 00:00:00")
    assert discounts == [
        (D4, 2, 5, "ada@example.com", *valid),
        (D4, 3, 5, "ada@example.com", *valid),
        (D4, 4, 15, "bo@example.com", *valid),
    ]


def popular(spark: SparkSession, *placed: str) -> list[tuple[Any, ...]]:
    top = [
        {
            "ds": D4,
            "order_id": id_,
            "restaurant_id": id_,
            "order_placed_on": at(when),
            "customer_email": "ada@example.com",
        }
        for id_, when in enumerate(placed)
    ]
    shared = [{"ds": D4, "id": id_, "email": "ada@example.com"} for id_ in (1, 2)]
    made = jobs.popular_orders_day_of_week(frame(spark, "top_delivery_times", top), frame(spark, "customers", shared))
    return rows_of(made)


def test_the_popular_day_counts_each_order_once_though_two_customers_share_an_address(spark: SparkSession) -> None:
    # 2021-06-03 is a Thursday.
    assert popular(spark, "06-03 19:00", "06-03 18:00", "06-04 12:00") == [(D4, 4, "2021-06-03 18:00:00", 2)]


def test_of_equally_popular_days_the_lowest_is_kept_and_sunday_is_0(spark: SparkSession) -> None:
    # A Thursday and a Sunday.
    assert popular(spark, "06-03 19:00", "05-30 12:00") == [(D4, 0, "2021-05-30 12:00:00", 1)]


def test_orders_of_unknown_customers_make_no_popular_day(spark: SparkSession) -> None:
    top = frame(spark, "top_delivery_times", [{"ds": D4, "order_placed_on": at("06-03 19:00"), "customer_email": "x"}])
    assert rows_of(jobs.popular_orders_day_of_week(top, customers(spark))) == []


def test_each_discount_is_one_mail_to_the_customer_by_name(spark: SparkSession) -> None:
    discounts = [
        {"ds": D4, "id": id_, "amount_off": 5, "customer_email": email, "starts_on": at("06-05 00:00"), "ends_on": None}
        for id_, email in ((1, "ada@example.com"), (2, "ada@example.com"), (3, "gone@example.com"))
    ]
    # Registered later with the same address: no second mail.
    namesake = {"ds": D4, "id": 9, "name": "Zoe", "email": "ada@example.com"}
    mails = jobs.email_discounts(frame(spark, "discounts", discounts), customers(spark, namesake))
    assert rows_of(mails) == [
        (D4, 1, "ada@example.com", "Ada", 5, "2021-06-05 00:00:00", None),
        (D4, 2, "ada@example.com", "Ada", 5, "2021-06-05 00:00:00", None),
    ]
