"""What every launcher does: run one program, send its report home, and say how it went wrong when it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dagster import AssetExecutionContext

from lineage_assets.errors import LineageAssetsError
from lineage_assets.spark.program import Program, Report


class ProgramFailedError(LineageAssetsError):
    """A program ran and failed: trying again would fail again."""

    def __init__(self, cause: str, message: str) -> None:
        self.cause = cause
        self.message = message
        super().__init__(f"The Spark program failed ({cause}): {message}")


class ProgramLostError(LineageAssetsError):
    """The process that ran a program is gone: trying again is worth it."""


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
