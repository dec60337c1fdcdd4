"""New code of a job is imported anew by a process that had imported the old."""

import hashlib
import sys
from importlib import import_module
from pathlib import Path

import pytest

from lineage_assets.spark import program
from lineage_assets.spark.modules import Modules


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Modules:
    monkeypatch.setattr(sys, "path", list(sys.path))
    return Modules()


def written(folder: Path, **sources: str) -> dict[str, str]:
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return {name: hashlib.sha256(source.encode()).hexdigest() for name, source in sources.items()}


def answer(modules: Modules, folder: Path, code: dict[str, str]) -> object:
    modules.look_in([str(folder)])
    modules.forget_changed(code)
    found: object = import_module("asking_job").ANSWER
    modules.remember(code)
    return found


def test_an_unchanged_module_that_holds_names_of_a_changed_one_is_imported_anew_as_well(
    modules: Modules, tmp_path: Path
) -> None:
    asking = "from asked_job import ANSWER\n"
    answers = [
        answer(modules, tmp_path, written(tmp_path, asking_job=asking, asked_job=f"ANSWER = {number}\n"))
        for number in (1, 2, 3)
    ]
    assert answers == [1, 2, 3]


def test_an_unchanged_program_finds_its_modules_as_they_are(modules: Modules, tmp_path: Path) -> None:
    code = written(tmp_path, asking_job="ANSWER = object()\n")
    assert answer(modules, tmp_path, code) is answer(modules, tmp_path, code)


def test_the_folders_of_one_program_are_not_those_of_the_next(modules: Modules, tmp_path: Path) -> None:
    modules.look_in([str(tmp_path / "one")])
    modules.look_in([str(tmp_path / "two")])
    assert [entry for entry in sys.path if entry.startswith(str(tmp_path))] == [str(tmp_path / "two")]


def test_the_runners_own_modules_stay_and_what_is_nowhere_is_no_error(modules: Modules) -> None:
    modules.forget_changed({"lineage_assets.spark.program": "other", "lineage_assets": "other", "no.such.job": "x"})
    assert import_module("lineage_assets.spark.program") is program
