"""What a run reads and writes: declared before it, recorded after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lineage_assets.ledger.record import ColumnSource, State
from lineage_assets.lineage.events import Event
from lineage_assets.partitions import PartitionSet, key_of, keys_of
from tests.lineage.facts import (
    DAYS,
    MENUS,
    ORDERS,
    WEEKLY,
    attempt,
    projection,
    verdict,
)
from tests.lineage.golden_cases import told
from tests.support.graphs import days

JUNE_1_TO_4 = days("2021-06-01", "2021-06-04")


def only(events: Iterable[Event]) -> dict[str, Any]:
    (event,) = told(events)
    return event


def test_a_window_is_cut_at_the_first_partition() -> None:
    tried = days("2021-05-25")
    start = only(projection().started([attempt(tried, WEEKLY)], tried))
    orders = next(each for each in start["inputs"] if each["name"] == "public.orders")
    partitions = orders["inputFacets"]["subset"]["inputCondition"]["partitions"]
    assert [each["identifier"] for each in partitions] == ["ds=2021-05-24", "ds=2021-05-25"]


def test_the_end_names_the_partitions_that_were_really_read() -> None:
    tried = days("2021-06-04")
    record = verdict("2021-06-04", asset=WEEKLY, inputs={ORDERS: {"2021-06-03": "a" * 32}})
    end = only(projection().ended([attempt(tried, WEEKLY)], tried, [record]))
    read = {each["name"]: each["inputFacets"]["subset"]["inputCondition"]["partitions"] for each in end["inputs"]}
    assert [each["identifier"] for each in read["public.orders"]] == ["ds=2021-06-03"]
    assert [each["identifier"] for each in read["public.menus"]] == ["ds=2021-06-04"]


def test_every_event_of_a_run_has_the_same_datasets_with_the_same_schemas() -> None:
    tried = days("2021-06-04")
    attempts = [attempt(tried, WEEKLY)]
    start = only(projection().started(attempts, tried))
    for state in (State.GOOD, State.FAILED, State.BLOCKED):
        end = only(projection().ended(attempts, tried, [verdict("2021-06-04", state, WEEKLY)]))
        for side in ("inputs", "outputs"):
            assert [(each["name"], each["facets"]["schema"]) for each in end[side]] == [
                (each["name"], each["facets"]["schema"]) for each in start[side]
            ]
            assert all("dataSource" in each["facets"] for each in end[side])
        assert end["job"] == start["job"]


def test_what_is_not_ours_is_no_dataset() -> None:
    start = only(projection().started([attempt(days("2021-06-04"), WEEKLY)], days("2021-06-04")))
    assert [each["name"] for each in start["inputs"]] == ["public.menus", "public.orders"]


def test_column_lineage_has_declared_names_and_no_partition_columns() -> None:
    tried = days("2021-06-04")
    columns = {
        "order_id": (ColumnSource(ORDERS, "id"), ColumnSource(ORDERS, "ds"), ColumnSource(("weather",), "rain")),
        "placed_on": (ColumnSource(MENUS, "source_ds"),),
        "ds": (ColumnSource(ORDERS, "ds"),),
    }
    end = only(
        projection().ended([attempt(tried, WEEKLY)], tried, [verdict("2021-06-04", asset=WEEKLY, columns=columns)])
    )
    fields = end["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert fields == {
        "order_id": {"inputFields": [{"namespace": "food_delivery", "name": "public.orders", "field": "id"}]}
    }


def test_many_partitions_are_told_as_ranges() -> None:
    first = DAYS.first.toordinal()
    tried = PartitionSet.of_ranges([(first, first + 200)])
    start = only(projection().started([attempt(tried, range_run=True)], tried))
    condition = start["outputs"][0]["outputFacets"]["subset"]["outputCondition"]
    assert condition == {
        "type": "binary",
        "operator": "AND",
        "left": {
            "type": "compare",
            "comparison": "GREATER_EQUAL_THAN",
            "left": {"type": "field", "field": "ds"},
            "right": {"type": "literal", "value": "2021-05-24"},
        },
        "right": {
            "type": "compare",
            "comparison": "LESS_EQUAL_THAN",
            "left": {"type": "field", "field": "ds"},
            "right": {"type": "literal", "value": "2021-12-10"},
        },
    }


def test_many_partitions_with_gaps_are_ranges_joined_by_or() -> None:
    first = DAYS.first.toordinal()
    tried = PartitionSet.of_ranges([(first, first + 200)])
    bad = {first + 50, first + 100}
    records = [verdict(key_of(day), State.FAILED if day in bad else State.GOOD) for day in tried]
    *_, end = told(projection().ended([attempt(tried, range_run=True)], tried, records))
    condition = end["outputs"][0]["outputFacets"]["subset"]["outputCondition"]
    assert (condition["operator"], condition["right"]["operator"]) == ("OR", "OR")
    assert condition["left"]["operator"] == "AND"
    assert condition["left"]["right"]["right"]["value"] == "2021-07-12"


def test_a_snapshot_is_told_where_one_holds_all_that_was_made() -> None:
    attempts = [attempt(JUNE_1_TO_4, range_run=True)]
    new = [verdict(key, snapshot=7) for key in keys_of(days("2021-06-01", "2021-06-02"))]
    old = [verdict(key, State.REUSED, snapshot=place) for place, key in enumerate(["2021-06-03", "2021-06-04"])]
    mixed = only(projection().ended(attempts, JUNE_1_TO_4, [*new, *old]))
    assert mixed["outputs"][0]["facets"]["version"]["datasetVersion"] == "7"
    assert mixed["run"]["facets"]["lineageAssets_reuse"]["madeCount"] == 2
    late = days("2021-06-03", "2021-06-04")
    standing = only(projection().ended([attempt(late, range_run=True)], late, old))
    assert "version" not in standing["outputs"][0]["facets"]
