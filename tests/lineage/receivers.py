"""Receivers on the loopback that behave as a test says: answer, refuse, falter, hang."""

from __future__ import annotations

import gzip
import json
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler, ThreadingTCPServer
from ssl import SSLContext
from threading import Event, Thread
from typing import Any

Answer = tuple[int, str]
"""Status and body."""


@dataclass
class Heard:
    """A receiver, and what it was sent."""

    url: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    connections: set[int] = field(default_factory=set)
    gone: Event = field(default_factory=Event)
    """Set when the test is over: whoever hangs lets go."""


@contextmanager
def receiver(
    answer: Callable[[Heard], Answer], tls: SSLContext | None = None, port: int = 0, *, reads_json: bool = True
) -> Iterator[Heard]:
    """A server that keeps each event and answers as told, being handed all it heard so far."""
    heard = Heard()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if heard.gone.is_set():
                self.close_connection = True  # the server is down; this connection is its last
                return
            heard.connections.add(self.client_address[1])
            heard.headers.append({name.lower(): value for name, value in self.headers.items()})
            heard.paths.append(self.path)
            heard.bodies.append(body)
            if reads_json:
                heard.events.append(json.loads(gzip.decompress(body) if "Content-Encoding" in self.headers else body))
            status, text = answer(heard)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing: a test's output is its own."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    heard.url = f"http{'' if tls is None else 's'}://127.0.0.1:{server.server_port}"
    try:
        yield heard
    finally:
        heard.gone.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def nobody() -> Iterator[str]:
    yield refusing()


@contextmanager
def answering(answer: Callable[[Heard], Answer]) -> Iterator[str]:
    with receiver(answer) as heard:
        yield heard.url


@contextmanager
def rude(manners: Callable[[socket.socket, bytes], None]) -> Iterator[Heard]:
    """A server that takes a request and then does with the connection as told; it is closed after that."""
    heard = Heard()

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            said = self.request.recv(1 << 20)
            heard.bodies.append(said)
            manners(self.request, said)

    server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    heard.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield heard
    finally:
        heard.gone.set()
        server.shutdown()
        thread.join()
        server.server_close()


def resetting(connection: socket.socket, _: bytes) -> None:
    """A RST instead of an answer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def closing_mid_answer(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nhalf of")


@contextmanager
def hanging() -> Iterator[str]:
    """An address at which connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def refusing() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"
