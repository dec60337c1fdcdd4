"""The stage of the demo: a fresh state folder, lineage server, project and Spark driver, cleared away at its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from rich.console import Console

from lineage_assets.backfill.interrupts import not_interrupted
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

_MARK = "of-the-demo"
"""A file in the demo's state folder: a shell readied for that one may ask for the demo again."""


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

    def show_ways_on(self, console: Console, *, is_kept: bool) -> None:
        """What to try on this state, and how to get there from a shell."""
        home, commands = self.settings.home, sysconfig.get_path("scripts")
        exports = f'eval "$({quote(f"{commands}/lineage-assets")} env {quote(str(home))})"'
        up = (
            ()
            if is_kept
            else (
                "lineage-assets marquez up          the lineage server again, with a page for people",
                "dagster dev                        Dagster's pages on this state: try a partition backfill there",
            )
        )
        lines = (
            *(exports, "lineage-assets plan orders_7_days --from 2021-06-05", *up),
            "lineage-assets history orders 2021-06-04",
        )
        console.print("\n[bold]Where to look next[/bold]")
        if is_kept:
            url = redact_text(self.lineage_url)
            console.print(f"  The lineage server, with a page for people: {url}", soft_wrap=True)
            console.print("  In another shell:")
        for line in lines:
            console.print(f"  {line}", markup=False, soft_wrap=True)
        console.print("  The next demo empties this state folder; your own pipelines have another.")

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
    home = asked.home if (asked.home / _MARK).exists() else asked.home / "demo"
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
        with not_interrupted():
            _stop(home)


def _clear(home: Path) -> None:
    if home.is_dir():
        _stop(home)
        shutil.rmtree(home)
    home.mkdir(parents=True)
    (home / _MARK).touch()


def _stop(home: Path) -> None:
    for driver in driver_processes(home):
        driver.stop(now=True)
    marquez.down(home)
