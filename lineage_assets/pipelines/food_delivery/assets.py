"""The assets of food_delivery: what each job reads and makes, and what a partition must hold to be published.

Declarations only; refuses to know how a job computes (`jobs.py`) and what the feed drops (`feed.py`).
"""

from __future__ import annotations

from lineage_assets.assets.declaration import JobDeclaration, JobFunction, Pipeline, landing, outbox, table
from lineage_assets.datasets import Checks
from lineage_assets.partitions import Daily, trailing_days
from lineage_assets.pipelines.food_delivery import feed, jobs
from lineage_assets.settings import load_settings

_settings = load_settings()

PIPELINE = Pipeline(
    "food_delivery",
    Daily(_settings.first_partition, _settings.last_partition),
    owners=("team:food-delivery",),
)


def _source(
    name: feed.Table, function: JobFunction, columns: str, *, loads: str, about: str, required: tuple[str, ...]
) -> JobDeclaration:
    """A table as the feed drops it: half of the rows that the feed promises, or the day is incomplete."""
    checks = Checks(min_rows=feed.least_rows(name) // 2, required=required, key=("id",))
    return PIPELINE.job(
        function,
        f"example.etl_{name}",
        table(name, f"public.{name}", columns, description=about, checks=checks),
        reads={"landing": landing(name, columns, format=feed.FORMATS[name])},
        description=loads,
    )


JOBS: tuple[JobDeclaration, ...] = (
    _source(
        "menus",
        jobs.menus,
        "id INTEGER, name VARCHAR, restaurant_id INTEGER, description TEXT",
        loads="Loads newly added restaurant menus daily.",
        about="A table for menus.",
        required=("id", "restaurant_id"),
    ),
    _source(
        "categories",
        jobs.categories,
        "id INTEGER, name VARCHAR, menu_id INTEGER, description TEXT",
        loads="Loads newly added menus categories daily.",
        about="A table for categories.",
        required=("id", "menu_id"),
    ),
    _source(
        "menu_items",
        jobs.menu_items,
        "id INTEGER, name VARCHAR, price VARCHAR, category_id VARCHAR, description TEXT",
        loads="Loads newly added restaurant menu items daily.",
        about="A table for menu items.",
        required=("id", "category_id"),
    ),
    _source(
        "orders",
        jobs.orders,
        "id INTEGER, placed_on TIMESTAMP, menu_item_id INTEGER, quantity INTEGER, discount_id INTEGER, comment TEXT",
        loads="Loads newly placed orders daily.",
        about="A table for orders.",
        required=("id", "placed_on", "menu_item_id"),
    ),
    PIPELINE.job(
        jobs.orders_7_days,
        "example.etl_orders_7_days",
        table(
            "orders_7_days",
            "public.orders_7_days",
            "order_id INTEGER, placed_on TIMESTAMP, discount_id INTEGER, restaurant_id INTEGER, menu_id INTEGER, "
            "menu_item_id INTEGER, category_id INTEGER",
            description="A table for weekly orders.",
            checks=Checks(min_rows=1, required=("order_id", "placed_on", "restaurant_id"), key=("order_id",)),
        ),
        reads={"orders": trailing_days(7)},
        description="Loads newly placed orders weekly.",
    ),
    _source(
        "customers",
        jobs.customers,
        "id INTEGER, created_at TIMESTAMP, updated_at TIMESTAMP, name VARCHAR, email VARCHAR, address VARCHAR, "
        "phone VARCHAR, city_id INTEGER",
        loads="Loads newly registered customers daily.",
        about="A table for customers.",
        required=("id",),
    ),
    _source(
        "order_status",
        jobs.order_status,
        "id INTEGER, transitioned_at TIMESTAMP, status VARCHAR, order_id INTEGER, customer_id INTEGER, "
        "restaurant_id INTEGER, driver_id INTEGER",
        loads="Loads order statues updates daily.",
        about="A table for order status.",
        required=("id", "order_id", "transitioned_at"),
    ),
    _source(
        "drivers",
        jobs.drivers,
        "id INTEGER, created_at TIMESTAMP, updated_at TIMESTAMP, name VARCHAR, email VARCHAR, phone VARCHAR, "
        "car_make VARCHAR, car_model VARCHAR, car_year VARCHAR, car_color VARCHAR, car_license_plate VARCHAR",
        loads="Loads newly registered drivers daily.",
        about="A table for drivers.",
        required=("id",),
    ),
    _source(
        "restaurants",
        jobs.restaurants,
        "id INTEGER, created_at TIMESTAMP, updated_at TIMESTAMP, name VARCHAR, email VARCHAR, address VARCHAR, "
        "phone VARCHAR, city_id INTEGER, business_hours_id INTEGER, description TEXT",
        loads="Loads newly registered restaurants daily.",
        about="A table for restaurants.",
        required=("id",),
    ),
    PIPELINE.job(
        jobs.deliveries,
        "example.etl_delivery_7_days",
        table(
            "deliveries",
            "public.delivery_7_days",
            "order_id INTEGER, order_placed_on TIMESTAMP, order_dispatched_on TIMESTAMP, "
            "order_delivered_on TIMESTAMP, customer_email VARCHAR, customer_address VARCHAR, menu_id INTEGER, "
            "restaurant_id INTEGER, restaurant_address VARCHAR, menu_item_id INTEGER, category_id INTEGER, "
            "discount_id INTEGER, city_id INTEGER, driver_id INTEGER",
            description="A table for weekly deliveries.",
            checks=Checks(
                min_rows=1,
                required=("order_id", "order_placed_on", "restaurant_id", "driver_id"),
                key=("order_id",),
            ),
        ),
        reads={"order_status": trailing_days(7)},
        description="Loads new deliveries for the week.",
    ),
    PIPELINE.job(
        jobs.delivery_times_7_days,
        "example.delivery_times_7_days",
        (
            table(
                "top_delivery_times",
                "public.top_delivery_times",
                "order_id INTEGER, order_placed_on TIMESTAMP, order_delivered_on TIMESTAMP, "
                "order_delivery_time INTEGER, customer_email VARCHAR, restaurant_id INTEGER, driver_id INTEGER",
                description="A table for top delivery times.",
                checks=Checks(
                    min_rows=1,
                    required=("order_id", "order_placed_on", "restaurant_id"),
                    key=("restaurant_id",),
                ),
            ),
            table(
                "discounts",
                "public.discounts",
                "id INTEGER, amount_off INTEGER, customer_email VARCHAR, starts_on TIMESTAMP, ends_on TIMESTAMP",
                description="A table for discounts.",
                checks=Checks(required=("id",), key=("id",)),
            ),
        ),
        description="Determine weekly top delivery times by restaurant.",
    ),
    PIPELINE.job(
        jobs.popular_orders_day_of_week,
        "example.orders_popular_day_of_week",
        table(
            "popular_orders_day_of_week",
            "public.popular_orders_day_of_week",
            "order_day_of_week INTEGER, order_placed_on TIMESTAMP, orders_placed INTEGER",
            description="A table for popular orders by day of week.",
            checks=Checks(required=("order_day_of_week", "order_placed_on"), key=("order_day_of_week",)),
        ),
        description="Determines the popular day of week orders are placed.",
    ),
    PIPELINE.job(
        jobs.email_discounts,
        "example.email_discounts",
        outbox(
            "email_discounts",
            "outbox",
            "id INTEGER, customer_email VARCHAR, customer_name VARCHAR, amount_off INTEGER, starts_on TIMESTAMP, "
            "ends_on TIMESTAMP",
            description="Mails to customers that have experienced order delays, one a discount.",
            checks=Checks(required=("id", "customer_email"), key=("id",)),
        ),
        description="Email discounts to customers that have experienced order delays.",
    ),
)
