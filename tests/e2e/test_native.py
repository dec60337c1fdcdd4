"""Dagster's own ways to the same assets: its command line, a partition backfill from its pages, its launchpad.

Real processes, as a person starts them: `dagster asset materialize`, the webserver, the daemon with its ticks.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
from dagster import DagsterInstance, RunsFilter

from lineage_assets.cli.project import open_instance
from lineage_assets.dagster_private import BACKFILL_TAG
from lineage_assets.graph import name_of
from lineage_assets.ledger.dagster_log import read_histories, records_of_run
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.pipelines.food_delivery import feed
from lineage_assets.settings import child_environment, load_settings
from tests.e2e.worlds import ASSETS, ROOT, NeverBad, Verdicts, days, living_in, stop_drivers

pytestmark = [pytest.mark.slow, pytest.mark.spark]

FIRST, BAD, LAST = "2021-05-24", "2021-05-26", "2021-05-29"
"""The first days of the story, so that its never-bad world knows what is right for them."""
REACHED = ASSETS[ASSETS.index("orders_7_days") :]
PATIENCE_SECONDS = 240.0
LOOK_SECONDS = 0.2

OURS = "from lineage_assets.cli.main import main; main()"

LAUNCH_BACKFILL = """
mutation ($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}"""
BACKFILL = """
query ($id: String!) { partitionBackfillOrError(backfillId: $id) { __typename ... on PartitionBackfill { status } } }
"""
LAUNCH_RUN = """
mutation ($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on RunConfigValidationInvalid { errors { message } }
    ... on PythonError { message }
  }
}"""
RUN = "query ($id: ID!) { runOrError(runId: $id) { __typename ... on Run { status } } }"


@dataclass(frozen=True)
class Place:
    """A state folder with six days of the pipeline, and programs that run in it as from a person's shell."""

    home: Path
    environment: Mapping[str, str]
    instance: DagsterInstance

    def materialize(self, selection: str, first: str, last: str) -> subprocess.CompletedProcess[str]:
        what = ("--select", selection, "--partition-range", f"{first}...{last}")
        return self.run("-m", "dagster", "asset", "materialize", "-m", "definitions", *what)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )

    def verdicts(self) -> Verdicts:
        histories = read_histories(self.instance, [(name,) for name in ASSETS])
        return {asset: history.verdicts for asset, history in histories.items()}

    def of_backfill(self, backfill_id: str) -> list[PartitionRecord]:
        runs = self.instance.get_runs(filters=RunsFilter(tags={BACKFILL_TAG: backfill_id}))
        return [record for run in runs for record in records_of_run(self.instance, run.run_id)]

    @contextmanager
    def program(self, module: str, *words: str) -> Iterator[None]:
        """A program that goes on meanwhile, in a process group of its own that is ended at the end."""
        with (self.home / f"{module}.log").open("w") as log:
            started = subprocess.Popen(
                [sys.executable, "-m", module, *words],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            try:
                yield
            finally:
                os.killpg(started.pid, signal.SIGTERM)
                try:
                    started.wait(10)
                except subprocess.TimeoutExpired:
                    os.killpg(started.pid, signal.SIGKILL)
                    started.wait()


@dataclass(frozen=True)
class Loaded:
    """What one command made of six days of which one is bad."""

    place: Place
    done: subprocess.CompletedProcess[str]
    verdicts: Verdicts


@dataclass(frozen=True)
class Pages:
    """The webserver's GraphQL, by which its pages ask for everything."""

    place: Place
    http: httpx.Client

    def ask(self, query: str, **variables: object) -> Any:  # noqa: ANN401 - JSON
        answer = self.http.post("/graphql", json={"query": query, "variables": variables}).json()
        assert "errors" not in answer, answer["errors"]
        (only,) = answer["data"].values()
        return only

    def ended(self, query: str, identity: str) -> str:
        """How a backfill or run ended, when it has."""
        going_on = {"REQUESTED", "QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING"}

        def state() -> str | None:
            status = str(self.ask(query, id=identity)["status"])
            return None if status in going_on else status

        return until(state, f"{identity} ends")

    def launch_backfill(self, partition: str) -> str:
        selection = [{"path": [name]} for name in ("orders", *REACHED)]
        launched = self.ask(LAUNCH_BACKFILL, params={"assetSelection": selection, "partitionNames": [partition]})
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        return str(launched["backfillId"])

    def launch_job(self, name: str, config: Mapping[str, object]) -> str:
        selector = {
            "repositoryLocationName": "lineage_assets",
            "repositoryName": "__repository__",
            "jobName": name,
        }
        launched = self.ask(LAUNCH_RUN, params={"selector": selector, "runConfigData": config})
        assert launched["__typename"] == "LaunchRunSuccess", launched
        return str(launched["run"]["runId"])


@dataclass(frozen=True)
class Repaired:
    """The backfill launched in the pages, and how things stood when it had ended."""

    id: str
    status: str
    planned: Mapping[str, Sequence[str]]
    verdicts: Verdicts


def until(look: Callable[[], str | None], what: str) -> str:
    deadline = monotonic() + PATIENCE_SECONDS
    while (seen := look()) is None:
        assert monotonic() < deadline, f"not in {PATIENCE_SECONDS:g} s: {what}"
        sleep(LOOK_SECONDS)
    return seen


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def states(verdicts: Verdicts, state: State) -> dict[str, list[str]]:
    found = {
        name_of(asset): sorted(day for day, record in by_day.items() if record.state is state)
        for asset, by_day in verdicts.items()
    }
    return {name: of for name, of in found.items() if of}


def fingerprints(verdicts: Verdicts) -> dict[tuple[str, str], str | None]:
    return {
        (name_of(asset), day): record.fingerprint
        for asset, by_day in verdicts.items()
        for day, record in by_day.items()
        if FIRST <= day <= LAST
    }


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    home = tmp_path_factory.mktemp("native")
    with ExitStack() as kept:
        with living_in(home, FOOD_DELIVERY_LAST=LAST):
            place = Place(home, child_environment(), kept.enter_context(open_instance(load_settings())))
        kept.callback(stop_drivers, home)
        faults: feed.Faults = {("orders", date.fromisoformat(BAD)): feed.Fault.SCHEMA_CHANGE}
        feed.drop(home / "landing", date.fromisoformat(FIRST), date.fromisoformat(LAST), faults=faults)
        done = place.materialize("*", FIRST, LAST)
        yield Loaded(place, done, place.verdicts())


@pytest.fixture(scope="module")
def pages(loaded: Loaded) -> Iterator[Pages]:
    """The webserver and, once something is asked for, the daemon: its first tick comes when it starts."""
    port = free_port()
    with ExitStack() as kept:
        kept.enter_context(loaded.place.program("dagster_webserver", "-h", "127.0.0.1", "-p", str(port)))
        http = kept.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False))

        def version() -> str | None:
            try:
                return str(http.get("/server_info").json()["dagster_webserver_version"])
            except httpx.TransportError:
                return None

        until(version, "the webserver answers")
        yield Pages(loaded.place, http)


