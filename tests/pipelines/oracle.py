"""food_delivery once more, in plain Python on the landing files: dictionaries, loops, one day at a time."""

from __future__ import annotations

import csv
import json
from collections import Counter
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Rows = list[Row]


def expected(root: Path, first: date, target: date) -> dict[str, Rows]:
    """The rows of `target` of every asset that is no source, with the feed's files from `first` on below `root`."""
    week = [target - timedelta(days=back) for back in range(7) if target - timedelta(days=back) >= first]
    card = {table: by_id(rows(root, table, target)) for table in ("menu_items", "categories", "menus")}
    people = {table: by_id(rows(root, table, target)) for table in ("customers", "restaurants", "drivers")}
    ordered = [order for day in week for order in rows(root, "orders", day)]
    states = [state for day in week for state in rows(root, "order_status", day)]

    orders = orders_7_days(ordered, **card)
    arrived = deliveries(orders, states, **people)
    for one in arrived:
        one["minutes"] = minutes(one)
    top = slowest(arrived)
    discounts = [discount(one, target) for one in arrived if one["minutes"] is not None and one["minutes"] >= 45]
    names = {customer["email"]: customer["name"] for customer in people["customers"].values()}
    return {
        "orders_7_days": orders,
        "deliveries": arrived,
        "top_delivery_times": [{**one, "order_delivery_time": one["minutes"]} for one in top],
        "discounts": discounts,
        "popular_orders_day_of_week": popular(top),
        "email_discounts": [{**one, "customer_name": names[one["customer_email"]]} for one in discounts],
    }


def rows(root: Path, table: str, day: date) -> Rows:
    (path,) = (root / table / f"ds={day}").iterdir()
    text = path.read_text(encoding="utf-8")
    read = map(json.loads, text.splitlines()) if path.suffix == ".json" else csv.DictReader(text.splitlines())
    return [{column: typed(column, value) for column, value in row.items()} for row in read]


def typed(column: str, value: Any) -> Any:  # noqa: ANN401 - what a file holds
    if value in ("", None):
        return None
    if column == "id" or column.endswith("_id"):
        return int(value)
    if column.endswith(("_on", "_at")):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    return value


def by_id(found: Rows) -> dict[int, Row]:
    return {row["id"]: row for row in found}


def orders_7_days(ordered: Rows, menu_items: dict[int, Row], categories: dict[int, Row], menus: dict[int, Row]) -> Rows:
    made = []
    for order in ordered:
        category = categories[menu_items[order["menu_item_id"]]["category_id"]]
        menu = menus[category["menu_id"]]
        found = {"category_id": category["id"], "menu_id": menu["id"], "restaurant_id": menu["restaurant_id"]}
        made.append({**order, **found, "order_id": order["id"]})
    return made


def deliveries(
    orders: Rows, states: Rows, customers: dict[int, Row], restaurants: dict[int, Row], drivers: dict[int, Row]
) -> Rows:
    made = []
    for order in orders:
        own = sorted(
            (state for state in states if state["order_id"] == order["order_id"]),
            key=lambda state: (state["transitioned_at"], state["id"]),
        )
        times = {state["status"]: state["transitioned_at"] for state in own}
        customer = customers[own[-1]["customer_id"]]
        restaurant = restaurants[own[-1]["restaurant_id"]]
        made.append(
            {
                **order,
                "order_placed_on": order["placed_on"],
                "order_dispatched_on": times.get("DISPATCHED"),
                "order_delivered_on": times.get("DELIVERED"),
                "customer_email": customer["email"],
                "customer_address": customer["address"],
                "city_id": customer["city_id"],
                "restaurant_id": restaurant["id"],
                "restaurant_address": restaurant["address"],
                "driver_id": drivers[own[-1]["driver_id"]]["id"],
            }
        )
    return made


def minutes(delivery: Row) -> int | None:
    if delivery["order_delivered_on"] is None:
        return None
    waited: timedelta = delivery["order_delivered_on"] - delivery["order_placed_on"]
    return waited // timedelta(minutes=1)


def slowest(arrived: Rows) -> Rows:
    made: dict[int, Row] = {}
    for one in sorted(arrived, key=lambda one: -one["order_id"]):
        kept = made.get(one["restaurant_id"])
        if one["minutes"] is not None and (kept is None or one["minutes"] >= kept["minutes"]):
            made[one["restaurant_id"]] = one
    return list(made.values())


def discount(delivery: Row, target: date) -> Row:
    starts_on = datetime.combine(target + timedelta(days=1), time(), timezone.utc)
    return {
        "id": delivery["order_id"],
        "amount_off": 15 if delivery["minutes"] >= 60 else 5,
        "customer_email": delivery["customer_email"],
        "starts_on": starts_on,
        "ends_on": starts_on + timedelta(days=7),
    }


def popular(top: Rows) -> Rows:
    days = Counter(one["order_placed_on"].isoweekday() % 7 for one in top)
    most = max(days.values())
    day = min(day for day, count in days.items() if count == most)
    placed = min(one["order_placed_on"] for one in top if one["order_placed_on"].isoweekday() % 7 == day)
    return [{"order_day_of_week": day, "order_placed_on": placed, "orders_placed": most}]
