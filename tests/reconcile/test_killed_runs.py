"""Kill -9 between any two facts: the next pass closes what is open, and every lineage run has one start and one end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from dagster import DagsterInstance

from lineage_assets.ledger.dagster_log import facts_of_run
from lineage_assets.ledger.record import PartitionRecord
from lineage_assets.lineage.retelling import unended
from lineage_assets.settings import child_environment, load_settings
from tests.reconcile.conftest import KeptEvents
from tests.reconcile.test_flush import LONG_AGO, receipt
from tests.support.postgres import Postgres, instance_at
from tests.support.recording import RecordingLauncher
from tests.support.world import ShopWorld

FACTS = 16
"""Four attempts (the job of two outputs makes one each), and a verdict on three days of each of four assets."""
ROOT = Path(__file__).parents[2]


def killed_at(home: Path, facts: int, *url: str) -> None:
    """Run the shop in a process that is killed after so many facts."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.reconcile.killed_runs", str(home), str(facts), *url],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=child_environment(),
        text=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.slow
def test_a_run_killed_at_any_place_is_closed_and_told_once(tmp_path: Path) -> None:
    killed_at(tmp_path, FACTS)
    for place in range(1, FACTS + 1):
        with DagsterInstance.local_temp(str(tmp_path / "places" / str(place))) as instance:
            assert closed_and_told(instance, tmp_path) == place


@pytest.mark.slow
def test_on_postgresql_as_well(postgres_server: Postgres, tmp_path: Path) -> None:
    with postgres_server.database() as url:
        killed_at(tmp_path, 9, url)
        with instance_at(url, tmp_path / "instance") as instance:
            assert closed_and_told(instance, tmp_path) == 9


def closed_and_told(instance: DagsterInstance, home: Path) -> int:
    """How many facts a killed run left, once a pass is seen to have told all that there is to tell of it."""
    settings = load_settings().model_copy(update={"home": home, "openlineage_url": None})
    world = ShopWorld(settings, instance, RecordingLauncher())
    (run,) = instance.get_runs()
    before = facts_of_run(instance, run.run_id)
    kept = KeptEvents()
    world.flush_to(kept).run(LONG_AGO)
    after = facts_of_run(instance, run.run_id)
    assert receipt(instance, run.run_id) == "sent"
    assert after[: len(before)] == before
    assert unended(after) == {}
    (run,) = instance.get_runs()
    assert run.is_finished
    assert (len(after) > len(before)) == (len(before) < FACTS)
    types: dict[str, list[str]] = {}
    for event in kept.events:
        types.setdefault(event["run"]["runId"], []).append(event["eventType"])
    assert all(len(told) == 2 and told[0] == "START" != told[1] for told in types.values())
    ended = Counter(told[1] for told in types.values())
    published = sum(isinstance(fact, PartitionRecord) and not fact.state.is_bad for fact in after)
    assert bool(ended["COMPLETE"]) == bool(published)
    return len(before)