@pytest.fixture(scope="module")
def repaired(pages: Pages) -> Iterator[Repaired]:
    """The bad day's file is put right, its partition launched in the pages; the daemon stays up."""
    place = pages.place
    feed.drop(place.home / "landing", date.fromisoformat(BAD), date.fromisoformat(BAD))
    planned = json.loads(place.run("-c", OURS, "plan", "orders", "--from", BAD, "--json").stdout)
    backfill_id = pages.launch_backfill(BAD)
    with place.program("dagster._daemon", "run"):
        status = pages.ended(BACKFILL, backfill_id)
        by_asset = {one["asset"][0]: one["ranges"] for one in planned["assets"]}
        yield Repaired(backfill_id, status, by_asset, place.verdicts())


def test_a_range_with_a_bad_day_fails_on_the_command_line_and_makes_exactly_the_good_partitions(loaded: Loaded) -> None:
    assert loaded.done.returncode == 1, loaded.done.stderr
    assert states(loaded.verdicts, State.FAILED) == {"orders": [BAD]}
    assert states(loaded.verdicts, State.BLOCKED) == {name: days(26, 29, month=5) for name in REACHED}
    assert states(loaded.verdicts, State.GOOD) == {
        name: days(24, 25, month=5)
        if name in REACHED
        else [day for day in days(24, 29, month=5) if (name, day) != ("orders", BAD)]
        for name in ASSETS
    }


def test_the_command_line_says_what_is_missing_and_what_mends_it(loaded: Loaded) -> None:
    assert f"orders: 1 of 6 partitions were not produced: {BAD} failed: schema change" in loaded.done.stderr
    assert f"lineage-assets backfill orders --from {BAD} --to {BAD}" in loaded.done.stderr
    assert "may leave stale" not in loaded.done.stderr


def test_a_run_of_one_asset_warns_of_what_it_leaves_stale_and_names_the_command(loaded: Loaded) -> None:
    done = loaded.place.materialize("orders", "2021-05-25", "2021-05-25")
    assert done.returncode == 0, done.stderr
    (warning,) = (line for line in done.stderr.splitlines() if "may leave stale" in line)
    assert "orders_7_days 2021-05-25;" in warning
    assert "deliveries 2021-05-25" in warning
    assert "lineage-assets backfill orders --from 2021-05-25 --to 2021-05-25 --without-root" in warning


def test_a_partition_launched_in_the_pages_redoes_what_our_plan_says(loaded: Loaded, repaired: Repaired) -> None:
    assert repaired.status == "COMPLETED_SUCCESS"
    assert repaired.planned == {"orders": [[BAD, BAD]], **{name: [[BAD, LAST]] for name in REACHED}}
    made = sorted((name_of(record.asset), record.partition) for record in loaded.place.of_backfill(repaired.id))
    assert made == sorted([("orders", BAD), *((name, day) for name in REACHED for day in days(26, 29, month=5))])


def test_after_it_every_partition_is_what_a_feed_that_was_never_bad_gives(
    repaired: Repaired, never_bad: NeverBad
) -> None:
    assert states(repaired.verdicts, State.GOOD) == {name: days(24, 29, month=5) for name in ASSETS}
    assert fingerprints(repaired.verdicts) == fingerprints(never_bad.verdicts)


@pytest.mark.usefixtures("repaired")
def test_our_backfill_runs_from_the_launchpad_as_well(pages: Pages) -> None:
    config = {"ops": {"drive": {"config": {"asset": "orders", "from": LAST, "reason": "from the launchpad"}}}}
    run_id = pages.launch_job("lineage_assets_backfill", config)
    assert pages.ended(RUN, run_id) == "SUCCESS"
    run = pages.place.instance.get_run_by_id(run_id)
    assert run is not None
    backfill_id = run.tags[BACKFILL_TAG]
    record = pages.place.instance.get_backfill(backfill_id)
    assert record is not None
    assert (record.status.value, record.description) == ("COMPLETED_SUCCESS", "from the launchpad")
    made = {(name_of(one.asset), one.partition, one.state.is_bad) for one in pages.place.of_backfill(backfill_id)}
    assert made == {(name, LAST, False) for name in ("orders", *REACHED)}
