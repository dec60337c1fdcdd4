"""The commands lineage replay, verify and flush as a person gives them: what is printed, what is told, how they end."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from dagster import DagsterInstance

from lineage_assets.lineage.transport import HttpTransport
from lineage_assets.marquez.client import MarquezClient, marquez_at
from lineage_assets.marquez.process import down, up
from lineage_assets.reconcile.whole_log import ledger_id
from lineage_assets.settings import load_settings
from tests.lineage.facts import attempt
from tests.lineage.receivers import receiver
from tests.reconcile.ledgers import write
from tests.support.graphs import days
from tests.support.small_project import isolate, run_command, write_project
from tests.support.small_shop import feed

Captured = pytest.CaptureFixture[str]
REPLAY = "lineage-assets lineage replay"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state folder of a project with a backfill of five days behind it, of which one failed; nobody was told."""
    home = tmp_path_factory.mktemp("ledger") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINEAGE_ASSETS_HOME", str(home))
        patch.setenv("OPENLINEAGE_CONFIG", os.devnull)
        for variable in ("DAGSTER_HOME", "OPENLINEAGE_URL"):
            patch.delenv(variable, raising=False)
        patch.setattr("lineage_assets.cli.ready.ready_for_spark", lambda _settings: None)
        isolate(patch, write_project(home.parent / "project"))
        feed(load_settings(), *range(1, 6))
        feed(load_settings(), 4, header="identity")
        assert run_command("backfill", "orders", "--from", "2021-06-01", "--to", "2021-06-05", "--yes") == 1
    return home


@pytest.fixture
def told(ledger: Path, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with that ledger as its own."""
    isolate(monkeypatch, write_project(tmp_path / "project"))
    monkeypatch.delenv("OPENLINEAGE_URL", raising=False)
    shutil.copytree(ledger, own_home)


@pytest.fixture
def server(told: None, own_home: Path) -> Iterator[MarquezClient]:  # noqa: ARG001 - after the backfill
    """An empty server, up only once the backfill is over: the shop's namespace is the same in every test."""
    with marquez_at(up(own_home, owner_pid=os.getpid()).url) as client:
        yield client
    down(own_home)


def test_a_replay_fills_an_empty_server_and_verify_finds_it_equal(server: MarquezClient, capfd: Captured) -> None:
    assert run_command("lineage", "verify") == 1
    said = capfd.readouterr().out
    url = str(server.http.base_url).rstrip("/")
    assert said == f"18 ended runs of 4 jobs in the ledger; {url} holds nothing of them.\nTo mend it: {REPLAY}\n"
    assert run_command("lineage", "replay") == 0
    assert "3 attempts, 36 events, " in capfd.readouterr().out
    assert run_command("lineage", "verify") == 0
    assert "18 ended runs of 4 jobs in the ledger; 0 differ" in capfd.readouterr().out
    assert [job.name for job in server.jobs("shop")] == [
        "example.backfill",
        "example.orders",
        "example.two",
        "example.weekly",
    ]


def test_verify_names_the_partitions_that_differ_and_its_command_mends_them(
    server: MarquezClient, capfd: Captured
) -> None:
    run_command("lineage", "replay")
    start = next(
        event for event in server.events() if event["job"]["name"] == "example.orders" and event["eventType"] == "START"
    )
    partition = start["run"]["facets"]["lineageAssets_attempt"]["partition"]
    transport = HttpTransport(str(server.http.base_url))
    transport.emit(json.dumps(start))
    transport.close()
    capfd.readouterr()
    assert run_command("lineage", "verify") == 1
    said = capfd.readouterr().out
    mend = f"{REPLAY} --asset orders --from {partition} --to {partition}"
    assert f"To mend it: {mend}\n" in said
    assert "1 not ended: RUNNING" in said
    assert run_command(*mend.split()[1:]) == 0
    assert run_command("lineage", "verify", "--asset", "orders") == 0


@pytest.mark.usefixtures("server")
def test_verify_as_json_has_all_of_it(capfd: Captured) -> None:
    assert run_command("lineage", "verify", "--asset", "weekly", "--json") == 1
    said = json.loads(capfd.readouterr().out)
    (job,) = said["jobs"]
    assert (said["equal"], said["mend"]) == (
        False,
        [f"{REPLAY} --asset weekly --from 2021-06-01 --to 2021-06-07"],
    )
    assert (job["name"], job["assets"], job["missing"]) == ("example.weekly", ["weekly"], True)
    assert job["differences"] == [
        {"kind": "missing", "detail": "", "runs": 6, "partitions": "2021-06-01..2021-06-07"},
    ]
    assert job["missing_datasets"] == ["public.orders", "public.weekly"]


@pytest.mark.usefixtures("told")
def test_with_nobody_to_tell_both_refuse_and_say_what_to_do(capfd: Captured) -> None:
    for command in ("replay", "verify"):
        assert run_command("lineage", command) == 2
        assert "`lineage-assets marquez up`" in capfd.readouterr().err


@pytest.mark.usefixtures("told")
def test_what_cannot_be_asked_is_told_all_the_same_and_not_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    kept = tmp_path / "events.jsonl"
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(kept))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    assert run_command("lineage", "replay") == 0
    assert len(kept.read_text().splitlines()) == 36
    capfd.readouterr()
    assert run_command("lineage", "verify") == 2
    said = capfd.readouterr().err
    assert "file" in said
    assert "What can be asked is a Marquez or the embedded server" in said


