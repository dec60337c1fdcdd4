"""The embedded server of a state folder: start it, find it again, stop it.

Knows processes and files, not lineage. One server a folder, behind one file lock; a process is ours when its id
and its start time are those it wrote down itself, and it answers under that id.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import httpx
import psutil

from lineage_assets.marquez.embedded.identity import PORT_TAKEN, identity, installed_version
from lineage_assets.marquez.errors import (
    OtherPortError,
    OtherServerError,
    PortTakenError,
    ServerDidNotStartError,
    ServerDidNotStopError,
)
from lineage_assets.marquez.state import Containers, Server, locked, read_state, server_folder, state_file
from lineage_assets.settings import child_environment

_START_SECONDS = 30.0
_STOP_SECONDS = 10.0
_ANSWER_SECONDS = 5.0
_LOOK_SECONDS = 0.02


def up(home: Path, port: int | None = None, *, owner_pid: int | None = None) -> Server:
    """The server of this state folder, started when it is not up.

    With an owner it stops by itself when that process is gone; without one it outlives its starter.
    A running one is taken as it is, whoever owns it, unless another version of this package started it.
    """
    folder = server_folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        containers = read_state(folder)
        if isinstance(containers, Containers):
            raise OtherServerError(containers.url, "Marquez in containers", "the embedded server")
        running = _running(folder)
        if running is not None and running.version == installed_version() and _answers(running):
            if port is not None and httpx.URL(running.url).port != port:
                raise OtherPortError(running.url, port)
            return running
        if running is not None:
            _stop(running)
        state_file(folder).unlink(missing_ok=True)
        return _start(folder, port, owner_pid)


def down(home: Path) -> Server | None:
    """Stop the server of this state folder; what was up, or nothing."""
    folder = server_folder(home)
    if not folder.is_dir():
        return None
    with locked(folder):
        if isinstance(read_state(folder), Containers):
            return None
        running = _running(folder)
        if running is not None:
            _stop(running)
        state_file(folder).unlink(missing_ok=True)
        return running


def status(home: Path) -> Server | None:
    """The server of this state folder, when it is up and answers."""
    running = _running(server_folder(home))
    return running if running is not None and _answers(running) else None


def _running(folder: Path) -> Server | None:
    """What the state file names, when that very process still runs."""
    said = read_state(folder)
    return said if isinstance(said, Server) and _process(said) is not None else None


def _process(server: Server) -> psutil.Process | None:
    try:
        process = psutil.Process(server.pid)
        # The kernel counts in ticks of a hundredth of a second from a boot time that may be corrected by a little.
        same = abs(process.create_time() - server.started) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    return process if same else None


def _answers(server: Server) -> bool:
    """Whether this very process answers at the address it wrote down."""
    try:
        answer = httpx.get(f"{server.url}/api/v1/namespaces", timeout=_ANSWER_SECONDS, trust_env=False)
    except httpx.HTTPError:
        return False
    said: str | None = answer.headers.get("server")
    return said == identity(server.pid)


def _start(folder: Path, port: int | None, owner_pid: int | None) -> Server:
    command = [sys.executable, "-m", "lineage_assets.marquez.embedded.serve", str(folder)]
    command += [] if port is None else ["--port", str(port)]
    command += [] if owner_pid is None else ["--owner-pid", str(owner_pid)]
    log = folder / "server.log"
    with log.open("wb") as said:
        # A session of its own: Ctrl-C at the starter's terminal is not meant for the server.
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=_environment(),
            start_new_session=True,
        )
    # So that it is reaped when it ends before us: until then it is a zombie, and in the way of who looks by its id.
    Thread(target=child.wait, name=f"waits for process {child.pid}", daemon=True).start()
    deadline = monotonic() + _START_SECONDS
    while monotonic() < deadline:
        running = _running(folder)
        if running is not None and running.pid == child.pid and _answers(running):
            return running
        ended = child.poll()
        if ended == PORT_TAKEN and port is not None:
            raise PortTakenError(port)
        if ended is not None:
            break
        sleep(_LOOK_SECONDS)
    child.kill()
    child.wait()
    raise ServerDidNotStartError(log, _last_words(log))


def _environment() -> dict[str, str]:
    """Ours, so that the child finds this very package however it was put on the path here."""
    ours = child_environment()
    package_parent = str(Path(__file__).parents[2])
    path = ours.get("PYTHONPATH")
    return {**ours, "PYTHONPATH": package_parent if not path else os.pathsep.join((package_parent, path))}


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _stop(server: Server) -> None:
    for end in (psutil.Process.terminate, psutil.Process.kill):
        process = _process(server)
        if process is None:
            return
        with suppress(psutil.NoSuchProcess):
            end(process)
        if _is_gone_soon(server):
            return
    raise ServerDidNotStopError(server.pid)


def _is_gone_soon(server: Server) -> bool:
    """Whether it ends in time. Who has ended is gone, though its starter may not have reaped it yet."""
    deadline = monotonic() + _STOP_SECONDS
    while _process(server) is not None:
        if monotonic() > deadline:
            return False
        sleep(_LOOK_SECONDS)
    return True
