"""The command env: what it prints readies a shell, from nothing."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.support.small_project import run_command, write_project

Captured = pytest.CaptureFixture[str]

SHOWN = 'echo "$LINEAGE_ASSETS_HOME|$DAGSTER_HOME|${PATH%%:*}"'


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command sets what it prints in its own process as well."""
    monkeypatch.setenv("DAGSTER_HOME", "unset by the next line, and put back in the end")
    monkeypatch.delenv("DAGSTER_HOME")


def evaluated(exports: str) -> str:
    return subprocess.run(["sh", "-c", exports + SHOWN], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def readied_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its state folder; the shell is in the folder of a project now."""
    other = tmp_path / "other"
    (other / "dagster").mkdir(parents=True)
    monkeypatch.setenv("LINEAGE_ASSETS_HOME", str(other))
    monkeypatch.setenv("DAGSTER_HOME", str(other / "dagster"))
    monkeypatch.chdir(write_project(tmp_path / "project"))
    return other


@pytest.mark.usefixtures("readied_for_another")
def test_a_shell_that_evaluates_it_has_this_projects_instance_and_the_commands(tmp_path: Path, capfd: Captured) -> None:
    home = tmp_path / "project" / ".lineage_assets"
    assert run_command("env") == 0
    assert evaluated(capfd.readouterr().out) == f"{home}|{home}/dagster|{sysconfig.get_path('scripts')}"
    assert "enabled: false" in (home / "dagster" / "dagster.yaml").read_text(encoding="utf-8")


def test_it_keeps_what_is_set_when_told_to(readied_for_another: Path, capfd: Captured) -> None:
    assert run_command("env", "--as-set") == 0
    assert evaluated(capfd.readouterr().out).startswith(f"{readied_for_another}|{readied_for_another}/dagster|")


def test_it_takes_another_state_folder_whose_name_may_hold_anything(tmp_path: Path, capfd: Captured) -> None:
    other = tmp_path / "a $demo's"
    other.mkdir()
    assert run_command("env", str(other)) == 0
    assert evaluated(capfd.readouterr().out).startswith(f"{other}|{other}/dagster|")


def test_a_state_folder_that_is_not_there_is_refused_and_not_made(tmp_path: Path, capfd: Captured) -> None:
    assert run_command("env", str(tmp_path / "demmo")) == 2
    said = capfd.readouterr()
    assert (said.out, "demmo" in said.err) == ("", True)
    assert not (tmp_path / "demmo").exists()
