"""Running one program and sending home what came of it, through Dagster Pipes; the same for every driver.

Knows neither how the program got here nor who waits for it.
"""

from __future__ import annotations

import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dagster_pipes import PipesContext, PipesDefaultContextLoader, PipesDefaultMessageWriter, PipesParamsLoader
from py4j.protocol import Py4JError

from lineage_assets.spark.cancellation import CancelledError, is_cancelled
from lineage_assets.spark.program import Program
from lineage_assets.spark.refusal import RefusedError
from lineage_assets.spark.report import Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOB_FAILED = "job failed"
REFUSED = "refused"
CANCELLED = "cancelled"

STACK_CHARACTERS = 4000
NOISE = ("An error occurred while calling ", "at ", "... ")


class Run(Protocol):
    """What runs a program: the runner, or what a test has in its place."""

    def __call__(self, spark: SparkSession, program: Program, *, events_file: Path) -> Report: ...


@dataclass(frozen=True)
class Failure:
    """Why a program sent no report."""

    kind: str
    """One or two words for tables and metrics."""
    message: str
    """One line for people."""
    stack: str
    """Where in the Python code, nearest last; Java's part is in the driver's log."""

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure that an error means: a refusal is a sentence, of any other the class is told as well."""
        stack = "".join(traceback.format_tb(error.__traceback__))[-STACK_CHARACTERS:]
        if isinstance(error, CancelledError):
            return cls(CANCELLED, str(error), stack)
        if isinstance(error, RefusedError):
            return cls(REFUSED, str(error), stack)
        return cls(JOB_FAILED, f"{type(error).__name__}: {_first_lines(str(error))}", stack)


def execute(
    spark: SparkSession, program: Program, *, run: Run, pipes: PipesParamsLoader, events_file: Path
) -> Failure | None:
    """Run the program and send home its report, or the failure that is also returned.

    `open_dagster_pipes` keeps one context a process, which a driver that serves many programs must not share.
    """
    with PipesContext(pipes, PipesDefaultContextLoader(), PipesDefaultMessageWriter()) as home:
        try:
            report = run(spark, program, events_file=events_file)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a job is a stranger's code and must not end its driver
            failure = Failure.of(CancelledError() if _was_cancelled(spark) else error)
            home.report_custom_message({"failure": asdict(failure)})
            return failure
        home.report_custom_message({"report": report.to_json()})
        return None


def _was_cancelled(spark: SparkSession) -> bool:
    """Whether an error is what a cancelled Spark job ends with; of a JVM that is gone that cannot be told."""
    try:
        return is_cancelled(spark)
    except (Py4JError, OSError):
        return False


def _first_lines(text: str, most: int = 3) -> str:
    """What a person needs of a message that may be a Java stack trace as py4j hands it on."""
    lines = (line.strip() for line in text.splitlines())
    told = [line.removeprefix(": ") for line in lines if line and not line.startswith(NOISE)]
    return " ".join(told[:most])[:1000]
