"""Law 2: a driver killed anywhere leaves every partition whole, and the same program again ends as if nothing was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic

import pytest

from lineage_assets.spark.program import Program
from tests.spark.killed_driver import PLACES
from tests.support.spark import Lake, Rows, days_from, make_program

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DAYS = days_from("2021-06-01", 3)
ROOT = Path(__file__).parents[2]


def kill_at(place: str, program: Program, warehouse: Path, folder: Path) -> None:
    """Run the program in a driver of its own and end that, JVM and all, by SIGKILL once it is at this place."""
    marker, log = folder / "stopped", folder / "driver.log"
    command = [sys.executable, "-m", "tests.spark.killed_driver", str(warehouse), program.to_json(), place]
    environment = {**os.environ, "STUCK_MARKER": str(marker), "PYTHONPATH": str(ROOT)}
    with (
        log.open("wb") as out,
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out, start_new_session=True) as driver,
    ):
        deadline = monotonic() + 300
        try:
            while not marker.exists():
                with suppress(subprocess.TimeoutExpired):
                    pytest.fail(f"it ended with {driver.wait(timeout=0.1)}: {log.read_text('utf-8')}")
                assert monotonic() < deadline, log.read_text("utf-8")
        finally:
            os.killpg(driver.pid, signal.SIGKILL)


def amounts(rows: Rows) -> set[int]:
    return {row[1] for row in rows}


@pytest.mark.parametrize("place", PLACES)
def test_a_driver_killed(lake: Lake, warehouse: Path, tmp_path: Path, place: str) -> None:
    lake.write("orders", DAYS, rows=1, amount=1)
    # Without a shuffle and a sort before it, a task has written to all days when it stops at its last row.
    lake.spark.sql(
        f"create table {lake.table('copy')} (id int, amount int, ds date) using iceberg partitioned by (ds) "
        "tblproperties ('write.distribution-mode'='none', 'write.spark.fanout.enabled'='true')"
    )
    outputs, reads = (lake.output("copy", min_rows=1),), (lake.reads("orders", DAYS),)
    lake.run(make_program("stuck", DAYS, outputs=outputs, tables=reads))
    old = lake.rows("copy")
    assert len(old) == 3
    lake.write("orders", DAYS, rows=1, amount=2)
    program = make_program("stuck", DAYS, outputs=outputs, tables=reads)

    kill_at(place, program, warehouse, tmp_path)

    is_published = place == "after the commit"
    left = lake.rows("copy")
    assert amounts(left) == ({2} if is_published else {1})
    assert len(left) == 3
    commits = lake.spark.table(f"{lake.table('copy')}.snapshots").count()
    report = lake.run(program)
    assert [one.published for one in report.outputs["copy"].partitions.values()] == [True] * 3
    assert amounts(lake.rows("copy")) == {2}
    assert len(lake.rows("copy")) == 3
    if is_published:
        assert lake.spark.table(f"{lake.table('copy')}.snapshots").count() == commits
    assert lake.branches("copy") == []
