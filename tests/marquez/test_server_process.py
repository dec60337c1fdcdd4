"""Starting, finding and stopping the embedded server of a state folder."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Event
from time import monotonic

import httpx
import psutil
import pytest

from lineage_assets.errors import LineageAssetsError
from lineage_assets.marquez.client import marquez_at
from lineage_assets.marquez.errors import OtherPortError, PortTakenError, ServerDidNotStartError
from lineage_assets.marquez.process import Server, down, status, up
from tests.support.lineage_events import make_event


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "state"
    down(tmp_path / "state")


def is_gone(server: Server) -> bool:
    try:
        return psutil.Process(server.pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def send(server: Server) -> None:
    httpx.post(f"{server.url}/api/v1/lineage", json=make_event(outputs=["b"]), trust_env=False).raise_for_status()


def kept_events(server: Server) -> int:
    answer = httpx.get(f"{server.url}/api/v1/events/lineage", trust_env=False)
    return int(answer.json()["totalCount"])


def started_by_another(home: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Another process that starts the server of this folder, and ends when its input does."""
    program = (
        "import os, sys; from pathlib import Path; from lineage_assets.marquez.process import up;"
        f"up(Path({str(home)!r}), {', '.join(arguments)}); print('up', flush=True); sys.stdin.read()"
    )
    starter = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert starter.stdout is not None
    assert starter.stdout.readline() == b"up\n"
    return starter


def test_up_starts_a_server_on_the_loopback_address_and_down_stops_it(home: Path) -> None:
    server = up(home)
    assert server.url.startswith("http://127.0.0.1:")
    assert status(home) == server
    listening = psutil.Process(server.pid).net_connections("inet")
    assert {connection.laddr.ip for connection in listening} == {"127.0.0.1"}
    assert down(home) == server
    assert is_gone(server)
    assert status(home) is None
    assert not (home / "marquez" / "server.json").exists()


def test_a_server_that_is_up_is_found_again_and_not_started_twice(home: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        servers = list(pool.map(lambda _: up(home), range(4)))
    assert len(set(servers)) == 1


def test_what_it_kept_is_there_after_it_was_stopped_and_after_it_was_killed(home: Path) -> None:
    send(up(home))
    down(home)
    server = up(home)
    send(server)
    os.kill(server.pid, signal.SIGKILL)
    again = up(home)
    assert again.pid != server.pid
    assert kept_events(again) == 2


def test_every_event_that_was_answered_is_there_when_the_server_is_killed_between_two(home: Path) -> None:
    """The server is killed from outside while one client sends as fast as it can."""
    server = up(home)
    answered: list[str] = []
    enough = Event()

    def send_until_it_is_gone() -> None:
        with httpx.Client(base_url=server.url, trust_env=False) as client:
            for number in count():
                event = make_event(run=str(number), outputs=["b"], at=f"2021-06-01T00:00:00.{number:06}Z")
                try:
                    client.post("/api/v1/lineage", json=event).raise_for_status()
                except httpx.TransportError:
                    return
                answered.append(event["run"]["runId"])
                if number == 50:
                    enough.set()

    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send_until_it_is_gone)
        assert enough.wait(30)
        os.kill(server.pid, signal.SIGKILL)
        sending.result(30)
    with marquez_at(up(home).url) as client:
        kept = [event["run"]["runId"] for event in client.events()]
        runs = {run.id: run.state for run in client.runs("tests", "job")}
    kept.reverse()
    # One more may have been kept without an answer.
    assert kept[: len(answered)] == answered
    assert len(kept) - len(answered) in (0, 1)
    assert runs == dict.fromkeys(kept, "COMPLETED")


def test_the_server_is_without_dagster_and_spark() -> None:
    program = (
        "import sys, lineage_assets.marquez.embedded.serve;"
        "print({'dagster', 'pyspark', 'pydantic', 'openlineage'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_port_that_is_taken_is_named(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortTakenError, match=f"port {port}: it is in use"):
            up(home, port)
    assert status(home) is None


def test_the_port_asked_for_is_taken_and_another_one_later_is_refused(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert up(home, port).url == f"http://127.0.0.1:{port}"
    assert up(home, port).url == up(home).url
    with pytest.raises(OtherPortError, match=f"not on port {port + 1}"):
        up(home, port + 1)


def test_a_process_with_the_same_id_but_another_start_is_not_the_server(home: Path) -> None:
    folder = home / "marquez"
    folder.mkdir(parents=True)
    said = {"url": "http://127.0.0.1:9", "pid": os.getpid(), "started": 1.0, "version": "0"}
    (folder / "server.json").write_text(json.dumps(said), encoding="utf-8")
    assert status(home) is None
    assert down(home) is None
    assert up(home).pid != os.getpid()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_state_file_that_says_nothing_counts_as_none(home: Path, text: str) -> None:
    (home / "marquez").mkdir(parents=True)
    (home / "marquez" / "server.json").write_text(text, encoding="utf-8")
    assert status(home) is None


def test_a_server_of_another_version_is_replaced(home: Path) -> None:
    server = up(home)
    state = home / "marquez" / "server.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "version": "older"}), encoding="utf-8")
    assert up(home).pid != server.pid
    assert is_gone(server)


def test_a_server_that_cannot_start_tells_its_last_words(home: Path) -> None:
    (home / "marquez" / "lineage.db").mkdir(parents=True)
    with pytest.raises(ServerDidNotStartError, match="unable to open database file") as refused:
        up(home)
    assert isinstance(refused.value, LineageAssetsError)
    assert refused.value.log == home / "marquez" / "server.log"


def test_a_server_outlives_the_process_that_started_it(home: Path) -> None:
    with started_by_another(home) as starter:
        server = status(home)
        starter.communicate()
    assert server is not None
    assert status(home) == server


def test_a_server_whose_starter_is_still_there_is_stopped_from_elsewhere_without_waiting(home: Path) -> None:
    """The starter, stopped, reaps nobody: the server stays in the list of processes when it has ended."""
    with started_by_another(home) as starter:
        starter.send_signal(signal.SIGSTOP)
        began = monotonic()
        server = down(home)
        took = monotonic() - began
        starter.send_signal(signal.SIGCONT)
        starter.communicate()
    assert server is not None
    assert is_gone(server)
    assert took < 5


def test_a_server_that_ended_leaves_no_zombie_with_its_starter(home: Path) -> None:
    server = up(home)
    process = psutil.Process(server.pid)
    process.terminate()
    process.wait(10)
    with pytest.raises(psutil.NoSuchProcess):
        psutil.Process(server.pid).status()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_with_an_owner_goes_when_the_owner_does_even_when_killed(home: Path, end: signal.Signals) -> None:
    with started_by_another(home, "owner_pid=os.getpid()") as owner:
        server = status(home)
        assert server is not None
        process = psutil.Process(server.pid)
        owner.send_signal(end)
        owner.communicate()
    process.wait(10)
    assert status(home) is None
