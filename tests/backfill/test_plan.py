"""A plan as a value: its text, its fingerprint, and texts that are none."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from lineage_assets.backfill.found import marked
from lineage_assets.backfill.plan import BackfillPlan, BadPlanError, Found, plan_from_text
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.graph import AssetGraph
from tests.support.graphs import NOW, days, food_delivery
from tests.support.strategies import asked_graphs


def bad_days_plan(**states: dict[str, Found]) -> BackfillPlan:
    request = BackfillRequest.downstream_of(("orders",), days("2021-06-04", "2021-06-06"))
    looked_up = {(asset,): found for asset, found in states.items()}
    return marked(plan_backfill(food_delivery(), request, now=NOW), looked_up)


@given(asked_graphs())
def test_a_plan_reads_back_from_its_text(asked: tuple[AssetGraph, BackfillRequest]) -> None:
    graph, request = asked
    plan = plan_backfill(graph, request, now=NOW)
    assert plan_from_text(plan.to_text()) == plan


def test_a_plan_with_states_reads_back_from_its_text() -> None:
    plan = bad_days_plan(orders={"2021-06-04": Found.FAILED})
    assert plan_from_text(plan.to_text()) == plan


def test_the_text_of_a_plan_says_what_runs_and_why() -> None:
    read = json.loads(bad_days_plan(orders={"2021-06-04": Found.FAILED}).to_text())
    assert read["request"] == {
        "roots": [{"asset": ["orders"], "ranges": [["2021-06-04", "2021-06-06"]]}],
        "include_roots": True,
    }
    assert read["units"][1] == {"wave": 2, "assets": [["orders_7_days"]], "range": ["2021-06-04", "2021-06-12"]}
    assert read["assets"][0]["found"] == {
        "failed": [["2021-06-04", "2021-06-04"]],
        "never built": [["2021-06-05", "2021-06-06"]],
    }
    assert read["assets"][1]["because"] == {
        "requested": [],
        "reads": [{"asset": ["orders"], "window": [-6, 0], "ranges": [["2021-06-04", "2021-06-12"]]}],
    }


def test_the_fingerprint_is_of_the_work_not_of_how_things_stood() -> None:
    assert bad_days_plan(orders={"2021-06-04": Found.FAILED}).fingerprint == bad_days_plan().fingerprint


def test_another_request_has_another_fingerprint() -> None:
    other = BackfillRequest.downstream_of(("orders",), days("2021-06-04", "2021-06-06"), include_root=False)
    assert plan_backfill(food_delivery(), other, now=NOW).fingerprint != bad_days_plan().fingerprint


def test_the_fingerprint_of_a_known_plan_does_not_move() -> None:
    """When it does, plans that people have reviewed are refused: raise PLAN_VERSION and say so in the changelog."""
    assert bad_days_plan().name == "6c5f5f8ab2e61e3d"


def _moved_day(read: dict[str, Any]) -> None:
    read["units"][0]["range"] = ["2021-06-03", "2021-06-06"]


def _newer_version(read: dict[str, Any]) -> None:
    read["version"] = 2


def _no_units(read: dict[str, Any]) -> None:
    del read["units"]


def _no_day(read: dict[str, Any]) -> None:
    read["units"][0]["range"] = ["2021-06-31", "2021-06-31"]


def _no_request(read: dict[str, Any]) -> None:
    read["request"] = {"roots": "orders", "include_roots": True}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_moved_day, "changed after it was made"),
        (_newer_version, "version 2, this program reads version 1"),
        (_no_units, "KeyError at 'units'"),
        (_no_day, '"2021-06-31" is not valid'),
        (_no_request, "TypeError"),
    ],
)
def test_a_text_that_was_changed_is_refused(change: Callable[[dict[str, Any]], None], reason: str) -> None:
    read = json.loads(bad_days_plan().to_text())
    change(read)
    with pytest.raises(BadPlanError, match=reason):
        plan_from_text(json.dumps(read))


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '"orders"'])
def test_a_text_that_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(BadPlanError, match="Write a new one with `lineage-assets plan`"):
        plan_from_text(text)
