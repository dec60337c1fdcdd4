"""The server as a process: ``python -m lineage_assets.marquez.embedded.serve``.

Listens on the loopback address only. Says where by writing a state file once it answers, and takes that file
away when it stops. Given an owner, it stops by itself when that process is gone.
"""

import argparse
import json
import os
import signal
import socket
import sys
from pathlib import Path
from threading import Event, Thread

import psutil
import uvicorn

from lineage_assets.clock import utc_now
from lineage_assets.errors import LineageAssetsError
from lineage_assets.marquez.embedded import NAME
from lineage_assets.marquez.embedded.app import application
from lineage_assets.marquez.embedded.identity import PORT_TAKEN, identity, installed_version
from lineage_assets.marquez.embedded.instants import micros_of
from lineage_assets.marquez.embedded.store import Store

HOST = "127.0.0.1"
_OWNER_LOOK_SECONDS = 0.5


def now() -> int:
    return micros_of(utc_now())


class _Server(uvicorn.Server):
    """Uvicorn that keeps the state file: there while it answers, gone when it does not."""

    def __init__(self, config: uvicorn.Config, state: Path, port: int) -> None:
        super().__init__(config)
        self._state = state
        self._port = port

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        me = psutil.Process()
        said = {
            "kind": "embedded",
            "url": f"http://{HOST}:{self._port}",
            "pid": me.pid,
            "started": me.create_time(),
            "version": installed_version(),
        }
        fresh = self._state.with_suffix(".new")
        fresh.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
        fresh.replace(self._state)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._state.unlink(missing_ok=True)
        await super().shutdown(sockets=sockets)


def serve(folder: Path, port: int, owner_pid: int | None) -> int:
    """Serve until a signal or the owner's end; the exit code."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        sys.stderr.write(f"Port {port} cannot be used: {error}\n")
        return PORT_TAKEN
    store = Store(folder / "lineage.db", now())
    config = uvicorn.Config(
        application(store, now),
        access_log=False,
        server_header=False,
        headers=[("server", identity(os.getpid()))],
        log_level="warning",
        timeout_graceful_shutdown=3,
    )
    server = _Server(config, folder / "server.json", listening.getsockname()[1])
    if owner_pid is not None:
        Thread(target=_stop_after, args=(owner_pid, server), daemon=True).start()
    # Uvicorn raises the signal that ended it once more; this makes it an ordinary exit, after which we tidy up.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        server.run(sockets=[listening])
    finally:
        store.close()
    return 0


def _stop_after(owner_pid: int, server: uvicorn.Server) -> None:
    pause = Event()
    try:
        owner = psutil.Process(owner_pid)
        while owner.is_running() and owner.status() != psutil.STATUS_ZOMBIE:
            pause.wait(_OWNER_LOOK_SECONDS)
    except psutil.NoSuchProcess:
        pass  # Gone before the first look, or between two: the same end.
    server.should_exit = True


def main() -> int:
    parser = argparse.ArgumentParser(prog="serve", description=NAME)
    parser.add_argument("folder", type=Path, help="where the store, the state file and the log are")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--owner-pid", type=int, help="stop when this process is gone")
    asked = parser.parse_args()
    try:
        return serve(asked.folder, asked.port, asked.owner_pid)
    except LineageAssetsError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
