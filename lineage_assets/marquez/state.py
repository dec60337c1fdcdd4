"""What a state folder says of its lineage server: the file ``server.json``, and the lock round starting and stopping.

Values and one file; knows neither how a server is started nor whether it answers.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from lineage_assets.marquez.errors import ServerBusyError

_LOCK_SECONDS = 40.0


@dataclass(frozen=True, slots=True)
class Server:
    """The embedded server, as it was when it wrote this down."""

    url: str
    pid: int
    started: float
    """When the process began, in seconds since 1970; tells it from a later one with the same id."""
    version: str


@dataclass(frozen=True, slots=True)
class Containers:
    """Marquez in containers: there until it is taken down, though the engine may be off for a while."""

    url: str
    project: str
    version: str


def server_folder(home: Path) -> Path:
    return home / "marquez"


def state_file(folder: Path) -> Path:
    return folder / "server.json"


def read_state(folder: Path) -> Server | Containers | None:
    """What was written down; None when that is nothing, or nothing that can be read."""
    try:
        said = json.loads(state_file(folder).read_text(encoding="utf-8"))
        if said.get("kind") == "docker":
            return Containers(said["url"], said["project"], said["version"])
        return Server(said["url"], said["pid"], said["started"], said["version"])
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_containers(folder: Path, containers: Containers) -> None:
    """Write it down for those who send events, whole or not at all."""
    fresh = state_file(folder).with_suffix(".new")
    fresh.write_text(json.dumps({"kind": "docker", **asdict(containers)}, indent=2) + "\n", encoding="utf-8")
    fresh.replace(state_file(folder))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    lock = FileLock(folder / "server.lock", timeout=_LOCK_SECONDS)
    try:
        lock.acquire()
    except Timeout:
        raise ServerBusyError(folder) from None
    try:
        yield
    finally:
        lock.release()
