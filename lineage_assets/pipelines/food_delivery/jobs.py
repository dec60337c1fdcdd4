"""The Spark jobs of food_delivery: DataFrames in, DataFrames out.

Refuses to know where tables and files lie, which days are computed, and what is checked before publishing.
Every input has the column `ds`, the partition for which it is read. All joins and groups go by `ds`, so a job
gives the same rows for one day and for a year of days.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

LATE_MINUTES = 45
"""A delivery that took this long earns its customer a discount,"""

VERY_LATE_MINUTES = 60
"""and one that took this long a larger one."""


def menus(landing: DataFrame) -> DataFrame:
    return landing.select("ds", "id", "name", "restaurant_id", "description")


def categories(landing: DataFrame) -> DataFrame:
    return landing.select("ds", "id", "name", "menu_id", "description")


def menu_items(landing: DataFrame) -> DataFrame:
    return landing.select("ds", "id", "name", "price", "category_id", "description")


def customers(landing: DataFrame) -> DataFrame:
    return landing.select("ds", "id", "created_at", "updated_at", "name", "email", "address", "phone", "city_id")


def drivers(landing: DataFrame) -> DataFrame:
    car = ("car_make", "car_model", "car_year", "car_color", "car_license_plate")
    return landing.select("ds", "id", "created_at", "updated_at", "name", "email", "phone", *car)


def restaurants(landing: DataFrame) -> DataFrame:
    contact = ("email", "address", "phone", "city_id")
    return landing.select("ds", "id", "created_at", "updated_at", "name", *contact, "business_hours_id", "description")


def orders(landing: DataFrame) -> DataFrame:
    return landing.select("ds", "id", "placed_on", "menu_item_id", "quantity", "discount_id", "comment")


def order_status(landing: DataFrame) -> DataFrame:
    return landing.select(
        "ds", "id", "transitioned_at", "status", "order_id", "customer_id", "restaurant_id", "driver_id"
    )


def orders_7_days(orders: DataFrame, menu_items: DataFrame, categories: DataFrame, menus: DataFrame) -> DataFrame:
    """The week's orders with what was ordered, from which menu of which restaurant."""
    items = menu_items.select(
        "ds",
        F.col("id").alias("menu_item_id"),
        # Text in the feed, a number in categories; what is no number names no category, and must not fail the range.
        F.expr("try_cast(category_id AS INT)").alias("category_id"),
    )
    sections = categories.select("ds", F.col("id").alias("category_id"), "menu_id")
    cards = menus.select("ds", F.col("id").alias("menu_id"), "restaurant_id")
    return (
        orders.join(items, on=["ds", "menu_item_id"], how="inner")
        .join(sections, on=["ds", "category_id"], how="inner")
        .join(cards, on=["ds", "menu_id"], how="inner")
        .select(
            "ds",
            F.col("id").alias("order_id"),
            "placed_on",
            "discount_id",
            "restaurant_id",
            "menu_id",
            "menu_item_id",
            "category_id",
        )
    )


def deliveries(
    orders_7_days: DataFrame,
    order_status: DataFrame,
    customers: DataFrame,
    restaurants: DataFrame,
    drivers: DataFrame,
) -> DataFrame:
    """One row an order of the week: when it moved, and who, where and by whom as of its latest status."""
    restaurant = restaurants.select(
        "ds", F.col("id").alias("restaurant_id"), F.col("address").alias("restaurant_address")
    )
    driver = drivers.select("ds", F.col("id").alias("driver_id"))
    # The restaurant comes from the status as well, as the driver and the customer do.
    return (
        orders_7_days.drop("restaurant_id")
        .join(_progress(order_status), on=["ds", "order_id"], how="inner")
        .join(_addressees(customers), on=["ds", "customer_id"], how="inner")
        .join(restaurant, on=["ds", "restaurant_id"], how="inner")
        .join(driver, on=["ds", "driver_id"], how="inner")
        .select(
            "ds",
            "order_id",
            F.col("placed_on").alias("order_placed_on"),
            "order_dispatched_on",
            "order_delivered_on",
            "customer_email",
            "customer_address",
            "menu_id",
            "restaurant_id",
            "restaurant_address",
            "menu_item_id",
            "category_id",
            "discount_id",
            "city_id",
            "driver_id",
        )
    )


