"""Serves the clients of a driver: one program at a time, in order of arrival, each told whom it waits for.

Who hangs up no longer wants the program: it is cancelled, and when that does not help the driver ends with it.
Knows neither Dagster nor Pipes, nor who started the driver.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lineage_assets.spark.client import LONGEST_LINE, Client
from lineage_assets.spark.execution import Failure

if TYPE_CHECKING:
    import socket

    from lineage_assets.spark.engine import Engine

NOT_STARTED = "spark did not start"
TICK_SECONDS = 0.5
CANCEL_TICK_SECONDS = 0.1
REQUEST_SECONDS = 10.0

log = logging.getLogger("lineage_assets.driver")


@dataclass(frozen=True)
class Terms:
    """When a driver ends by itself."""

    idle_seconds: float
    most_programs: int
    cancel_seconds: float
    """How long a program may take to be cancelled: a Spark query is not while it is planned."""
    owner: int | None
    """The process whose end ends the driver; None for a driver that nobody owns."""


class Service:
    """Serves clients on one thread while the engine works on another."""

    def __init__(self, start: Callable[[], Engine], terms: Terms) -> None:
        self._start = start
        self._terms = terms
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="spark")
        self._line: list[Client] = []
        """The client that is served, and behind it those that wait."""
        self._talks: set[asyncio.Task[None]] = set()
        self._stoppers: list[Client] = []
        """Those that asked it to stop: the end of this process is what ends their connection."""
        self._served = 0

    async def serve(self, listening: socket.socket) -> None:
        """Serve until the terms, a client, a signal or the end of the JVM says no more."""
        loop = asyncio.get_running_loop()
        # Made here, since in Python 3.9 they belong to the loop of the moment.
        self._turn, self._ending, self._cancelling = asyncio.Lock(), asyncio.Event(), asyncio.Event()
        self._active_at = loop.time()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end, f"got signal {number.value}", True)  # noqa: FBT003
        self._engine = loop.run_in_executor(self._worker, self._start)
        server = await asyncio.start_unix_server(self._accept, sock=listening, limit=LONGEST_LINE)
        while not self._ending.is_set():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._ending.wait(), TICK_SECONDS)
            self._look_around(loop.time())
        # The name goes before the listener: who then finds nobody may take the name.
        os.unlink(listening.getsockname())  # noqa: PTH108 - takes no time worth a thread
        server.close()
        for failed in await asyncio.gather(*self._talks, return_exceptions=True):
            if failed is not None:
                log.error("a talk with a client failed: %r", failed)
        await asyncio.wait({self._engine})
        if self._engine.exception() is None:
            self._engine.result().stop()

    def _look_around(self, now: float) -> None:
        owner = self._terms.owner
        if self._line:
            self._active_at = now
        if owner is not None and not _exists(owner):
            self._end(f"its owner, process {owner}, ended", now=True)
        elif now - self._active_at > self._terms.idle_seconds:
            self._end(f"idle for {self._terms.idle_seconds:g} s")
        elif self._engine.done() and self._engine.exception() is not None:
            self._end(f"Spark did not start: {self._engine.exception()}")
        elif self._engine.done() and self._engine.result().has_lost_its_jvm():
            self._end("its JVM ended")

    def _end(self, reason: str, now: bool = False) -> None:  # noqa: FBT001, FBT002 - called by position for a signal
        if not self._ending.is_set():
            log.info("ends: %s", reason)
        self._ending.set()
        if now:
            self._cancelling.set()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.get_running_loop().create_task(self._talk(Client(reader, writer)))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _talk(self, client: Client) -> None:
        try:
            # Who connects speaks at once; one who is silent must not keep the driver from ending.
            if await asyncio.wait_for(client.listen(), REQUEST_SECONDS):
                await self._answer(client)
        except (ValueError, KeyError, asyncio.TimeoutError) as error:
            log.warning("got a request that is none: %r", error)
        finally:
            if client not in self._stoppers:
                client.hang_up()

    async def _answer(self, client: Client) -> None:
        kind = client.request.get("kind")
        if kind == "run":
            await self._queue(client)
        elif kind == "status":
            await client.tell("status", **self._status())
        elif kind == "stop":
            self._stoppers.append(client)
            self._end("was asked to", now=client.request["now"])
            await client.tell("stopping", pid=os.getpid())
        else:
            message = f"kind {kind!r}"
            raise ValueError(message)

    async def _queue(self, client: Client) -> None:
        """Run the client's program when its turn comes, unless the client leaves or the driver ends before."""
        ahead = self._line[0] if self._line else None
        self._line.append(client)
        turn = asyncio.ensure_future(self._turn.acquire())
        ending = asyncio.ensure_future(self._ending.wait())
        try:
            if ahead is not None:
                await client.tell("waiting", **{"for": ahead.who})
            await _first(turn, client.gone, ending)
            if self._ending.is_set():
                await client.tell("refused", reason="the driver is ending")
            elif not client.gone.done():
                engine = await self._started(client)
                if engine is not None:
                    await self._run(engine, client)
        finally:
            self._line.remove(client)
            self._active_at = asyncio.get_running_loop().time()
            ending.cancel()
            if not turn.cancel():
                self._turn.release()

    async def _started(self, client: Client) -> Engine | None:
        """The engine, which starts while the first client asks; None when it did not or the client has left."""
        try:
            engine = await self._engine
        except Exception as error:
            log.exception("Spark did not start")
            self._end("Spark did not start")
            await client.tell("failed", failure={**asdict(Failure.of(error)), "kind": NOT_STARTED})
            return None
        return None if client.gone.done() else engine

    async def _run(self, engine: Engine, client: Client) -> None:
        self._served += 1
        group = f"program-{self._served}"
        log.info("%s: %s", group, client.who)
        job = asyncio.get_running_loop().run_in_executor(self._worker, engine.run, client.request, group)
        cancelling = asyncio.ensure_future(self._cancelling.wait())
        await client.tell("started")
        await _first(job, client.gone, cancelling)
        cancelling.cancel()
        if not job.done():
            await self._cancel(engine, job, group)
        failure = job.result()
        if not engine.is_alive():
            self._end(f"its JVM ended under {group}")
            await client.tell("lost", reason="the JVM of the Spark driver ended")
        elif failure is None:
            log.info("%s: done", group)
            await client.tell("done")
        else:
            log.info("%s: %s: %s\n%s", group, failure.kind, failure.message, failure.stack)
            await client.tell("failed", failure=asdict(failure))
        if self._served >= self._terms.most_programs:
            self._end(f"served {self._served} programs")

    async def _cancel(self, engine: Engine, job: asyncio.Future[Failure | None], group: str) -> None:
        """Cancel until program and tasks have ended: Spark forgets the wish, and the program may ask for more."""
        log.info("%s: is cancelled", group)
        loop = asyncio.get_running_loop()
        seconds = self._terms.cancel_seconds
        deadline = loop.time() + seconds
        is_over = False
        while not (is_over and job.done()):
            if loop.time() > deadline:
                log.error("%s: could not be cancelled in %g s; the driver ends with it", group, seconds)
                engine.kill()
                logging.shutdown()
                os._exit(1)
            attempt = loop.run_in_executor(None, engine.cancel, group)
            await asyncio.wait({attempt}, timeout=seconds)
            is_over = attempt.done() and attempt.result()
            if not is_over:
                await asyncio.sleep(CANCEL_TICK_SECONDS)

    def _status(self) -> dict[str, Any]:
        busy = self._line[0].who if self._line else None
        is_up = self._engine.done() and self._engine.exception() is None
        return {
            "pid": os.getpid(),
            "jvm_pid": self._engine.result().jvm_pid if is_up else None,
            "jvm_starts": int(is_up),
            "programs": self._served,
            "busy_with": busy,
            "waiting": [client.who for client in self._line[1:]],
            "idle_seconds": 0.0 if busy else round(asyncio.get_running_loop().time() - self._active_at, 1),
        }


async def _first(*awaited: asyncio.Future[Any]) -> None:
    await asyncio.wait(set(awaited), return_when=asyncio.FIRST_COMPLETED)


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
