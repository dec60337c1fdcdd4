"""The README's own pipeline is run as it stands there: two files, a feed, a real Spark."""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path

import pytest

from lineage_assets.cli.project import load_project, open_instance
from lineage_assets.cli.story import Story
from lineage_assets.launch.driver_process import driver_processes
from lineage_assets.ledger.record import State
from lineage_assets.settings import load_settings

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"```python\n# (?P<name>\w+\.py)\n(?P<text>.*?)```", re.DOTALL)
MODULES = ("jobs", "definitions")


@pytest.fixture
def its_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {found["name"]: found["text"] for found in BLOCK.finditer(README.read_text(encoding="utf-8"))}
    assert sorted(files) == ["definitions.py", "jobs.py"]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "workspace.yaml").write_text("load_from:\n  - python_module: definitions\n", encoding="utf-8")
    for day, rows in {"01": "1,blue\n2,red\n", "02": "3,blue\n"}.items():
        folder = tmp_path / ".lineage_assets" / "landing" / "bookings" / f"ds=2024-01-{day}"
        folder.mkdir(parents=True)
        (folder / "bookings.csv").write_text(f"id,room\n{rows}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINEAGE_ASSETS_HOME", raising=False)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in MODULES:
        monkeypatch.delitem(sys.modules, module, raising=False)
    return tmp_path


@pytest.mark.spark
@pytest.mark.slow
def test_the_readmes_own_pipeline_runs_and_blocks_what_reads_a_day_without_files(its_project: Path) -> None:
    settings = load_settings()
    assert settings.home == its_project / ".lineage_assets"
    project = load_project()
    try:
        with open_instance(settings) as instance:
            result = Story(project, instance, settings.home / "landing").run(date(2024, 1, 1), date(2024, 1, 3))
    finally:
        for driver in driver_processes(settings.home):
            driver.stop(now=True)
    states = {(record.asset[0], record.partition): record.state for record in result.records}
    assert states == {
        ("bookings", "2024-01-01"): State.GOOD,
        ("bookings", "2024-01-02"): State.GOOD,
        ("bookings", "2024-01-03"): State.FAILED,
        ("busiest_rooms", "2024-01-01"): State.GOOD,
        ("busiest_rooms", "2024-01-02"): State.GOOD,
        ("busiest_rooms", "2024-01-03"): State.BLOCKED,
    }
    # Each row of the first day counts for the second as well: two rooms, of which blue has two bookings.
    rows = {(record.asset[0], record.partition): record.rows for record in result.records}
    assert (rows["busiest_rooms", "2024-01-01"], rows["busiest_rooms", "2024-01-02"]) == (2, 2)
