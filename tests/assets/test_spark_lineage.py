"""Spark's own events stand under the run that our records tell of, and under the backfill or the Dagster run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance

from lineage_assets.ledger.dagster_log import read_history
from lineage_assets.lineage.ids import lineage_run_id, parent_lineage_run_id
from lineage_assets.partitions import set_of
from lineage_assets.settings import load_settings
from lineage_assets.spark.program import NamedRun, Program
from lineage_assets.spark.report import Observed, Report
from tests.support.recording import RecordingLauncher, report_of
from tests.support.world import ShopWorld

JOB = "example.orders"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ShopWorld]:
    settings = load_settings().model_copy(update={"home": tmp_path, "openlineage_url": None, "range_run_threshold": 2})
    with DagsterInstance.ephemeral() as instance:
        yield ShopWorld(settings, instance, RecordingLauncher())


def test_a_program_of_days_stands_under_the_run_of_the_first_and_the_dagster_run(world: ShopWorld) -> None:
    world.feed(1, 2)
    run_id = world.run(1, 2, select=["orders"]).run_id
    job = world.graph.nodes["orders",].job
    (program,) = world.launcher.programs
    first = str(lineage_run_id(run_id, job, set_of(["2021-06-01"]), 1))
    assert program.lineage.parent == NamedRun("shop", JOB, first)
    assert program.lineage.root == NamedRun("shop", "example", str(parent_lineage_run_id(run_id, "shop", "example")))
    assert program.lineage.run_id != first


def test_a_program_of_a_range_stands_under_its_run_and_the_dagster_run_where_the_backfills_job_is_not_known(
    world: ShopWorld,
) -> None:
    world.feed(1, 2, 3)
    run_id = world.run(1, 3, select=["orders"], backfill="abc").run_id
    job = world.graph.nodes["orders",].job
    (program,) = world.launcher.programs
    whole = str(lineage_run_id(run_id, job, set_of(["2021-06-01", "2021-06-02", "2021-06-03"]), 1))
    assert program.lineage.parent == NamedRun("shop", JOB, whole)
    assert program.lineage.root == NamedRun("shop", "example", str(parent_lineage_run_id(run_id, "shop", "example")))
    assert Program.from_json(program.to_json()) == program


def test_drift_is_in_the_record_and_once_in_the_log_of_the_run(world: ShopWorld) -> None:
    world.feed(1, 2)

    def drifting(program: Program) -> Report:
        report = report_of(program)
        return Report(report.outputs, observed=Observed(inputs=("lake.shop.weekly",), outputs=("lake.shop.orders",)))

    world.launcher.answer = drifting
    run_id = world.run(1, 2, select=["orders"]).run_id
    record = read_history(world.instance, ("orders",)).verdicts["2021-06-02"]
    feed = world.settings.home / "landing" / "orders"
    assert record.drift == (
        "reads weekly, which is not declared: declare weekly in reads=…",
        f"declares the landing files {feed}, which it does not read: drop the parameter landing",
    )
    told = [entry.user_message for entry in world.instance.all_logs(run_id) if "differ" in entry.user_message]
    assert told == [f"Declared and done differ: {JOB} {'; '.join(record.drift)}."]
