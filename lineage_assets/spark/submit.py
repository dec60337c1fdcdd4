"""The entry for spark-submit: one program from a file, in a session of its own, told to Dagster through Pipes.

Pipes finds its parameters in the environment. Exits with 0 when the report was sent, with 1 when a failure was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from dagster_pipes import PipesEnvVarParamsLoader

from lineage_assets.spark import runner
from lineage_assets.spark.execution import Run, execute
from lineage_assets.spark.forwarding import Receiver, forwarding, secret_values
from lineage_assets.spark.program import Program
from lineage_assets.spark.session import session

LINGER_SECONDS = 2.0
"""What a process gives, at its end, to events that are still to be sent."""


def main(words: Sequence[str] | None = None, *, run: Run = runner.run) -> int:
    """Run the program that the arguments name; `run` stands in for the runner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="a program as JSON")
    parser.add_argument("events", type=Path, help="where Spark's events go; there is no such file yet")
    parser.add_argument("--receiver", type=Path, help="a JSON file with who gets Spark's raw events; it is deleted")
    arguments = parser.parse_args(words)
    program = Program.from_json(arguments.program.read_text(encoding="utf-8"))
    receiver = None if arguments.receiver is None else _taken(arguments.receiver)
    pipes = PipesEnvVarParamsLoader()  # type: ignore[no-untyped-call]
    spark = session({})
    secrets = () if receiver is None else secret_values(spark.sparkContext.getConf().getAll())
    with forwarding(arguments.events, receiver, program.lineage, secrets=secrets, linger=LINGER_SECONDS):
        failure = execute(spark, program, run=run, pipes=pipes, events_file=arguments.events)
        spark.stop()
    if failure is None:
        return 0
    sys.stderr.write(failure.stack)
    return 1


def _taken(file: Path) -> Receiver:
    """The receiver, whose key lies in the file no longer than it must."""
    said = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    return Receiver(**said)
