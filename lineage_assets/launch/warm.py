"""The warm local driver as a launcher: run after run is served by one JVM, which is started when there is none.

Decides nothing about a program; what a driver does is in `lineage_assets.spark.service`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dagster import AssetExecutionContext

from lineage_assets.launch.direct import receiver_of_raw_events
from lineage_assets.launch.driver_process import DriverProcess, answers, driver_process
from lineage_assets.launch.homecoming import came_home, open_home
from lineage_assets.launch.launcher import ProgramLostError, failed, said_of
from lineage_assets.launch.spark_child import SparkChild, project_path, spark_child
from lineage_assets.launch.spark_conf import conf_of
from lineage_assets.settings import Settings
from lineage_assets.spark.execution import Failure
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Report

if TYPE_CHECKING:
    from dagster_pyspark import LazyPySparkResource

TRIES = 3
"""Drivers to ask for a program that none of them has started: each may just be ending."""

Say = Callable[[str], None]
Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Terms:
    """When a driver that this launcher starts ends by itself."""

    idle_seconds: float = 600.0
    most_programs: int = 200
    owner: int | None = None
    """The process whose end ends the driver."""

    def as_arguments(self) -> tuple[str, ...]:
        owner = () if self.owner is None else ("--owner", str(self.owner))
        return ("--idle-seconds", str(self.idle_seconds), "--most-programs", str(self.most_programs), *owner)


@dataclass(frozen=True, slots=True)
class WarmDriver:
    """Launches programs on the warm driver of a state folder."""

    conf: Mapping[str, str]
    settings: Settings
    terms: Terms = Terms()
    command: tuple[str, ...] = (sys.executable, "-m", "lineage_assets.spark.driver")
    """What starts a driver; its own arguments follow."""

    @classmethod
    def from_resource(cls, resource: LazyPySparkResource, settings: Settings) -> WarmDriver:
        """A driver with the Spark settings of dagster-pyspark's resource."""
        return cls(conf_of(resource), settings, Terms(owner=settings.driver_owner))

    def launch(self, context: AssetExecutionContext, program: Program) -> Report:
        say: Say = context.log.info
        child = spark_child(self.conf, self.settings, say=say)
        process = driver_process(self.settings.home, child)
        with open_home(context) as session:
            request = {
                "kind": "run",
                "program": program.to_json(),
                "pipes": session.get_bootstrap_env_vars(),
                "path": project_path(program.code),
                "who": f"{said_of(program)} (run {context.run.run_id[:8]})",
                "receiver": receiver_of_raw_events(self.settings, warn=context.log.warning),
            }
            end = self._converse(process, child, request, say)
        came = came_home(session)
        if end["kind"] == "failed":
            raise failed(Failure(**end["failure"]), self.settings, process.log)
        if end["kind"] == "lost" or not isinstance(came, Report):
            raise ProgramLostError(end.get("reason", "no report came home"), process.log)
        return came

    def _converse(self, process: DriverProcess, child: SparkChild, request: Message, say: Say) -> Message:
        """Ask a driver, started if need be, and another one when it ends before it has begun."""
        for _ in range(TRIES):
            started_at = perf_counter()
            is_cold = process.start(child, self.command, *self.terms.as_arguments())
            has_begun = False
            with process.connection() as lines:
                for answer in () if lines is None else answers(lines, request):
                    if answer["kind"] == "waiting":
                        say(f"Waits for the Spark driver, which is busy with {answer['for']}.")
                    elif answer["kind"] == "started":
                        has_begun = True
                        if is_cold:
                            say(f"Started a Spark driver in {perf_counter() - started_at:.1f} s.")
                    elif answer["kind"] == "refused":
                        break
                    else:
                        return answer
            if has_begun:
                return {"kind": "lost", "reason": "the Spark driver ended under it"}
        return {"kind": "lost", "reason": f"{TRIES} Spark drivers ended before they began it"}
