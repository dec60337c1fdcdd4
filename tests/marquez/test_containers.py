"""Marquez by its official images, up to the docker command line: no engine is asked.

A ``docker`` of ours stands first on PATH and writes down what it was asked, and in which environment.
"""

import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

from lineage_assets.errors import LineageAssetsError
from lineage_assets.lineage.http_receiver import HttpReceiver
from lineage_assets.lineage.receiver import find_receiver
from lineage_assets.marquez import containers
from lineage_assets.marquez.containers import containers_down, containers_of, containers_up
from lineage_assets.marquez.errors import DockerMissingError, DockerRefusedError, OtherPortError, OtherServerError
from lineage_assets.marquez.process import down, status, up
from lineage_assets.settings import load_settings

Serve = Callable[[Path], AbstractContextManager[httpx.Client]]
Typed = Callable[..., tuple[int, str]]
ENGINE = """#!{python}
import json, os, sys
asked = sys.argv[1:]
ours = {{key: value for key, value in os.environ.items() if key.startswith("LINEAGE_ASSETS_")}}
with open({calls!r}, "a") as calls:
    calls.write(json.dumps([asked, ours]) + "\\n")
refuses = {refuses!r}
if refuses and refuses in " ".join(asked):
    sys.exit("first words\\nCannot connect to the Docker daemon.\\n")
"""


