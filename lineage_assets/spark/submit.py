"""The entry for spark-submit: one program from a file, in a session of its own, told to Dagster through Pipes.

Pipes finds its parameters in the environment. Exits with 0 when the report was sent, with 1 when a failure was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dagster_pipes import PipesEnvVarParamsLoader

from lineage_assets.spark import runner
from lineage_assets.spark.execution import Run, execute
from lineage_assets.spark.program import Program
from lineage_assets.spark.session import session


def main(words: Sequence[str] | None = None, *, run: Run = runner.run) -> int:
    """Run the program that the arguments name; `run` stands in for the runner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="a program as JSON")
    parser.add_argument("events", type=Path, help="where Spark's events go; there is no such file yet")
    arguments = parser.parse_args(words)
    program = Program.from_json(arguments.program.read_text(encoding="utf-8"))
    pipes = PipesEnvVarParamsLoader()  # type: ignore[no-untyped-call]
    spark = session({})
    failure = execute(spark, program, run=run, pipes=pipes, events_file=arguments.events)
    spark.stop()
    if failure is None:
        return 0
    sys.stderr.write(failure.stack)
    return 1
