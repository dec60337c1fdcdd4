"""The stage of the demo: a fresh state folder, lineage server, project and Spark driver, cleared away at its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from lineage_assets.cli.project import load_project, open_instance
from lineage_assets.cli.ready import ready_for_lineage, ready_for_spark
from lineage_assets.cli.story import Story
from lineage_assets.launch.driver_process import driver_processes
from lineage_assets.marquez import process as marquez
from lineage_assets.redaction import redact_text
from lineage_assets.settings import (
    Settings,
    child_environment,
    forget_receivers,
    load_settings,
    project_folder,
    use_home,
)


@dataclass(frozen=True, slots=True)
class Stage:
    """What the demo plays on."""

    settings: Settings
    story: Story
    lineage_url: str

    def drivers(self) -> list[tuple[int, int]]:
        """Programs served and JVM of each Spark driver that is up."""
        said = (one.status() for one in driver_processes(self.settings.home))
        return [(one["programs"], one["jvm_pid"]) for one in said if one is not None]

    def keep_up(self, console: Console) -> None:
        """Dagster's pages and daemon in the foreground, until Ctrl-C."""
        console.print("\nDagster starts; its address is in the lines below. Ctrl-C stops it and the lineage server.")
        command = [sys.executable, "-m", "dagster", "dev", "-h", "127.0.0.1"]
        pages = subprocess.Popen(command, cwd=project_folder(), env=child_environment(), start_new_session=True)
        try:
            pages.wait()
        except KeyboardInterrupt:
            os.killpg(pages.pid, signal.SIGINT)
            pages.wait()


@contextmanager
def demo_stage(console: Console) -> Iterator[Stage]:
    """Set up in `demo/` of the state folder, emptied first; whatever was started is stopped at the end.

    Refused before that when something is missing.
    """
    # What is told here is a story: it goes to nobody's file or queue.
    forget_receivers()
    asked = load_settings()
    ready_for_lineage(asked)
    ready_for_spark(asked)
    home = asked.home / "demo"
    _clear(home)
    use_home(home, owns_driver=True)
    settings = load_settings()
    url = settings.openlineage_url
    if url is None:
        url = marquez.up(home, owner_pid=os.getpid()).url
    console.print(f"State folder: {home}\nLineage server: {redact_text(url)}")
    project = load_project()
    try:
        with open_instance(settings) as instance:
            yield Stage(settings, Story(project, instance, home / "landing"), url)
    finally:
        _stop(home)


def _clear(home: Path) -> None:
    if home.is_dir():
        _stop(home)
        shutil.rmtree(home)
    home.mkdir(parents=True)


def _stop(home: Path) -> None:
    for driver in driver_processes(home):
        driver.stop(now=True)
    marquez.down(home)
