"""A driver that stops where it is told, to be killed there; test_kill.py runs it in a process of its own.

`python -m tests.spark.killed_driver WAREHOUSE PROGRAM PLACE`; STUCK_MARKER names the file that says it has stopped.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from lineage_assets.spark.iceberg import IcebergTable
from lineage_assets.spark.program import Program
from lineage_assets.spark.runner import run
from lineage_assets.spark.session import session
from tests.support.spark import spark_conf

PLACES = {
    # The job stops by itself, in a task that is writing.
    "while it writes to the branch": None,
    "before the commit": ("replace_days", False),
    "after the commit": ("replace_days", True),
}


def stop_at(step: str, *, is_after: bool, marker: Path) -> None:
    """Stop for good before or after this step."""
    real = getattr(IcebergTable, step)

    def stopping(*arguments: object) -> None:
        if is_after:
            real(*arguments)
        marker.touch()
        signal.pause()

    setattr(IcebergTable, step, stopping)


def main(warehouse: str, program: str, place: str) -> None:
    marker = Path(os.environ["STUCK_MARKER"])
    step = PLACES[place]
    if step is not None:
        stop_at(step[0], is_after=step[1], marker=marker)
        del os.environ["STUCK_MARKER"]
    spark = session(spark_conf(Path(warehouse)))
    run(spark, Program.from_json(program), events_file=marker.with_suffix(".ndjson"))


if __name__ == "__main__":
    main(*sys.argv[1:])
