"""The small shop as a project folder, for commands that look for one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lineage_assets.cli.main import main

WORKSPACE = "load_from:\n  - python_module: {module_name: definitions}\n"
DEFINITIONS = """\
from lineage_assets.settings import load_settings
from tests.support.recording import RecordingLauncher
from tests.support.small_shop import definitions_of

defs = definitions_of(RecordingLauncher(), load_settings())
"""


def write_project(folder: Path, definitions: str = DEFINITIONS) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "workspace.yaml").write_text(WORKSPACE, encoding="utf-8")
    (folder / "definitions.py").write_text(definitions, encoding="utf-8")
    return folder


def isolate(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Work in the folder, and leave no trace of its module to the next test."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "definitions", raising=False)


def run_command(*arguments: str) -> int:
    """The exit code of `lineage-assets` with these arguments."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    code = ended.value.code
    assert isinstance(code, int)
    return code
