"""A run of the story ends it when somebody asked for that meanwhile, and prints nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from lineage_assets.cli.project import load_project, open_instance
from lineage_assets.cli.story import RunResult, Story
from lineage_assets.settings import load_settings
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Report
from tests.support import recording
from tests.support.small_project import isolate, write_project
from tests.support.small_shop import feed

DAY = date(2021, 6, 12)
Told = Callable[[Callable[[], None]], RunResult]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    """Runs a day of the small shop, in each of whose programs this is done."""
    isolate(monkeypatch, write_project(tmp_path / "project"))

    def run(do: Callable[[], None]) -> RunResult:
        def launched(_self: recording.RecordingLauncher, _context: object, program: Program) -> Report:
            do()
            return recording.report_of(program)

        monkeypatch.setattr(recording.RecordingLauncher, "launch", launched)
        settings = load_settings()
        feed(settings, 10, 11, 12)
        with open_instance(settings) as instance:
            return Story(load_project(), instance, settings.home / "landing").run(DAY, DAY)

    return run


def speak() -> None:
    os.write(1, b"said by a job\n")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_under_a_run_ends_what_goes_on(told: Told, ending: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt):
        told(lambda: os.kill(os.getpid(), ending))


def test_what_a_run_prints_goes_to_a_log(told: Told, own_home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told(speak)
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "")
    assert "said by a job" in (own_home / "logs" / "runs.log").read_text(encoding="utf-8")
