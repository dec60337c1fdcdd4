"""The feed: the same files for a day however it is asked for, and three ways to be bad."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage_assets.errors import BadDeclarationError, BadPartitionError
from lineage_assets.pipelines.food_delivery import feed
from lineage_assets.pipelines.food_delivery.city import FeedSettings
from lineage_assets.pipelines.food_delivery.feed import BAD_DAYS, DEMO, TABLES, Fault, drop, repair, rows_of
from lineage_assets.spark.landing import landing_files

JUNE_3, JUNE_4, JUNE_5, JUNE_6 = (date(2021, 6, day) for day in (3, 4, 5, 6))

days_after_opening = st.integers(0, 2000).map(lambda days: DEMO.opening + timedelta(days=days))


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_day_alone_and_within_a_range_has_the_same_files(tmp_path: Path) -> None:
    drop(tmp_path / "range", JUNE_3, JUNE_6)
    for day in (JUNE_5, JUNE_3, JUNE_6, JUNE_4):
        drop(tmp_path / "loop", day, day)
    assert contents(tmp_path / "range") == contents(tmp_path / "loop")


def test_the_feed_of_a_day_stays_as_it_was_first_written(tmp_path: Path) -> None:
    """The seed's promise across machines and versions: literal lines, as the demo shows them."""
    drop(tmp_path, JUNE_4, JUNE_4)
    orders = (tmp_path / "orders/ds=2021-06-04/orders.csv").read_text(encoding="utf-8").splitlines()
    assert orders[:3] == [
        "id,placed_on,menu_item_id,quantity,discount_id,comment",
        "52001,2021-06-04T16:22:19Z,4013,2,,",
        "52002,2021-06-04T16:35:14Z,3002,3,,Leave it at the door",
    ]
    states = (tmp_path / "order_status/ds=2021-06-04/order_status.json").read_text(encoding="utf-8").splitlines()
    assert json.loads(states[0]) == {
        "id": 155758,
        "transitioned_at": "2021-06-04T00:24:32Z",
        "status": "DISPATCHED",
        "order_id": 51919,
        "customer_id": 35,
        "restaurant_id": 3,
        "driver_id": 11,
    }


def test_another_seed_gives_other_orders() -> None:
    assert rows_of(FeedSettings(seed=1), "orders", JUNE_4) != rows_of(FeedSettings(seed=2), "orders", JUNE_4)


def test_every_table_has_one_file_a_day_where_landing_files_are_looked_for(tmp_path: Path) -> None:
    paths = drop(tmp_path, JUNE_3, JUNE_4)
    assert len(paths) == 16
    for table in TABLES:
        assert landing_files(tmp_path / table, "2021-06-04") == (f"ds=2021-06-04/{table}.{feed.FORMATS[table]}",)


@given(days_after_opening)
@settings(max_examples=30, deadline=None)
def test_every_day_keeps_its_promise_of_rows_and_its_ids_apart(day: date) -> None:
    for table in TABLES:
        rows = rows_of(DEMO, table, day)
        assert len(rows) >= feed.least_rows(table)
        assert len({row["id"] for row in rows}) == len(rows)


@given(days_after_opening)
@settings(max_examples=30, deadline=None)
def test_what_a_day_refers_to_is_registered_on_it(day: date) -> None:
    ids = {table: {row["id"] for row in rows_of(DEMO, table, day)} for table in TABLES}
    assert {row["menu_item_id"] for row in rows_of(DEMO, "orders", day)} <= ids["menu_items"]
    assert {row["menu_id"] for row in rows_of(DEMO, "categories", day)} <= ids["menus"]
    assert {row["restaurant_id"] for row in rows_of(DEMO, "menus", day)} <= ids["restaurants"]
    # Text in this one table, as in the blog's schema.
    assert {int(str(row["category_id"])) for row in rows_of(DEMO, "menu_items", day)} <= ids["categories"]
    for status in rows_of(DEMO, "order_status", day):
        assert status["customer_id"] in ids["customers"]
        assert status["restaurant_id"] in ids["restaurants"]
        assert status["driver_id"] in ids["drivers"]


def test_order_ids_do_not_come_again_on_another_day() -> None:
    days = [JUNE_3 + timedelta(days=number) for number in range(30)]
    ids = [row["id"] for day in days for row in rows_of(DEMO, "orders", day)]
    assert len(ids) == len(set(ids))


