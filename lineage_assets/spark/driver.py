"""The warm driver's process, `python -m lineage_assets.spark.driver`: listens, goes to the background, serves.

When the command returns with 0, a client may connect to the socket; its JVM starts meanwhile.
Refuses to know where its socket and folder belong, and that there is only one of it: that is who starts it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import shutil
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_assets.spark.service import Service, Terms

if TYPE_CHECKING:
    from lineage_assets.spark.engine import Engine
    from lineage_assets.spark.execution import Run

BACKLOG = 64


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lineage_assets.spark.driver", description=__doc__)
    parser.add_argument("--socket", type=Path, required=True, help="where to listen; a file there is replaced")
    parser.add_argument("--conf", type=Path, required=True, help="a JSON object of Spark settings")
    parser.add_argument("--events", type=Path, required=True, help="a folder for Spark's events, emptied at the start")
    parser.add_argument("--idle-seconds", type=float, default=600.0)
    parser.add_argument("--most-programs", type=int, default=200)
    parser.add_argument("--cancel-seconds", type=float, default=20.0)
    parser.add_argument("--owner", type=int, help="end when this process has ended")
    return parser.parse_args(words)


def _listen(path: Path) -> socket.socket:
    """A Unix socket that only this user can connect to."""
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    try:
        listening.bind(str(path))
    finally:
        os.umask(mask)
    listening.listen(BACKLOG)
    return listening


def _go_to_background() -> None:
    """Leave the process that was started, so that its caller may go on, and its terminal and signals."""
    if os.fork() > 0:
        os._exit(0)
    os.setsid()


def _start_engine(conf: Path, events: Path, run: Run | None) -> Engine:
    """Start the JVM; pyspark is imported only here, so that clients need not wait for that."""
    from lineage_assets.spark.engine import Engine  # noqa: PLC0415 - see above
    from lineage_assets.spark.session import session  # noqa: PLC0415

    if run is None:
        from lineage_assets.spark import runner  # noqa: PLC0415

        run = runner.run
    return Engine(session(json.loads(conf.read_text("utf-8"))), run, events)


def main(words: Sequence[str] | None = None, *, run: Run | None = None) -> None:
    """Serve until it is over; `run` stands in for the runner."""
    arguments = _arguments(words)
    listening = _listen(arguments.socket)
    _go_to_background()
    logging.basicConfig(format="%(asctime)s %(name)s %(message)s", stream=sys.stderr)
    logging.getLogger("lineage_assets").setLevel(logging.INFO)
    shutil.rmtree(arguments.events, ignore_errors=True)
    arguments.events.mkdir(parents=True)
    terms = Terms(arguments.idle_seconds, arguments.most_programs, arguments.cancel_seconds, arguments.owner)
    service = Service(lambda: _start_engine(arguments.conf, arguments.events, run), terms)
    asyncio.run(service.serve(listening))
    logging.shutdown()
    # For who asked it to stop, the end of the connection is the end of this process: nothing may come between.
    os._exit(0)


if __name__ == "__main__":
    main()
