"""One connection to a driver: what its client asked, whether it is still there, and what it is told.

One request a connection, a JSON object a line:

    {"kind": "run", "program": ..., "pipes": {...}, "path": [...], "who": ..., "receiver": ... of Spark's raw events}
        -> {"kind": "waiting", "for": who} at most once, then {"kind": "started"}, then one of
           {"kind": "done"}: the report came home through Pipes,
           {"kind": "failed", "failure": {...}}: so did this, if Pipes could be opened,
           {"kind": "lost", "reason": ...}: Spark ended under it;
           or, at any time before `started`, {"kind": "refused", "reason": ...}: another driver is to be asked
    {"kind": "status"} -> {"kind": "status", ...}
    {"kind": "stop", "now": bool} -> {"kind": "stopping", "pid": ...}: after the program that runs, or cancelling it;
        the connection ends when the driver has

Knows nothing of what is done about a request.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

LONGEST_LINE = 1 << 28
"""A program of many partitions is one line, longer than asyncio takes unasked."""


class Client:
    """Who asks, and listens for the answer until it hangs up."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.request: Mapping[str, Any] = {}
        self.gone: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def listen(self) -> bool:
        """Read the request; False when it hung up without one. Raises ValueError for one that is none."""
        line = await self._reader.readline()
        if not line:
            return False  # it only looked whether somebody is there
        request = json.loads(line)
        if not isinstance(request, dict):
            raise ValueError(f"a {type(request).__name__}")  # noqa: TRY004 - as for text that is no JSON
        self.request = request
        self.gone = asyncio.ensure_future(self._reader.read())
        return True

    @property
    def who(self) -> str:
        return str(self.request["who"])

    async def tell(self, kind: str, **more: Any) -> None:  # noqa: ANN401 - JSON
        # Whether anybody is there to hear it is told by `gone`, not by a failed write.
        with contextlib.suppress(ConnectionError):
            self._writer.write(json.dumps({"kind": kind, **more}).encode() + b"\n")
            await self._writer.drain()

    def hang_up(self) -> None:
        self._writer.close()
