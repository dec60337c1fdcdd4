"""Runs that kill themselves, each at another place: started as a program, it leaves an instance a place behind.

One process loads everything, and forks a child for each place: the child runs the shop's assets and sends itself
SIGKILL right after the given number of our facts is in the log. Arguments: a folder, and the places.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from dagster import DagsterInstance, EventLogEntry

from lineage_assets.ledger.record_json import RECORD_KEY
from lineage_assets.settings import load_settings
from tests.support.recording import RecordingLauncher
from tests.support.world import ShopWorld


def run_until(home: Path, facts: int) -> None:
    """Run three days, the second without a file, until so many facts are logged."""
    settings = load_settings().model_copy(update={"home": home, "openlineage_url": None})
    (home / "dagster").mkdir(parents=True)
    logged = 0
    handle = DagsterInstance.handle_new_event

    def handle_and_die(self: DagsterInstance, event: EventLogEntry, **named: object) -> None:
        nonlocal logged
        handle(self, event, **named)  # type: ignore[arg-type]
        if RECORD_KEY in str(event):
            logged += 1
        if logged == facts:
            os.kill(os.getpid(), signal.SIGKILL)

    DagsterInstance.handle_new_event = handle_and_die  # type: ignore[method-assign]
    with DagsterInstance.local_temp(str(home / "dagster")) as instance:
        world = ShopWorld(settings, instance, RecordingLauncher())
        world.feed(1, 3)
        world.run(1, 3)


def main(folder: Path, places: list[int]) -> None:
    for facts in places:
        child = os.fork()
        if child == 0:
            run_until(folder / str(facts), facts)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{facts} {'killed' if os.WIFSIGNALED(status) else 'ended'}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(place) for place in sys.argv[2:]])
