"""The ids of lineage runs: the same facts, the same id, on any machine and in any version."""

from __future__ import annotations

from uuid import UUID

from lineage_assets.graph import LineageJob
from lineage_assets.lineage.ids import backfill_lineage_run_id, lineage_run_id
from tests.lineage.facts import job
from tests.support.graphs import days

DAY = days("2021-06-04")


def test_the_same_facts_give_the_same_id_for_ever() -> None:
    assert lineage_run_id("run-1", job("etl_orders"), DAY, 1) == UUID("53029abc-f864-577c-8013-5dc44d1e6e56")
    assert backfill_lineage_run_id("bkfl") == UUID("6915c8a6-3b20-59a8-8947-85832ede5766")


def test_every_fact_that_names_a_run_changes_its_id() -> None:
    ids = {
        lineage_run_id("run-1", job("etl_orders"), DAY, 1),
        lineage_run_id("run-2", job("etl_orders"), DAY, 1),
        lineage_run_id("run-1", job("etl_menus"), DAY, 1),
        lineage_run_id("run-1", LineageJob("other", "example.etl_orders"), DAY, 1),
        lineage_run_id("run-1", job("etl_orders"), days("2021-06-05"), 1),
        lineage_run_id("run-1", job("etl_orders"), days("2021-06-04", "2021-06-05"), 1),
        lineage_run_id("run-1", job("etl_orders"), DAY, 2),
    }
    assert len(ids) == 7


def test_words_of_a_job_do_not_change_its_runs() -> None:
    assert lineage_run_id("run-1", job("etl_orders", "Told anew."), DAY, 1) == lineage_run_id(
        "run-1", job("etl_orders"), DAY, 1
    )
