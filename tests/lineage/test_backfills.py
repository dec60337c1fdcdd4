"""A backfill is a run of a job of its own, to which every run of it points."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lineage_assets.errors import BadDeclarationError
from lineage_assets.graph import LineageJob
from lineage_assets.lineage.backfills import (
    BackfillResult,
    BackfillTold,
    backfill_ended,
    backfill_started,
)
from lineage_assets.lineage.parents import backfill_job
from tests.lineage.facts import STARTED, attempt, projection
from tests.lineage.golden_cases import told
from tests.support.graphs import days

TOLD = BackfillTold(
    id="bkfl",
    job=LineageJob("food_delivery", "example.backfill"),
    started=STARTED,
    requested_by="oncall@example.com",
    reason="the feed is repaired",
    plan="5f2b8c",
    assets=1,
    partitions=3,
)
END = STARTED + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("result", "ended"),
    [
        (BackfillResult(END, repaired=3), "COMPLETE"),
        (BackfillResult(END, repaired=2, failed=1), "FAIL"),
        (BackfillResult(END, repaired=2, blocked=1), "FAIL"),
        (BackfillResult(END, repaired=2, not_run=1), "FAIL"),
        (BackfillResult(END, repaired=2, not_run=1, is_cancelled=True), "ABORT"),
    ],
)
def test_a_backfill_ends_as_its_partitions_did(result: BackfillResult, ended: str) -> None:
    event = backfill_ended(TOLD, result)
    assert event.type.value == ended
    assert event.lineage_run_id == backfill_started(TOLD).lineage_run_id


def test_every_run_of_a_backfill_names_its_run() -> None:
    tried = days("2021-06-04")
    (run,) = told(projection().started([attempt(tried, backfill="bkfl")], tried))
    facet = run["run"]["facets"]["lineageAssets_backfill"]
    assert facet["id"] == "bkfl"
    assert facet["run"]["runId"] == str(backfill_started(TOLD).lineage_run_id)


@pytest.mark.parametrize(
    ("names", "backfill"),
    [
        (["example.etl_orders", "example.etl_menus"], "example.backfill"),
        (["example.daily.etl_orders", "example.etl_menus"], "example.backfill"),
        (["example.etl_orders", "other.etl_menus"], "backfill"),
        (["new_room_bookings", "top_room_bookings"], "backfill"),
    ],
)
def test_the_job_is_named_beside_those_it_repairs(names: list[str], backfill: str) -> None:
    job = backfill_job([*(LineageJob("shop", name) for name in names), LineageJob("elsewhere", "a.b")])
    assert (job.namespace, job.name) == ("shop", backfill)


def test_a_backfill_of_nothing_has_no_job() -> None:
    with pytest.raises(BadDeclarationError, match="name at least one"):
        backfill_job([])