def test_states_go_from_placed_to_delivered_some_a_day_later_and_a_few_never() -> None:
    days = [JUNE_3 + timedelta(days=number) for number in range(10)]
    placed = {row["id"] for day in days[:-1] for row in rows_of(DEMO, "orders", day)}
    seen: dict[object, list[tuple[str, str]]] = {}
    for day in days:
        for row in rows_of(DEMO, "order_status", day):
            assert str(row["transitioned_at"])[:10] == day.isoformat()
            seen.setdefault(row["order_id"], []).append((str(row["transitioned_at"]), str(row["status"])))
    ways = {id_: tuple(status for _, status in sorted(seen[id_])) for id_ in placed}
    later = {id_ for id_ in placed if len({at[:10] for at, _ in seen[id_]}) == 2}
    whole = ("PLACED", "DISPATCHED", "DELIVERED")
    assert set(ways.values()) == {whole, whole[:2], whole[:1]}
    assert 0.9 < sum(way == whole for way in ways.values()) / len(placed) < 1
    assert 0 < len(later) / len(placed) < 0.2


def test_the_city_grows_and_forgets_nobody() -> None:
    for table in ("menus", "categories", "menu_items", "customers", "drivers", "restaurants"):
        before, after = rows_of(DEMO, table, date(2020, 6, 1)), rows_of(DEMO, table, date(2021, 6, 1))
        assert after[: len(before)] == before
        assert len(after) > len(before)


def test_the_bad_days_of_the_story_are_bad_each_in_its_own_way(tmp_path: Path) -> None:
    drop(tmp_path / "good", JUNE_3, JUNE_6)
    drop(tmp_path / "bad", JUNE_3, JUNE_6, faults=BAD_DAYS)
    good, bad = contents(tmp_path / "good"), contents(tmp_path / "bad")
    assert {name for name in good if bad.get(name) != good[name]} == {
        "orders/ds=2021-06-04/orders.csv",
        "orders/ds=2021-06-05/orders.csv",
        "orders/ds=2021-06-06/orders.csv",
    }
    fourth = bad["orders/ds=2021-06-04/orders.csv"].splitlines()
    assert fourth[0] == b"id,placed_on,menu_item_id,quantity,comment"
    assert len(fourth) == len(good["orders/ds=2021-06-04/orders.csv"].splitlines())
    assert len(bad["orders/ds=2021-06-05/orders.csv"].splitlines()) - 1 == 6
    assert len(good["orders/ds=2021-06-05/orders.csv"].splitlines()) - 1 == 57
    assert landing_files(tmp_path / "bad/orders", "2021-06-06") == ()


def test_repair_leaves_the_files_of_a_feed_that_never_failed(tmp_path: Path) -> None:
    drop(tmp_path / "good", JUNE_3, JUNE_6)
    drop(tmp_path / "bad", JUNE_3, JUNE_6, faults=BAD_DAYS)
    assert len(repair(tmp_path / "bad")) == 3
    assert contents(tmp_path / "bad") == contents(tmp_path / "good")


def test_a_missing_file_is_missing_also_where_one_was(tmp_path: Path) -> None:
    drop(tmp_path, JUNE_6, JUNE_6)
    drop(tmp_path, JUNE_6, JUNE_6, faults=BAD_DAYS)
    assert landing_files(tmp_path / "orders", "2021-06-06") == ()


def test_a_schema_change_of_any_table_takes_its_last_column(tmp_path: Path) -> None:
    drop(tmp_path, JUNE_6, JUNE_6, faults={("order_status", JUNE_6): Fault.SCHEMA_CHANGE})
    lines = (tmp_path / "order_status/ds=2021-06-06/order_status.json").read_text(encoding="utf-8").splitlines()
    assert list(json.loads(lines[0])) == [
        "id",
        "transitioned_at",
        "status",
        "order_id",
        "customer_id",
        "restaurant_id",
    ]


def test_a_day_before_the_opening_is_refused_by_name() -> None:
    with pytest.raises(BadPartitionError, match=r"2019-12-31.*2020-01-01"):
        rows_of(DEMO, "menus", date(2019, 12, 31))


def test_a_range_that_runs_backwards_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadPartitionError, match=r"2021-06-06\.\.2021-06-03"):
        drop(tmp_path, JUNE_6, JUNE_3)


def test_a_city_without_customers_is_refused() -> None:
    with pytest.raises(BadDeclarationError, match="customers"):
        FeedSettings(customers=0)
