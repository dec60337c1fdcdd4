"""A receiver of Spark's raw events on this machine: it keeps what it gets, or hangs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass
class RawEvents:
    """What came, in the order in which it did."""

    port: int = 0
    bodies: list[str] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    goes_on: Event = field(default_factory=Event)
    """Set when it answers; a hanging receiver waits for it."""
    asked: Event = field(default_factory=Event)
    answer: tuple[int, dict[str, str]] = (201, {})
    """Status and headers."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]


@contextmanager
def raw_receiver(*, hangs: bool = False) -> Iterator[RawEvents]:
    kept = RawEvents()
    if not hangs:
        kept.goes_on.set()

    class Keeps(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.asked.set()
            kept.goes_on.wait(60)
            kept.keys.add(self.headers.get("Authorization"))
            kept.paths.add(self.path)
            kept.bodies.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            status, headers = kept.answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Not to the error stream."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Keeps)
    kept.port = server.server_port
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        kept.goes_on.set()
        server.shutdown()
        thread.join()
        server.server_close()