@pytest.mark.usefixtures("told")
def test_a_server_that_is_no_marquez_is_told_and_not_verified(monkeypatch: pytest.MonkeyPatch, capfd: Captured) -> None:
    with receiver(lambda _heard: (200, "")) as heard:
        monkeypatch.setenv("OPENLINEAGE_URL", heard.url)
        assert run_command("lineage", "verify") == 2
    assert "does not answer as Marquez does" in capfd.readouterr().err


@pytest.mark.usefixtures("told")
def test_verify_asks_who_gets_the_events_and_not_the_address_beside_them(
    monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    with receiver(lambda _: (201, "")) as gets, receiver(lambda _: (201, "")) as beside:
        monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "http")
        monkeypatch.setenv("OPENLINEAGE__TRANSPORT__URL", gets.url)
        monkeypatch.setenv("OPENLINEAGE_URL", beside.url)
        assert run_command("lineage", "verify") == 2
    said = capfd.readouterr().err
    assert gets.url in said
    assert beside.url not in said


@pytest.mark.usefixtures("told")
def test_a_receiver_that_goes_away_stops_it_and_the_command_that_is_named_goes_on(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda _seconds: None)
    with receiver(lambda heard: (200, "") if len(heard.events) < 15 else (503, "")) as heard:
        monkeypatch.setenv("OPENLINEAGE_URL", heard.url)
        assert run_command("lineage", "replay") == 1
        said = capfd.readouterr().out
        assert f"The same command goes on from here: {REPLAY}\n" in said
        assert json.loads((own_home / "lineage" / "replay.json").read_text())["receiver"] == heard.url
    with receiver(lambda _heard: (200, "")) as heard:
        monkeypatch.setenv("OPENLINEAGE_URL", heard.url)
        assert run_command("lineage", "replay") == 0
        assert len(heard.events) == 36  # another receiver is told from the beginning


