"""The runner runs the bytes that the program was made from, and no others."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage_assets.spark.code import load_job, source_hash, verify
from lineage_assets.spark.refusal import CodeMismatchError, NoSuchJobError
from tests.support.spark import make_program

SOURCE = "def job():\n    return 1\n"
HASH = hashlib.sha256(SOURCE.encode()).hexdigest()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module `shipped_job` in a folder of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "shipped_job.py"
    file.write_text(SOURCE, encoding="utf-8")
    yield file
    sys.modules.pop("shipped_job", None)


def test_a_job_is_found_when_its_module_is_what_the_program_names(module: Path) -> None:
    assert module.is_file()
    program = make_program("x", [], function="shipped_job:job", code={"shipped_job": HASH})
    assert load_job(program)() == 1


def test_other_bytes_are_refused_with_the_module_and_both_hashes(module: Path) -> None:
    module.write_text(SOURCE + "# changed\n", encoding="utf-8")
    with pytest.raises(CodeMismatchError) as refused:
        verify({"shipped_job": HASH})
    found = hashlib.sha256(module.read_bytes()).hexdigest()
    assert (refused.value.module, refused.value.wanted, refused.value.found) == ("shipped_job", HASH, found)
    assert HASH in str(refused.value)
    assert found in str(refused.value)
    assert "start a new driver" in str(refused.value)


def test_a_module_that_is_not_there_is_refused() -> None:
    with pytest.raises(CodeMismatchError, match=r"the module no\.such.module .* is not there"):
        verify({"no.such.module": HASH})


def test_a_file_that_changed_under_a_loaded_module_is_refused_for_the_old_code_would_run(module: Path) -> None:
    verify({"shipped_job": HASH})
    changed = SOURCE.replace("1", "2")
    module.write_text(changed, encoding="utf-8")
    with pytest.raises(CodeMismatchError) as refused:
        verify({"shipped_job": hashlib.sha256(changed.encode()).hexdigest()})
    assert refused.value.found == HASH


def test_a_module_in_an_archive_is_hashed_like_one_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "code.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("zipped_job.py", SOURCE)
    monkeypatch.syspath_prepend(str(archive))
    assert source_hash("zipped_job") == HASH


def test_a_function_that_the_module_lacks_is_refused_by_its_name(module: Path) -> None:
    assert module.is_file()
    program = make_program("x", [], function="shipped_job:jab", code={"shipped_job": HASH})
    with pytest.raises(NoSuchJobError, match='There is no function "shipped_job:jab"'):
        load_job(program)