class Docker:
    """The command that stands in; ``refuses`` is what it fails at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._calls = folder / "calls"
        folder.mkdir()
        self.refuse("")

    def refuse(self, words: str) -> None:
        command = self.folder / "docker"
        command.write_text(ENGINE.format(python=sys.executable, calls=str(self._calls), refuses=words))
        command.chmod(0o755)

    def calls(self) -> list[tuple[list[str], dict[str, str]]]:
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [(asked, ours) for asked, ours in map(json.loads, lines)]

    def composed(self) -> list[str]:
        return [" ".join(asked[5:]) for asked, _ in self.calls() if asked[0] == "compose" and "--file" in asked]


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Docker:
    found = Docker(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(found.folder), prepend=os.pathsep)
    monkeypatch.delenv("OPENLINEAGE_URL", raising=False)
    return found


@pytest.fixture
def port(serve: Serve, tmp_path: Path) -> Any:  # noqa: ANN401 - yields a number
    """Where something answers as Marquez would, once started."""
    with serve(tmp_path / "stands-in.db") as client:
        yield client.base_url.port


def test_up_starts_both_images_bound_to_the_loopback_address_and_down_removes_them(
    docker: Docker, port: int, own_home: Path
) -> None:
    started = containers_up(own_home, port)
    assert (started.url, started.version) == (f"http://127.0.0.1:{port}", "0.50.0")
    checks, ((asked, ours),) = docker.calls()[:2], docker.calls()[2:]
    assert [check for check, _ in checks] == [
        ["version", "--format", "{{.Server.Version}}"],
        ["compose", "version"],
    ]
    file = str(Path(containers.__file__).with_name("compose.yaml"))
    assert asked == ["compose", "--project-name", started.project, "--file", file, "up", "--detach", "--wait"]
    assert ours["LINEAGE_ASSETS_MARQUEZ_PORT"] == str(port)
    assert ours["LINEAGE_ASSETS_DATA"] == str(own_home / "marquez" / "postgres")
    assert (own_home / "marquez" / "postgres").is_dir()
    assert containers_down(own_home) == started
    assert docker.composed() == ["up --detach --wait", "down"]
    assert containers_of(own_home) is None


def test_the_compose_file_publishes_nothing_but_the_api_and_leaves_nothing_open_that_is_not_filled_in(
    docker: Docker, port: int, own_home: Path
) -> None:
    text = Path(containers.__file__).with_name("compose.yaml").read_text("utf-8")
    services = yaml.safe_load(text)["services"]
    assert {name: service.get("ports", []) for name, service in services.items()} == {
        "db": [],
        "marquez": ["127.0.0.1:${LINEAGE_ASSETS_MARQUEZ_PORT:?}:5000"],
    }
    assert services["marquez"]["environment"]["SEARCH_ENABLED"] == "false"
    containers_up(own_home, port)
    left_open = {part.split(":?}")[0] for part in text.split("${")[1:]}
    filled_in = {name for name in docker.calls()[-1][1] if name != "LINEAGE_ASSETS_HOME"}
    assert left_open == filled_in


def test_events_find_the_containers_until_they_are_taken_down(docker: Docker, port: int, own_home: Path) -> None:
    containers_up(own_home, port)
    assert docker.composed() == ["up --detach --wait"]
    assert find_receiver(load_settings()) == HttpReceiver(f"http://127.0.0.1:{port}")
    containers_down(own_home)
    assert find_receiver(load_settings()) is None


def test_a_second_up_starts_the_same_again_on_the_same_port(docker: Docker, port: int, own_home: Path) -> None:
    first = containers_up(own_home, port)
    assert containers_up(own_home) == first
    assert {tuple(asked[:5]) for asked, _ in docker.calls() if "--file" in asked} == {
        ("compose", "--project-name", first.project, "--file", str(containers._COMPOSE_FILE))
    }
    with pytest.raises(OtherPortError):
        containers_up(own_home, port + 1)


def test_the_embedded_server_and_containers_exclude_each_other(docker: Docker, port: int, own_home: Path) -> None:
    containers_up(own_home, port)
    with pytest.raises(OtherServerError, match=r"is Marquez in containers at .* the embedded server was asked for"):
        up(own_home)
    assert (down(own_home), status(own_home)) == (None, None)
    containers_down(own_home)
    try:
        server = up(own_home)
        with pytest.raises(OtherServerError, match="is the embedded one at"):
            containers_up(own_home)
        assert containers_down(own_home) is None
        assert status(own_home) == server
    finally:
        down(own_home)
    assert docker.composed() == ["up --detach --wait", "down"]


@pytest.mark.parametrize(
    ("words", "mend"), [("version --format", "Start Docker"), ("compose version", "Install Docker's compose plugin")]
)
def test_an_engine_or_a_plugin_that_is_not_there_is_said_before_anything_is_started(
    docker: Docker, own_home: Path, words: str, mend: str
) -> None:
    docker.refuse(words)
    with pytest.raises(DockerRefusedError, match=f"failed: Cannot connect to the Docker daemon. {mend}") as refused:
        containers_up(own_home)
    assert isinstance(refused.value, LineageAssetsError)
    assert docker.composed() == []
    assert containers_of(own_home) is None


def test_without_a_docker_command_the_embedded_server_is_offered(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DockerMissingError, match="Install Docker, or run `lineage-assets marquez up`"):
        containers_up(own_home)


def test_what_a_failed_start_left_can_be_taken_down(docker: Docker, own_home: Path) -> None:
    docker.refuse("--detach")
    with pytest.raises(DockerRefusedError, match="exit code 1"):
        containers_up(own_home)
    assert containers_down(own_home) is not None
    assert docker.composed() == ["up --detach --wait", "down"]


def test_an_engine_that_went_away_keeps_down_from_forgetting(docker: Docker, port: int, own_home: Path) -> None:
    started = containers_up(own_home, port)
    docker.refuse("version")
    with pytest.raises(DockerRefusedError):
        containers_down(own_home)
    assert containers_of(own_home) == started


def test_containers_that_do_not_answer_are_said_to(docker: Docker, own_home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(DockerRefusedError, match="Marquez has not answered in 0 seconds") as refused:
        containers_up(own_home, port, patience_seconds=0)
    assert "lineage-assets marquez down" in str(refused.value)
    assert docker.composed() == ["up --detach --wait"]


def test_a_port_is_chosen_when_none_is_named(docker: Docker, own_home: Path) -> None:
    with pytest.raises(DockerRefusedError):
        containers_up(own_home, patience_seconds=0)
    (_, ours) = docker.calls()[-1]
    found = containers_of(own_home)
    assert found is not None
    assert str(urlsplit(found.url).port) == ours["LINEAGE_ASSETS_MARQUEZ_PORT"]


def test_the_command_starts_them_says_that_they_answer_and_stops_them(docker: Docker, port: int, typed: Typed) -> None:
    marquez = f"Marquez in containers at http://127.0.0.1:{port}"
    events = f"Events go to http://127.0.0.1:{port}."
    assert typed("up", "--with", "docker", "--port", str(port)) == (0, f"{marquez} is up.\n{events}\n")
    assert typed("up", "--with", "docker") == (0, f"{marquez} was up already.\n{events}\n")
    assert typed("status") == (0, f"{events}\n{marquez} is this state folder's.\nIt answers, with 1 namespace.\n")
    assert typed("down") == (0, f"Stopped {marquez}.\n")
    assert "Events go to nobody: no lineage server is up" in typed("status")[1]
    assert docker.composed() == ["up --detach --wait", "up --detach --wait", "down"]


def test_an_engine_that_does_not_answer_is_one_paragraph_and_exit_code_2(docker: Docker, typed: Typed) -> None:
    docker.refuse("version")
    code, said = typed("up", "--with", "docker")
    assert code == 2
    assert said == (
        "`docker version --format {{.Server.Version}}` failed: Cannot connect to the Docker daemon. "
        "Start Docker, or run `lineage-assets marquez up` for the embedded server, which needs nothing.\n"
    )