@pytest.mark.usefixtures("told")
def test_ctrl_c_ends_it_between_two_runs_and_the_same_command_goes_on(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    transport_emit = HttpTransport.emit
    sent: list[str] = []

    def emit(self: HttpTransport, body: str) -> None:
        sent.append(body)
        if len(sent) == 13:
            os.kill(os.getpid(), signal.SIGINT)
        transport_emit(self, body)

    with receiver(lambda _heard: (200, "")) as heard:
        monkeypatch.setenv("OPENLINEAGE_URL", heard.url)
        monkeypatch.setattr(HttpTransport, "emit", emit)
        assert run_command("lineage", "replay") == 130
        assert len(heard.events) == 14
        assert "Stopped: it was interrupted." in capfd.readouterr().out
        assert (own_home / "lineage" / "replay.json").is_file()
        assert run_command("lineage", "replay") == 0
        said = capfd.readouterr().out
        assert "Going on where it stopped" in said
        states = {event["run"]["runId"]: event["eventType"] for event in heard.events}
        assert (len(states), "START" in states.values()) == (18, False)
    assert not (own_home / "lineage" / "replay.json").exists()


@pytest.mark.usefixtures("server")
def test_one_record_of_newer_code_is_named_and_all_the_others_are_told_and_compared(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    with monkeypatch.context() as newer, DagsterInstance.from_config(str(own_home / "dagster")) as instance:
        newer.setattr("lineage_assets.ledger.record_json.RECORD_VERSION", 9)
        write(instance, [attempt(days("2021-06-09"), run_id="3f0e57b1-0000-4000-8000-000000000009")])
    named = 'A record of "orders" by run 3f0e57b1-0000-4000-8000-000000000009, version 9, cannot be read'
    assert run_command("lineage", "replay") == 1
    said = capfd.readouterr().out
    assert " 36 events" in said
    assert said.count(named) == 1
    assert run_command("lineage", "verify") == 1
    said = capfd.readouterr().out
    assert "18 ended runs of 4 jobs in the ledger; 0 differ" in said
    assert said.count(named) == 1
    assert run_command("lineage", "verify", "--json") == 1
    (one,) = json.loads(capfd.readouterr().out)["unreadable"]
    assert one.startswith(named)


def stopped_at_the_end(home: Path, **other: str) -> None:
    """As if a replay had told everything and been killed then."""
    with DagsterInstance.from_config(str(home / "dagster")) as instance:
        ledger = ledger_id(instance)
    said = {"version": 2, "ledger": ledger, "receiver": str(_server_url(home)), "selection": "", "delivered": 10**9}
    (home / "lineage").mkdir(exist_ok=True)
    (home / "lineage" / "replay.json").write_text(json.dumps({**said, **other}))


@pytest.mark.usefixtures("server")
def test_restart_begins_anew(own_home: Path, capfd: Captured) -> None:
    run_command("lineage", "replay")
    for asked, told in (((), "2 events"), (("--restart",), "36 events")):
        stopped_at_the_end(own_home)
        capfd.readouterr()
        run_command("lineage", "replay", *asked)
        assert f" {told}" in capfd.readouterr().out


@pytest.mark.usefixtures("server")
def test_another_ledger_under_the_same_folder_is_told_from_its_beginning(own_home: Path, capfd: Captured) -> None:
    run_command("lineage", "replay")
    stopped_at_the_end(own_home, ledger="of the instance before")
    capfd.readouterr()
    run_command("lineage", "replay")
    assert " 36 events" in capfd.readouterr().out


@pytest.mark.usefixtures("server")
def test_a_server_that_was_made_anew_is_told_from_the_beginning(own_home: Path, capfd: Captured) -> None:
    stopped_at_the_end(own_home)
    run_command("lineage", "replay")
    assert " 36 events" in capfd.readouterr().out


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--asset", "order"), 'Did you mean "orders"?'),
        (("--from", "2021-06-31"), "2021-06-31"),
        (("--from", "2021-06-05", "--to", "2021-06-01"), "swap the two"),
    ],
)
def test_a_selection_that_is_none_is_refused(arguments: tuple[str, ...], said: str, capfd: Captured) -> None:
    assert run_command("lineage", "replay", *arguments) == 2
    assert said in capfd.readouterr().err


def test_flush_tells_what_is_owed_and_nothing_the_second_time(server: MarquezClient, capfd: Captured) -> None:
    assert run_command("lineage", "flush") == 0
    first = capfd.readouterr().out
    assert "events sent" in first
    assert run_command("lineage", "verify") == 0
    capfd.readouterr()
    assert run_command("lineage", "flush") == 0
    assert "0 runs and 0 backfills told" in capfd.readouterr().out
    assert httpx.get(f"{server.http.base_url}/api/v1/namespaces/shop/jobs", trust_env=False).is_success


def _server_url(home: Path) -> object:
    return json.loads((home / "marquez" / "server.json").read_text())["url"]
