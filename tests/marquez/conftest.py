"""An embedded server in a thread of this process, empty for each test; and the command as a person types it."""

import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from threading import Thread

import httpx
import pytest
import uvicorn

from lineage_assets.cli.main import main
from lineage_assets.marquez.embedded.app import application
from lineage_assets.marquez.embedded.store import Store
from lineage_assets.marquez.process import down

Serve = Callable[[Path], AbstractContextManager[httpx.Client]]
Typed = Callable[..., tuple[int, str]]


def clock() -> int:
    return time.time_ns() // 1000


@contextmanager
def serving(file: Path) -> Iterator[httpx.Client]:
    """A client of a server over this file, for as long as the block lasts."""
    with ExitStack() as stack:
        store = Store(file, clock())
        stack.callback(store.close)
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server = uvicorn.Server(uvicorn.Config(application(store, clock), log_level="warning"))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        stack.callback(thread.join, 10)
        stack.callback(server.handle_exit, signal.SIGTERM, None)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        client = stack.enter_context(httpx.Client(base_url=url, timeout=30, trust_env=False))
        # The socket listens already: a first request waits until the server takes it.
        yield client


@pytest.fixture
def serve() -> Serve:
    return serving


@pytest.fixture
def server(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of an empty embedded server."""
    with serving(tmp_path / "lineage.db") as client:
        yield client


@pytest.fixture
def typed(own_home: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Typed]:
    """Runs a command; its exit code, and all it said."""

    def run(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["marquez", *words])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out + said.err

    yield run
    down(own_home)
