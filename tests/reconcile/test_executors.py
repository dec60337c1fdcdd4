"""A run whose steps are processes of their own: each tells its part, and the next pass tells the whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from dagster import (
    AssetKey,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    JobExecutionResult,
    RunRecord,
    execute_job,
    reconstructable,
)

from lineage_assets.ledger.dagster_log import facts_of_run
from lineage_assets.ledger.owner import OWNER_TAG, is_dead, owner
from lineage_assets.ledger.record import Attempt, Closing
from lineage_assets.lineage.retelling import unended
from lineage_assets.reconcile.closings import is_live
from lineage_assets.settings import load_settings
from tests.reconcile.conftest import KeptEvents
from tests.reconcile.test_flush import LONG_AGO, receipt
from tests.support.many_processes import KILL, shop_job
from tests.support.recording import RecordingLauncher
from tests.support.records import NOON, make_attempt, make_record
from tests.support.world import ShopWorld

GONE = f"{owner().split(':', maxsplit=1)[0]}:{2**22 + 1}:0"
"""A process of this host with a number that none has."""


@pytest.fixture
def shop(own_home: Path) -> Iterator[ShopWorld]:
    """The shop in the state folder that the environment names, for other processes to find."""
    (own_home / "dagster").mkdir(parents=True)
    with DagsterInstance.local_temp(str(own_home / "dagster")) as instance:
        yield ShopWorld(load_settings(), instance, RecordingLauncher())


def executed(shop: ShopWorld, day: str) -> JobExecutionResult:
    assets = [AssetKey("orders"), AssetKey("weekly")]
    return execute_job(
        reconstructable(shop_job),
        shop.instance,
        asset_selection=assets,
        tags={"dagster/partition": day},
    )


@pytest.mark.slow
def test_a_run_of_many_processes_stays_owed_and_is_told_whole(shop: ShopWorld, kept: KeptEvents) -> None:
    shop.feed(1)
    with executed(shop, "2021-06-01") as done:
        assert done.success
        run_id = done.run_id
    run = shop.instance.get_run_by_id(run_id)
    assert run is not None
    assert (receipt(shop.instance, run_id), run.tags[OWNER_TAG]) == ("pending", owner())
    facts = facts_of_run(shop.instance, run_id)
    steps = {fact.owner for fact in facts if isinstance(fact, Attempt)}
    assert len(steps) == 2
    assert all(is_dead(step) for step in steps)
    assert shop.flush_to(kept).run(LONG_AGO).closed == 0
    assert kept.ends() == {
        ("example.orders", "2021-06-01"): ["START", "COMPLETE"],
        ("example.weekly", "2021-06-01"): ["START", "COMPLETE"],
    }
    assert receipt(shop.instance, run_id) == "sent"


@pytest.mark.slow
def test_a_step_that_was_killed_is_closed_once_its_run_is_over(shop: ShopWorld, kept: KeptEvents) -> None:
    shop.feed(1)
    (shop.settings.home / KILL).touch()
    with executed(shop, "2021-06-01") as done:
        assert not done.success
        run_id = done.run_id
    assert set(unended(facts_of_run(shop.instance, run_id))) == {(("orders",), 1)}
    assert shop.flush_to(kept).run(LONG_AGO).closed == 2
    closings = [fact for fact in facts_of_run(shop.instance, run_id) if isinstance(fact, Closing)]
    assert {closing.asset: closing.cause.kind for closing in closings} == {
        ("orders",): "interrupted",
        ("weekly",): "not started",
    }
    assert kept.ends() == {
        ("example.orders", "2021-06-01"): ["START", "ABORT"],
        ("example.weekly", "2021-06-01"): ["START", "ABORT"],
    }


def record_of(status: DagsterRunStatus, process: str | None) -> RunRecord:
    tags = {} if process is None else {OWNER_TAG: process}
    run = DagsterRun(job_name="shop", run_id="run-1", status=status, tags=tags)
    return RunRecord(storage_id=1, dagster_run=run, create_timestamp=NOON, update_timestamp=NOON)


def attempt_of(process: str) -> Attempt:
    return replace(make_attempt("2021-06-01"), owner=process)


STARTED, ENDED = DagsterRunStatus.STARTED, DagsterRunStatus.FAILURE


@pytest.mark.parametrize(
    ("status", "process", "step", "is_over", "live"),
    [
        pytest.param(STARTED, owner(), GONE, True, True, id="one step ended, the next has not begun"),
        pytest.param(STARTED, owner(), GONE, False, True, id="one step was killed, the run goes on"),
        pytest.param(STARTED, GONE, owner(), False, True, id="a step outlives the process that started it"),
        pytest.param(STARTED, GONE, owner(), True, False, id="no step is left to do anything"),
        pytest.param(STARTED, GONE, GONE, False, False, id="all was killed"),
        pytest.param(STARTED, None, GONE, False, True, id="nobody knows on what the run depends"),
        pytest.param(STARTED, "elsewhere:1:0", "elsewhere:2:0", False, True, id="on another host"),
        pytest.param(ENDED, owner(), owner(), False, False, id="Dagster says that it has ended"),
    ],
)
def test_which_runs_are_left_to_their_processes(
    status: DagsterRunStatus, process: str | None, step: str, *, is_over: bool, live: bool
) -> None:
    facts = [attempt_of(step), *([make_record("2021-06-01")] if is_over else [])]
    assert is_live(record_of(status, process), facts) is live


def test_a_process_that_ended_and_was_not_asked_after_is_dead() -> None:
    child = psutil.Popen(["true"])
    name = f"{owner().split(':', maxsplit=1)[0]}:{child.pid}:{child.create_time():.0f}"
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert child.status() == psutil.STATUS_ZOMBIE
    assert is_dead(name)
    child.wait()
