"""The Spark of a driver that outlives its programs: one JVM, and for each program a session and a job group.

Knows neither sockets nor clients. `start` and `run` belong on one thread; the rest may be called from any.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from subprocess import Popen, TimeoutExpired
from typing import TYPE_CHECKING, Any

from dagster_pipes import PipesMappingParamsLoader
from py4j.protocol import Py4JError

from lineage_assets.spark import jvm
from lineage_assets.spark.cancellation import cancel
from lineage_assets.spark.execution import Failure, Run, execute
from lineage_assets.spark.forwarding import Receiver, forwarding, secret_values
from lineage_assets.spark.modules import Modules
from lineage_assets.spark.program import Program

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

STOP_SECONDS = 10.0

log = logging.getLogger("lineage_assets.driver")


class Engine:
    """Runs programs, one after the other, in one JVM."""

    def __init__(self, spark: SparkSession, run: Run, events: Path) -> None:
        self._spark = spark
        self._run = run
        self._events = events
        self._context: Any = spark.sparkContext
        self._jvm: Popen[bytes] = jvm.process(spark)
        self._current: SparkSession | None = None
        self._modules = Modules()

    @property
    def jvm_pid(self) -> int:
        return self._jvm.pid

    def has_lost_its_jvm(self) -> bool:
        return self._jvm.poll() is not None

    def is_alive(self) -> bool:
        """Whether another program can be run: the JVM answers and its Spark context was not stopped."""
        try:
            return not self.has_lost_its_jvm() and not jvm.java_context(self._spark).isStopped()
        except (Py4JError, OSError):
            log.exception("the JVM does not answer")
            return False

    def run(self, request: Mapping[str, Any], group: str) -> Failure | None:
        """Run the program of a request in a session and a job group of its own."""
        try:
            return self._run_alone(request, group)
        except Exception as error:  # noqa: BLE001 - Pipes that cannot be opened, a JVM that is gone: the client is told
            return Failure.of(error)

    def _run_alone(self, request: Mapping[str, Any], group: str) -> Failure | None:
        program = Program.from_json(request["program"])
        self._modules.look_in(request["path"])
        self._modules.forget_changed(program.code)
        spark = self._spark.newSession()
        self._context.setJobGroup(group, group, interruptOnCancel=True)
        jvm.make_active(spark)
        self._current = spark
        events_file = self._events / f"{group}.ndjson"
        pipes = PipesMappingParamsLoader(request["pipes"])
        asked = request.get("receiver")
        receiver = None if asked is None else Receiver(**asked)
        secrets = () if receiver is None else secret_values(self._context.getConf().getAll())
        try:
            with forwarding(events_file, receiver, program.lineage, secrets=secrets):
                failure = execute(spark, program, run=self._run, pipes=pipes, events_file=events_file)
        finally:
            self._current = None
            events_file.unlink(missing_ok=True)
        if failure is None:
            self._modules.remember(program.code)
        # Cached tables are common to all sessions of a JVM.
        spark.catalog.clearCache()
        return failure

    def cancel(self, group: str) -> bool:
        """Cancel what runs of a group now and tell its program to go no further; whether all of that is over."""
        current = self._current
        try:
            if current is None:
                return jvm.running_tasks(self._spark) == 0
            cancel(current, group)
        except (Py4JError, OSError):
            log.exception("%s: the JVM takes no cancel", group)
            return self.has_lost_its_jvm()
        return False

    def stop(self) -> None:
        """Stop Spark and see its JVM end."""
        if self.is_alive():
            self._spark.stop()
        if self._jvm.stdin is not None:
            # The JVM of a gateway reads its standard input, and exits at its end.
            self._jvm.stdin.close()
        try:
            self._jvm.wait(STOP_SECONDS)
        except TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the JVM, whatever it does."""
        self._jvm.kill()
