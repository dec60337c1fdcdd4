"""From OpenLineage's Spark events to what was read and made, in names that compare with declared ones."""

from __future__ import annotations

from typing import Any

from lineage_assets.spark.observed import fold_events
from lineage_assets.spark.report import Observed, Source, Transformation

DIRECT = {"type": "DIRECT", "subtype": "IDENTITY"}
JOIN = {"type": "INDIRECT", "subtype": "JOIN"}
FILTER = {"type": "INDIRECT", "subtype": "FILTER"}
CONDITIONAL = {"type": "INDIRECT", "subtype": "CONDITIONAL"}


def iceberg(path: str, name: str, **facets: object) -> dict[str, Any]:
    symlinks = {"identifiers": [{"namespace": "file:/wh", "name": name, "type": "TABLE"}]}
    return {"namespace": "file", "name": path, "facets": {"catalog": {"name": "lake"}, "symlinks": symlinks, **facets}}


def lineage(**fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"fields": {column: {"inputFields": sources} for column, sources in fields.items()}}


def source(path: str, field: str, *steps: dict[str, str]) -> dict[str, Any]:
    return {"namespace": "file", "name": path, "field": field, "transformations": list(steps)}


def event(kind: str, inputs: list[dict[str, Any]], outputs: list[dict[str, Any]]) -> dict[str, Any]:
    return {"eventType": kind, "inputs": inputs, "outputs": outputs}


def test_no_events_are_nothing_observed() -> None:
    assert fold_events([], []) == Observed()


def test_tables_are_named_as_code_names_them_without_branch_or_snapshot() -> None:
    read = iceberg("/wh/shop/orders", "shop.orders.snapshot_id_12")
    written = iceberg("/wh/shop/week", "shop.week.branch_lineage_assets_ab12")
    observed = fold_events([event("COMPLETE", [read], [written])], [])
    assert (observed.inputs, observed.outputs) == (("lake.shop.orders",), ("lake.shop.week",))


def test_files_in_a_known_folder_are_named_by_it_and_others_by_their_place() -> None:
    files = [
        {"namespace": "file", "name": "/landing/orders/ds=2021-06-04/part.csv"},
        {"namespace": "file", "name": "/landing/orders_old/part.csv"},
        {"namespace": "s3://lake", "name": "warehouse/other"},
    ]
    observed = fold_events([event("START", files, [])], ["/landing/orders"])
    assert observed.inputs == ("/landing/orders", "/landing/orders_old/part.csv", "s3://lake/warehouse/other")


def test_columns_and_rows_have_their_sources_with_what_was_done_and_days_are_none() -> None:
    orders, menus = "/wh/shop/orders", "/wh/shop/menus"
    masked = {"type": "DIRECT", "subtype": "AGGREGATION", "masking": True, "description": ""}
    facet = lineage(
        id=[source(orders, "id", DIRECT)],
        total=[source(orders, "amount", CONDITIONAL, masked), source(menus, "fee", DIRECT)],
        placed=[source(orders, "ds", DIRECT), source(orders, "source_ds", DIRECT)],
        ds=[source(orders, "id", DIRECT)],
    )
    facet["dataset"] = [
        source(menus, "id", DIRECT, JOIN, FILTER),
        source(orders, "ds", JOIN),
        source(menus, "fee", DIRECT),
    ]
    inputs = [iceberg(orders, "shop.orders"), iceberg(menus, "shop.menus")]
    written = iceberg("/wh/shop/week", "shop.week.branch_x", columnLineage=facet)
    observed = fold_events([event("COMPLETE", inputs, [written])], [])
    aggregated = (Transformation("DIRECT", "AGGREGATION", masking=True), Transformation("INDIRECT", "CONDITIONAL"))
    identity = (Transformation("DIRECT", "IDENTITY"),)
    assert observed.columns == {
        "lake.shop.week": {
            "id": (Source("lake.shop.orders", "id", identity),),
            "total": (
                Source("lake.shop.menus", "fee", identity),
                Source("lake.shop.orders", "amount", aggregated),
            ),
        }
    }
    joined = (Transformation("INDIRECT", "FILTER"), Transformation("INDIRECT", "JOIN"))
    assert observed.row_sources == {"lake.shop.week": (Source("lake.shop.menus", "id", joined),)}


def test_the_snapshots_that_were_read_are_told_by_table() -> None:
    # Of a read of one snapshot the facet tells the table's newest all the same.
    first = iceberg("/wh/shop/orders", "shop.orders.snapshot_id_1", version={"datasetVersion": "2"})
    second = iceberg("/wh/shop/orders", "shop.orders", version={"datasetVersion": "2"})
    assert fold_events([event("START", [second, first], [])], []).versions == {"lake.shop.orders": (1, 2)}


def test_events_of_one_run_are_merged_for_some_lack_what_others_have() -> None:
    path = "/wh/shop/orders"
    running = event("RUNNING", [{"namespace": "file", "name": path}], [])
    start = event("START", [iceberg(path, "shop.orders")], [])
    assert fold_events([running, start, event("COMPLETE", [], [])], []).inputs == ("lake.shop.orders",)


def test_a_failure_stays_one_though_the_listener_says_complete_after_it() -> None:
    assert fold_events([event("FAIL", [], []), event("COMPLETE", [], [])], []).failed
