"""Spark's raw events sent on to a receiver while a program runs, for clusters with a route: `direct` mode.

The listener writes its events to a file all the same; a thread here follows that file. So a receiver that hangs holds
up neither Spark's listener bus nor the collecting of the events, and its key never enters the JVM. Best effort:
whatever goes wrong, the program goes on, and what is on record is told elsewhere. Known secrets are masked; what else
must not leave as it is, `raw_event` knows.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from lineage_assets.spark.program import Lineage
from lineage_assets.spark.raw_event import mended

POLL_SECONDS = 0.2
TIMEOUT_SECONDS = 5.0
MOST_FAILURES = 2
"""In a row, after which the rest of a program's events is not sent."""

_MASK = "***"
_SHORTEST_SECRET = 6
_SECRET_NAME = re.compile(r"secret|passw|token|credential|access[._]?key|api[._]?key|authorization", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^\s/\"'@]+@")

log = logging.getLogger("lineage_assets.forwarding")


@dataclass(frozen=True)
class Receiver:
    """Where raw events go."""

    address: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Sequence[str] = field(default=(), repr=False)
    """What the launcher knows and nobody may read, as it may be spelled."""

    @property
    def host(self) -> str:
        """Without a user and password that may stand before it."""
        return urlsplit(self.address).netloc.rpartition("@")[2]


@contextmanager
def forwarding(
    events_file: Path, receiver: Receiver | None, lineage: Lineage, *, secrets: Iterable[str] = (), linger: float = 0.0
) -> Iterator[None]:
    """Send on what is written to the file until the end of the block, and what is left of it behind one's back.

    `linger` is how many seconds a process that ends right afterwards gives to that.
    """
    if receiver is None:
        yield
        return
    events_file.touch()
    over = threading.Event()
    with _Post(receiver, lineage, secrets).follow(events_file, over) as thread:
        try:
            yield
        finally:
            over.set()
            if linger:
                thread.join(linger)


def secret_values(conf: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """What stands under the name of a secret in Spark's settings.

    Of a cluster's own settings its launcher knows nothing, and the package's finder of secrets does not ship.
    """
    return tuple(value for name, value in conf if _SECRET_NAME.search(name) and _is_telling(value))


def _is_telling(value: str) -> bool:
    return len(value) >= _SHORTEST_SECRET


class _Post:
    """Sends the events of one program, in their order."""

    def __init__(self, receiver: Receiver, lineage: Lineage, secrets: Iterable[str]) -> None:
        self._receiver = receiver
        self._lineage = lineage
        sent = [value.rpartition(" ")[2] for value in receiver.headers.values()]
        self._secrets = sorted(
            {*secrets, *receiver.secrets, *(one for one in sent if len(one) >= _SHORTEST_SECRET)}, key=len, reverse=True
        )
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._failures = 0
        self._failed: set[str] = set()

    @contextmanager
    def follow(self, events_file: Path, over: threading.Event) -> Iterator[threading.Thread]:
        # Opened here: whoever owns the file may delete it when the program is over, while events are still to be sent.
        lines = events_file.open("rb")
        thread = threading.Thread(target=self._follow, args=(lines, over), name="forwarding", daemon=True)
        thread.start()
        yield thread

    def _follow(self, lines: BinaryIO, over: threading.Event) -> None:
        with lines:
            half, is_over = b"", False
            while not is_over:
                is_over = over.wait(POLL_SECONDS)
                *whole, half = (half + lines.read()).split(b"\n")
                for line in whole:
                    self._send(line)
                    if self._failures >= MOST_FAILURES:
                        return

    def _send(self, line: bytes) -> None:
        began = perf_counter()
        try:
            event = json.loads(line)
            if self._is_afterthought(event):
                return
            body = json.dumps(mended(event, self._lineage))
            request = urllib.request.Request(  # noqa: S310 - http or https, as the settings have checked
                self._receiver.address,
                self._masked(body).encode(),
                {"Content-Type": "application/json", **self._receiver.headers},
                method="POST",
            )
            with self._opener.open(request, timeout=TIMEOUT_SECONDS):
                self._failures = 0
        except (OSError, ValueError, HTTPException) as error:
            self._failures += 1
            log.warning(
                "%s took no event of Spark's after %.1f s: %s%s",
                self._receiver.host,
                perf_counter() - began,
                self._masked(str(error)),
                "; the rest of this program's events is not sent" if self._failures >= MOST_FAILURES else "",
            )

    def _is_afterthought(self, event: Mapping[str, Any]) -> bool:
        """Whether it is the COMPLETE that the listener sends after a FAIL (OpenLineage issue 4350)."""
        run_id, kind = event.get("run", {}).get("runId"), event.get("eventType")
        if kind == "FAIL":
            self._failed.add(run_id)
        return kind == "COMPLETE" and run_id in self._failed

    def _masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(json.dumps(secret)[1:-1], _MASK)
        return _USER.sub(f"{_MASK}@", text)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key is meant for the receiver it was given for."""

    def redirect_request(self, *_: Any) -> None:  # noqa: ANN401 - as the class above has it
        return None
