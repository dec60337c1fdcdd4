"""The sensor as Dagster runs it: by ticks with a cursor, in its daemon, and beside another pass."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import pytest
from dagster import AssetKey, DagsterInstance, SensorDefinition, build_sensor_context
from filelock import FileLock

from lineage_assets.clock import utc_now
from lineage_assets.ledger.dagster_log import facts_of_run
from lineage_assets.ledger.record import Attempt, Closing
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.retelling import retell
from lineage_assets.reconcile import flush as flush_module
from lineage_assets.reconcile.flush import Flushed
from lineage_assets.reconcile.passes import Project, flush
from lineage_assets.reconcile.sensor import SENSOR_NAME, build_reconcile_sensor
from lineage_assets.settings import child_environment, load_settings
from tests.lineage.receivers import Answer, Heard, receiver, refusing
from tests.reconcile.conftest import KeptEvents
from tests.reconcile.test_flush import LONG_AGO, receipt
from tests.reconcile.test_killed_runs import ROOT, killed_at
from tests.support.recording import RecordingLauncher
from tests.support.small_project import write_project
from tests.support.world import ShopWorld

TICK_SECONDS = 90.0
"""A daemon's start, the half minute between two ticks, and a machine with other things to do."""
LOOK_SECONDS = 0.2


def ok(_: Heard) -> Answer:
    return 201, ""


def told_by(heard: Heard) -> dict[str, list[str]]:
    """Each lineage run with the types of its events, in order."""
    found: dict[str, list[str]] = {}
    for event in list(heard.events):
        found.setdefault(event["run"]["runId"], []).append(event["eventType"])
    return found


@contextmanager
def shop_at(home: Path, url: str | None) -> Iterator[ShopWorld]:
    settings = load_settings().model_copy(update={"home": home, "openlineage_url": url})
    (home / "dagster").mkdir(parents=True, exist_ok=True)
    with DagsterInstance.local_temp(str(home / "dagster")) as instance:
        yield ShopWorld(settings, instance, RecordingLauncher())


def ticked(world: ShopWorld, url: str, cursor: str | None) -> tuple[str | None, str | None]:
    """What a tick says, and the cursor that it leaves."""
    settings = world.settings.model_copy(update={"openlineage_url": url})
    sensor: SensorDefinition = build_reconcile_sensor(world.graph, settings)
    repository = world.definitions.get_repository_def()
    with build_sensor_context(world.instance, cursor=cursor, repository_def=repository) as context:
        done = sensor.evaluate_tick(context)
    return done.skip_message, done.cursor


def test_a_tick_tells_what_is_owed_and_the_next_looks_from_there(world: ShopWorld) -> None:
    world.feed(1)
    run = world.run(1, 1, select=["orders"])
    before = utc_now()
    with receiver(ok) as heard:
        said, cursor = ticked(world, heard.url, None)
        assert said == "1 run and 0 backfills told, 2 events sent."
        assert cursor is not None
        assert before <= datetime.fromisoformat(cursor) <= utc_now()
        assert receipt(world.instance, run.run_id) == "sent"
        job = world.definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection={AssetKey("orders")})
        never = world.instance.create_run_for_job(job, tags={"dagster/partition": "2021-06-02"})
        world.instance.report_run_canceled(never)
        said, _ = ticked(world, heard.url, cursor)
        assert said == "1 run and 0 backfills told, 2 events sent, 1 attempt closed."
        later = (datetime.fromisoformat(cursor) + timedelta(hours=1)).isoformat()
        assert ticked(world, heard.url, later)[0] == "0 runs and 0 backfills told."
    assert Counter(map(tuple, told_by(heard).values())) == {("START", "COMPLETE"): 1, ("START", "ABORT"): 1}


@pytest.mark.usefixtures("no_pauses")
def test_a_tick_without_a_receiver_says_so_and_leaves_the_cursor(world: ShopWorld) -> None:
    world.feed(1)
    run = world.run(1, 1, select=["orders"])
    said, cursor = ticked(world, refusing(), "2021-06-07T12:00:00+00:00")
    assert said is not None
    assert "does not take events" in said
    assert cursor == "2021-06-07T12:00:00+00:00"
    assert receipt(world.instance, run.run_id) == "pending"


def test_the_sensor_is_part_of_every_code_location_and_on_from_the_start(world: ShopWorld) -> None:
    (sensor,) = world.definitions.get_repository_def().sensor_defs
    assert (sensor.name, sensor.default_status.value) == (SENSOR_NAME, "RUNNING")


