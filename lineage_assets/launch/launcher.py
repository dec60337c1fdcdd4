"""What every launcher does: run one program, send its report home, and say how it went wrong when it did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from dagster import AssetExecutionContext

from lineage_assets.errors import LineageAssetsError
from lineage_assets.settings import Settings, secrets_of
from lineage_assets.spark.execution import Failure
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Report


class ProgramFailedError(LineageAssetsError):
    """A program ran and failed: trying again would fail again."""

    def __init__(self, cause: str, message: str, log: Path | None = None) -> None:
        self.cause = cause
        self.message = message
        self.log = log
        super().__init__(f"The Spark program failed ({cause}): {message.rstrip('.')}.{_where(log)}")


def failed(failure: Failure, settings: Settings, log: Path) -> ProgramFailedError:
    """The error that a failure means here. A stranger's code may have raised it: what is a secret of ours is masked."""
    return ProgramFailedError(failure.kind, secrets_of(settings).text(failure.message), log)


class ProgramLostError(LineageAssetsError):
    """The process that ran a program is gone: trying again is worth it."""

    def __init__(self, reason: str, log: Path | None = None) -> None:
        self.reason = reason
        self.log = log
        super().__init__(f"The Spark program was lost: {reason}.{_where(log)}")


class Launcher(Protocol):
    """A way to run Spark programs."""

    @property
    def conf(self) -> Mapping[str, str]:
        """The Spark settings under which programs run."""

    def launch(self, context: AssetExecutionContext, program: Program) -> Report:
        """Run a program to its end.

        :raises ProgramFailedError: it ran and failed
        :raises ProgramLostError: its driver was lost
        """


def said_of(program: Program) -> str:
    """The program for people: what it makes, for which partitions."""
    assets = ", ".join(output.asset for output in program.outputs)
    first, last = program.targets[0], program.targets[-1]
    return f"{assets} {first}" if first == last else f"{assets} {first}..{last}"


def _where(log: Path | None) -> str:
    return "" if log is None else f" What Spark said is in {log}."
