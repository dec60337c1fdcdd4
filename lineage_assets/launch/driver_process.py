"""The process of a warm driver, seen from outside: where it listens, how it is started once, what it is asked.

There is one for each user, state folder and hash over what a driver cannot change while it runs: the Spark settings,
the jars, Java, Python, and the code in `lineage_assets.spark`. The jobs' own code is not in the hash: a driver imports
a job's module anew when its source has changed. Knows no program, nor Dagster.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from filelock import FileLock

import lineage_assets.spark
from lineage_assets.errors import LineageAssetsError
from lineage_assets.launch.spark_child import SparkChild
from lineage_assets.launch.spark_conf import JARS
from lineage_assets.spark.program import PROTOCOL

LONGEST_SOCKET_PATH = 103
"""What macOS takes; Linux takes 107."""


class SocketFolderError(LineageAssetsError):
    """The folder for sockets cannot be used."""

    def __init__(self, folder: Path, reason: str) -> None:
        self.folder = folder
        self.reason = reason
        super().__init__(
            f"The Spark driver cannot have its socket in {folder}: {reason}. "
            "Set TMPDIR to a short path that is yours alone, or remove that folder."
        )


class DriverNotStartedError(LineageAssetsError):
    """The driver's process ended before it listened."""

    def __init__(self, log: Path, tail: str) -> None:
        self.log = log
        self.tail = tail
        super().__init__(f"The Spark driver did not start: {tail}. Its log is {log}.")


@dataclass(frozen=True, slots=True)
class DriverProcess:
    """A driver that may be up or not."""

    folder: Path
    """The state folder's `driver/`."""
    name: str

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    @property
    def note(self) -> Path:
        """A file that tells where the socket is: whoever started the driver may have had another TMPDIR."""
        return self.folder / f"{self.name}.socket"

    @contextmanager
    def connection(self) -> Iterator[TextIO | None]:
        """A conversation with the driver, one JSON object a line; None when none is up. To leave is to hang up."""
        connected = socket.socket(socket.AF_UNIX)
        try:
            connected.connect(self.note.read_text(encoding="utf-8"))
        except (FileNotFoundError, ConnectionRefusedError):
            connected.close()
            yield None
            return
        with connected, connected.makefile("rw", encoding="utf-8") as lines:
            yield lines

    def status(self) -> Mapping[str, Any] | None:
        """What the driver says of itself; None when none is up."""
        with self.connection() as lines:
            return None if lines is None else next(answers(lines, {"kind": "status"}), None)

    def stop(self, *, now: bool) -> int | None:
        """End it, after the program that runs or now, and wait for that; the process it was, None when none was up."""
        with self.connection() as lines:
            said = [] if lines is None else list(answers(lines, {"kind": "stop", "now": now}))
        return int(said[0]["pid"]) if said else None

    def start(self, child: SparkChild, command: tuple[str, ...], *terms: str) -> bool:
        """Start it unless it is up; whether it was this call that did. When two ask at once, one does."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / f"{self.name}.lock"):
            with self.connection() as lines:
                if lines is not None:
                    return False
            self._start(child, command, terms)
        return True

    def _start(self, child: SparkChild, command: tuple[str, ...], terms: tuple[str, ...]) -> None:
        path = _socket_folder() / f"{self.name}.sock"
        if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
            raise SocketFolderError(path.parent, "its path is too long for a socket")
        conf = self.folder / f"{self.name}.conf.json"
        # Settings may hold a password for somebody's storage.
        conf.touch(mode=0o600)
        conf.write_text(json.dumps(child.conf, indent=1, sort_keys=True), encoding="utf-8")
        if self.log.exists():
            self.log.replace(self.folder / f"{self.name}.previous.log")
        with self.log.open("w", encoding="utf-8") as log:
            done = subprocess.run(
                [*command, "--socket", path, "--conf", conf, "--events", self.folder / f"{self.name}.events", *terms],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=child.environment,
            )
        if done.returncode != 0:
            lines = self.log.read_text(encoding="utf-8").strip().splitlines()
            raise DriverNotStartedError(self.log, lines[-1] if lines else f"it ended with {done.returncode}")
        self.note.write_text(str(path), encoding="utf-8")


def driver_process(home: Path, child: SparkChild) -> DriverProcess:
    """The driver of this state folder for these settings."""
    made_for = {
        "protocol": PROTOCOL,
        "home": str(home),
        "conf": dict(child.conf),
        "jars": [_state(Path(jar)) for jar in child.conf.get(JARS, "").split(",") if jar],
        "java": child.environment["JAVA_HOME"],
        "python": [sys.executable, sys.version],
        "code": _code(),
    }
    digest = hashlib.sha256(json.dumps(made_for, sort_keys=True).encode()).hexdigest()
    return DriverProcess(home / "driver", digest[:16])


def driver_processes(home: Path) -> list[DriverProcess]:
    """Each driver that this state folder ever had, up or not."""
    folder = home / "driver"
    return [DriverProcess(folder, note.stem) for note in sorted(folder.glob("*.socket"))]


def answers(lines: TextIO, request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What the driver says to a request, until one of the two hangs up."""
    try:
        lines.write(json.dumps(request) + "\n")
        lines.flush()
        for line in lines:
            yield json.loads(line)
    except (BrokenPipeError, ConnectionResetError):
        return


def _socket_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"lineage_assets-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise SocketFolderError(folder, "others than you may have access to it")
    return folder


def _state(jar: Path) -> tuple[str, int, int] | str:
    if not jar.is_file():
        return str(jar)  # a jar on a remote file system; Spark fetches it
    state = jar.stat()
    return str(jar), state.st_size, state.st_mtime_ns


def _code() -> dict[str, str]:
    folder = Path(next(iter(lineage_assets.spark.__path__)))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.py"))}