@contextmanager
def daemon(project: Path, environment: dict[str, str]) -> Iterator[Path]:
    """Dagster's daemon, in a process group of its own that is ended with the block; its log."""
    log = project / "daemon.log"
    with log.open("wb") as out:
        started = subprocess.Popen(
            [sys.executable, "-m", "dagster._daemon", "run", "-w", "workspace.yaml"],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        yield log
    finally:
        os.killpg(started.pid, signal.SIGTERM)
        try:
            started.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


@pytest.mark.slow
def test_under_a_daemon_a_killed_run_is_closed_and_told_within_a_tick(tmp_path: Path) -> None:
    home = tmp_path / "home"
    killed_at(home, 9)
    project = write_project(tmp_path / "project")
    with receiver(ok) as heard, shop_at(home, None) as world:
        (run,) = world.instance.get_runs()
        names = {
            "DAGSTER_HOME": str(home / "dagster"),
            "LINEAGE_ASSETS_HOME": str(home),
            "OPENLINEAGE_URL": heard.url,
            "PYTHONPATH": str(ROOT),
        }
        with daemon(project, child_environment(names)) as log:
            deadline = monotonic() + TICK_SECONDS
            while receipt(world.instance, run.run_id) != "sent":
                assert monotonic() < deadline, log.read_text(encoding="utf-8")
                sleep(LOOK_SECONDS)
        after = world.instance.get_run_by_id(run.run_id)
        assert after is not None
        assert after.is_failure
    assert heard.events
    assert all(len(told) == 2 and told[0] == "START" != told[1] for told in told_by(heard).values())


@pytest.mark.slow
def test_two_passes_at_once_take_turns(tmp_path: Path) -> None:
    killed_at(tmp_path, 9)
    done: list[Flushed] = []
    with receiver(ok) as heard, shop_at(tmp_path, heard.url) as world:
        project = Project(world.instance, world.graph, world.definitions.resolve_asset_graph(), world.settings)
        passes = [Thread(target=lambda: done.append(flush(project, since=LONG_AGO))) for _ in range(2)]
        for one in passes:
            one.start()
        for one in passes:
            one.join()
        (run,) = world.instance.get_runs()
        facts = facts_of_run(world.instance, run.run_id)
    assert sorted((one.runs, one.stopped) for one in done) == [(0, None), (1, None)]
    closed = Counter((fact.asset, fact.number) for fact in facts if isinstance(fact, Closing))
    assert set(closed.values()) == {1}
    assert all(len(told) == 2 and told[0] == "START" != told[1] for told in told_by(heard).values())


def test_a_pass_that_has_no_time_to_wait_for_another_says_so(world: ShopWorld, tmp_path: Path) -> None:
    with receiver(ok) as heard:
        settings = world.settings.model_copy(update={"openlineage_url": heard.url})
        project = Project(world.instance, world.graph, world.definitions.resolve_asset_graph(), settings)
        (tmp_path / "lineage").mkdir()
        with FileLock(tmp_path / "lineage" / "flush.lock"):
            assert flush(project, since=LONG_AGO, seconds=0.1).stopped == "another pass goes on"
        assert flush(project, since=LONG_AGO, seconds=0.1).stopped is None


def test_passes_on_two_hosts_tell_the_same_of_a_run_that_both_close(
    world: ShopWorld, kept: KeptEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lock holds between hosts: the second pass comes to its end while the first is about to close."""
    world.feed(1)
    job = world.definitions.resolve_implicit_global_asset_job_def()
    selected = job.get_subset(asset_selection={AssetKey("orders"), AssetKey("best"), AssetKey("worst")})
    run = world.instance.create_run_for_job(selected, tags={"dagster/partition": "2021-06-01"})
    world.instance.report_run_canceled(run)
    other = KeptEvents()
    never_begun = flush_module.never_begun

    def and_meanwhile(*found: object) -> tuple[Attempt, ...]:
        unbegun = never_begun(*found)  # type: ignore[arg-type]
        monkeypatch.setattr(flush_module, "never_begun", never_begun)
        assert world.flush_to(other).run(LONG_AGO).runs == 1
        return unbegun

    monkeypatch.setattr(flush_module, "never_begun", and_meanwhile)
    world.flush_to(kept).run(LONG_AGO)
    assert sorted(set(kept.bodies)) == sorted(other.bodies)
    told = [event.body for events in retell(facts_of_run(world.instance, run.run_id), Projection()) for event in events]
    assert set(told) == set(kept.bodies)
