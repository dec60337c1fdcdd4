"""The README's own pipeline is run as it stands there: two files, a feed, a fresh shell, a real Spark."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from lineage_assets.cli.project import open_instance
from lineage_assets.launch.driver_process import driver_processes
from lineage_assets.ledger.dagster_log import read_histories
from lineage_assets.ledger.record import State
from lineage_assets.settings import child_environment, load_settings

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n# (?P<name>\w+\.py)\n(?P<text>.*?)```", re.DOTALL)
WORKSPACE = re.compile(r"```yaml\n# workspace\.yaml\n(?P<text>.*?)```", re.DOTALL)
COMMAND = re.compile(r"`(?P<text>dagster asset materialize [^`]*)`")
EXPORTS = 'eval "$(path/to/this/checkout/.venv/bin/lineage-assets env)"'


@pytest.fixture
def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def its_project(readme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {found["name"]: found["text"] for found in BLOCK.finditer(readme)}
    assert sorted(files) == ["definitions.py", "jobs.py"]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = WORKSPACE.search(readme)
    assert found is not None
    (tmp_path / "workspace.yaml").write_text(found["text"], encoding="utf-8")
    for day, rows in {"01": "1,blue\n2,red\n", "02": "3,blue\n"}.items():
        folder = tmp_path / ".lineage_assets" / "landing" / "bookings" / f"ds=2024-01-{day}"
        folder.mkdir(parents=True)
        (folder / "bookings.csv").write_text(f"id,room\n{rows}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINEAGE_ASSETS_HOME", raising=False)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    return tmp_path


def as_typed(readme: str) -> str:
    """The README's lines, with this Python's folder of commands for that of `make`, and three days for seven."""
    command = COMMAND.search(readme)
    assert command is not None
    assert EXPORTS in readme
    scripts = sysconfig.get_path("scripts")
    # Our own command is in that folder only where the package is installed.
    ours = f'{sys.executable} -c "from lineage_assets.cli.main import main; main()" env'
    exports = EXPORTS.replace("path/to/this/checkout/.venv/bin/lineage-assets env", ours)
    return f"{exports} && PATH={scripts}:$PATH && {command['text'].replace('2024-01-07', '2024-01-03')}"


@pytest.mark.spark
@pytest.mark.slow
def test_the_readmes_own_pipeline_runs_and_blocks_what_reads_a_day_without_files(
    readme: str, its_project: Path
) -> None:
    # What a new shell has: the package, as if installed, and no way to the project but the folder it is in.
    environment = child_environment({"PYTHONPATH": str(ROOT), "LINEAGE_ASSETS_DRIVER_OWNER": str(os.getpid())})
    home = its_project / ".lineage_assets"
    try:
        ran = subprocess.run(
            ["sh", "-c", as_typed(readme)],
            cwd=its_project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for driver in driver_processes(home):
            driver.stop(now=True)
    settings = load_settings()
    assert settings.home == home
    with open_instance(settings) as instance:
        histories = read_histories(instance, [("bookings",), ("busiest_rooms",)])
    records = {(asset[0], day): one for asset, of in histories.items() for day, one in of.verdicts.items()}
    assert {at: record.state for at, record in records.items()} == {
        ("bookings", "2024-01-01"): State.GOOD,
        ("bookings", "2024-01-02"): State.GOOD,
        ("bookings", "2024-01-03"): State.FAILED,
        ("busiest_rooms", "2024-01-01"): State.GOOD,
        ("busiest_rooms", "2024-01-02"): State.GOOD,
        ("busiest_rooms", "2024-01-03"): State.BLOCKED,
    }, ran.stdout + ran.stderr
    assert ran.returncode == 1
    # Each row of the first day counts for the second as well: two rooms, of which blue has two bookings.
    assert [records["busiest_rooms", f"2024-01-0{day}"].rows for day in (1, 2)] == [2, 2]