def _addressees(customers: DataFrame) -> DataFrame:
    return customers.select(
        "ds",
        F.col("id").alias("customer_id"),
        F.col("email").alias("customer_email"),
        F.col("address").alias("customer_address"),
        "city_id",
    )


def delivery_times_7_days(deliveries: DataFrame) -> dict[str, DataFrame]:
    """The slowest delivery of each restaurant, and a discount for everybody who waited too long."""
    seconds = F.unix_timestamp("order_delivered_on") - F.unix_timestamp("order_placed_on")
    timed = deliveries.where(F.col("order_delivered_on").isNotNull()).withColumn(
        "order_delivery_time", F.floor(seconds / 60).cast("int")
    )
    return {"top_delivery_times": _slowest(timed), "discounts": _discounts(timed)}


def popular_orders_day_of_week(top_delivery_times: DataFrame, customers: DataFrame) -> DataFrame:
    """The day of the week on which most of the slowest deliveries were ordered, 0 for Sunday as in PostgreSQL."""
    emails = customers.select("ds", F.col("email").alias("customer_email"))
    by_day = (
        # A semi join: an address that two customers share must not count an order twice.
        top_delivery_times.join(emails, on=["ds", "customer_email"], how="left_semi")
        .groupBy("ds", (F.dayofweek("order_placed_on") - 1).alias("order_day_of_week"))
        .agg(F.min("order_placed_on").alias("order_placed_on"), F.count("*").cast("int").alias("orders_placed"))
    )
    most_first = Window.partitionBy("ds").orderBy(F.desc("orders_placed"), F.asc("order_day_of_week"))
    return (
        by_day.withColumn("place", F.row_number().over(most_first))
        .where(F.col("place") == 1)
        .select("ds", "order_day_of_week", "order_placed_on", "orders_placed")
    )


def email_discounts(discounts: DataFrame, customers: DataFrame) -> DataFrame:
    """One mail a discount, to the customer by name."""
    # Customers who share an address get one mail, in the name of the one who registered first.
    recipients = (
        customers.groupBy("ds", F.col("email").alias("customer_email"))
        .agg(F.min(F.struct("id", "name")).alias("first"))
        .select("ds", "customer_email", F.col("first.name").alias("customer_name"))
    )
    return discounts.join(recipients, on=["ds", "customer_email"], how="inner").select(
        "ds", "id", "customer_email", "customer_name", "amount_off", "starts_on", "ends_on"
    )


def _progress(order_status: DataFrame) -> DataFrame:
    """One row an order: the first time it reached each state, and the ids that its latest status names."""
    transition = F.struct("transitioned_at", "id", "customer_id", "restaurant_id", "driver_id")
    return (
        order_status.groupBy("ds", "order_id")
        .agg(
            F.max(transition).alias("latest"),
            _first_time("DISPATCHED").alias("order_dispatched_on"),
            _first_time("DELIVERED").alias("order_delivered_on"),
        )
        .select(
            "ds",
            "order_id",
            "order_dispatched_on",
            "order_delivered_on",
            "latest.customer_id",
            "latest.restaurant_id",
            "latest.driver_id",
        )
    )


def _first_time(status: str) -> Column:
    return F.min(F.when(F.col("status") == status, F.col("transitioned_at")))


def _slowest(timed: DataFrame) -> DataFrame:
    slowest_first = Window.partitionBy("ds", "restaurant_id").orderBy(F.desc("order_delivery_time"), F.asc("order_id"))
    return (
        timed.withColumn("place", F.row_number().over(slowest_first))
        .where(F.col("place") == 1)
        .select(
            "ds",
            "order_id",
            "order_placed_on",
            "order_delivered_on",
            "order_delivery_time",
            "customer_email",
            "restaurant_id",
            "driver_id",
        )
    )


def _discounts(timed: DataFrame) -> DataFrame:
    is_late = F.col("order_delivery_time") >= LATE_MINUTES
    is_very_late = F.col("order_delivery_time") >= VERY_LATE_MINUTES
    return timed.where(is_late).select(
        "ds",
        F.col("order_id").alias("id"),
        F.when(is_very_late, 15).otherwise(5).alias("amount_off"),
        "customer_email",
        # The week that begins when the day is over: 00:00 of the next day, in the session's time zone, UTC.
        F.date_add("ds", 1).cast("timestamp").alias("starts_on"),
        F.date_add("ds", 8).cast("timestamp").alias("ends_on"),
    )
