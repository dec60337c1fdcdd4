"""Marquez by its official images: started, found and stopped by docker compose.

Knows the docker command line and one compose file; what is in the containers is theirs. The database is a folder of
the state folder. Tested up to the command line: no test of this project has an engine.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep

import httpx

from lineage_assets.marquez.errors import DockerMissingError, DockerRefusedError, OtherPortError, OtherServerError
from lineage_assets.marquez.process import status as embedded_server
from lineage_assets.marquez.state import Containers, locked, read_state, server_folder, state_file, write_containers
from lineage_assets.settings import child_environment

MARQUEZ_VERSION = "0.50.0"
"""The version whose answers are on record in this project's tests."""

_COMPOSE_FILE = Path(__file__).with_name("compose.yaml")
_HOST = "127.0.0.1"
_LOOK_SECONDS = 0.5
_ASK_SECONDS = 30.0


def containers_up(home: Path, port: int | None = None, *, patience_seconds: float = 180.0) -> Containers:
    """Marquez in containers for this state folder, started when it is not up; returns when it answers."""
    folder = server_folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        embedded = embedded_server(home)
        if embedded is not None:
            raise OtherServerError(embedded.url, "the embedded one", "Marquez in containers")
        known = read_state(folder)
        chosen = known if isinstance(known, Containers) else _new(folder, port)
        if port is not None and httpx.URL(chosen.url).port != port:
            raise OtherPortError(chosen.url, port)
        _check_engine()
        (folder / "postgres").mkdir(mode=0o700, exist_ok=True)
        # Before the start, so that `down` finds what a start leaves that fails half-way.
        write_containers(folder, chosen)
        # Nothing is captured: fetching images takes minutes, and docker shows how it goes.
        _run(_compose(chosen, "up", "--detach", "--wait"), folder, chosen, captured=False)
    _wait(chosen, patience_seconds)
    return chosen


def containers_down(home: Path) -> Containers | None:
    """Stop and remove the containers of this state folder, if it has any; what they hold is kept."""
    folder = server_folder(home)
    known = read_state(folder)
    if not isinstance(known, Containers):
        return None
    with locked(folder):
        _check_engine()
        _run(_compose(known, "down"), folder, known)
        state_file(folder).unlink(missing_ok=True)
    return known


def containers_of(home: Path) -> Containers | None:
    """What was started for this state folder and not taken down since, answering or not."""
    known = read_state(server_folder(home))
    return known if isinstance(known, Containers) else None


def answers(containers: Containers) -> bool:
    try:
        found = httpx.get(f"{containers.url}/api/v1/namespaces", timeout=5, trust_env=False)
    except httpx.HTTPError:
        return False
    return found.status_code == httpx.codes.OK


def _new(folder: Path, port: int | None) -> Containers:
    if port is None:
        with socket.create_server((_HOST, 0)) as free:
            port = free.getsockname()[1]
    project = f"lineage-assets-{sha256(str(folder.resolve()).encode()).hexdigest()[:8]}"
    return Containers(f"http://{_HOST}:{port}", project, MARQUEZ_VERSION)


def _check_engine() -> None:
    if shutil.which("docker") is None:
        raise DockerMissingError
    start = "Start Docker, or run `lineage-assets marquez up` for the embedded server, which needs nothing."
    _ask(["docker", "version", "--format", "{{.Server.Version}}"], start)
    _ask(["docker", "compose", "version"], "Install Docker's compose plugin, version 2 or later.")


def _ask(command: list[str], mend: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_ASK_SECONDS, env=child_environment()
        )
    except subprocess.TimeoutExpired:
        raise DockerRefusedError(" ".join(command), f"no answer in {_ASK_SECONDS:.0f} seconds", mend) from None
    if done.returncode != 0:
        raise DockerRefusedError(" ".join(command), _last_words(done.stderr), mend)


def _compose(containers: Containers, *words: str) -> list[str]:
    return ["docker", "compose", "--project-name", containers.project, "--file", str(_COMPOSE_FILE), *words]


def _run(command: list[str], folder: Path, containers: Containers, *, captured: bool = True) -> None:
    environment = child_environment(_filled_in(folder, containers))
    done = subprocess.run(command, capture_output=captured, text=True, check=False, env=environment)
    if done.returncode != 0:
        said = _last_words(done.stderr) if captured else f"exit code {done.returncode}, for what it says above"
        raise DockerRefusedError(" ".join(command), said, "Mend that, and give the same command again.")


def _filled_in(folder: Path, containers: Containers) -> Mapping[str, str]:
    """What the compose file leaves open."""
    return {
        # The database belongs to whoever starts it, so that the state folder can be moved and removed.
        "LINEAGE_ASSETS_USER": f"{os.getuid()}:{os.getgid()}",
        "LINEAGE_ASSETS_DATA": str(folder.resolve() / "postgres"),
        "LINEAGE_ASSETS_MARQUEZ_VERSION": containers.version,
        "LINEAGE_ASSETS_MARQUEZ_PORT": str(httpx.URL(containers.url).port),
    }


def _wait(containers: Containers, patience_seconds: float) -> None:
    deadline = monotonic() + patience_seconds
    while not answers(containers):
        if monotonic() > deadline:
            logs = " ".join(["docker", "logs", f"{containers.project}-marquez-1"])
            raise DockerRefusedError(
                f"GET {containers.url}",
                f"the containers are up, and Marquez has not answered in {patience_seconds:.0f} seconds",
                f"`{logs}` tells what it is at; `lineage-assets marquez down` gives it up.",
            )
        sleep(_LOOK_SECONDS)


def _last_words(said: str) -> str:
    lines = said.strip().splitlines()
    return lines[-1].rstrip(".") if lines else ""
