"""Spark's own events as they leave: under our run, and without what would make ghosts at a receiver."""

from __future__ import annotations

from typing import Any

from lineage_assets.spark.program import Lineage, NamedRun
from lineage_assets.spark.raw_event import mended

OURS = NamedRun("food_delivery", "example.etl_orders", "11111111-1111-5111-8111-111111111111")
ALONE = Lineage("food_delivery", "example.etl_orders", "33333333-3333-5333-8333-333333333333")


def table(name: str, version: str) -> dict[str, Any]:
    links = {"identifiers": [{"namespace": "file:/wh", "name": name, "type": "TABLE"}]}
    return {
        "namespace": "file",
        "name": "/wh/orders",
        "facets": {"symlinks": links, "version": {"datasetVersion": version}},
    }


def test_the_parent_is_our_run_by_its_own_name_and_without_a_backfill_the_root_as_well() -> None:
    event = {"run": {"runId": "r", "facets": {"parent": {"_producer": "spark", "job": {"name": "example_etl_orders"}}}}}
    parent = mended(event, Lineage(ALONE.namespace, ALONE.job, ALONE.run_id, OURS))["run"]["facets"]["parent"]
    named = {"run": {"runId": OURS.run_id}, "job": {"namespace": "food_delivery", "name": "example.etl_orders"}}
    assert parent == {"_producer": "spark", **named, "root": named}


def test_a_read_of_one_snapshot_is_told_as_the_table_at_that_snapshot() -> None:
    event = {"inputs": [table("shop.orders.snapshot_id_12", "99")], "outputs": [table("shop.week.branch_x", "5")]}
    assert mended(event, ALONE) == {"inputs": [table("shop.orders", "12")], "outputs": [table("shop.week", "5")]}


def test_what_needs_no_mending_stays_as_it_is() -> None:
    files = {"namespace": "file", "name": "/landing/orders", "facets": {"schema": {"fields": []}}}
    event = {"run": {"runId": "r"}, "inputs": [files, table("shop.orders", "99"), {"namespace": "s3://b", "name": "x"}]}
    assert mended(event, ALONE) == event
