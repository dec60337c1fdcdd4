"""A run that kills itself, started as a program; it leaves an instance behind as a kill at each earlier place would.

The shop's assets are run, and the process sends itself SIGKILL right after the given number of our facts is in the
log. Arguments: the state folder, that number, and the address of a database if Dagster's storage is one. On SQLite the
instance's files are copied to `places/NUMBER` after every fact: a kill leaves just what is in them.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from dagster import DagsterInstance, EventLogEntry

from lineage_assets.ledger.record_json import RECORD_KEY
from lineage_assets.settings import load_settings
from tests.support.postgres import instance_at
from tests.support.recording import RecordingLauncher
from tests.support.world import ShopWorld


def run_until(home: Path, facts: int, opened: AbstractContextManager[DagsterInstance]) -> None:
    """Run three days, the second without a file, until so many facts are logged."""
    settings = load_settings().model_copy(update={"home": home, "openlineage_url": None})
    logged = 0
    handle = DagsterInstance.handle_new_event

    def handle_and_die(self: DagsterInstance, event: EventLogEntry, **named: object) -> None:
        nonlocal logged
        handle(self, event, **named)  # type: ignore[arg-type]
        if RECORD_KEY not in str(event):
            return
        logged += 1
        if (home / "dagster").is_dir():
            shutil.copytree(home / "dagster", home / "places" / str(logged))
        if logged == facts:
            os.kill(os.getpid(), signal.SIGKILL)

    DagsterInstance.handle_new_event = handle_and_die  # type: ignore[method-assign]
    with opened as instance:
        world = ShopWorld(settings, instance, RecordingLauncher())
        world.feed(1, 3)
        world.run(1, 3)


def main(home: Path, facts: int, url: str | None = None) -> None:
    if url is not None:
        run_until(home, facts, instance_at(url, home / "instance"))
    else:
        (home / "dagster").mkdir(parents=True)
        run_until(home, facts, DagsterInstance.local_temp(str(home / "dagster")))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
