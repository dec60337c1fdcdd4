"""The code version: what can change a result changes it, and nothing else does."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from lineage_assets.assets.code_version import code_version, shipped_code
from lineage_assets.assets.declaration import JobDeclaration, Pipeline, table
from lineage_assets.datasets import Checks
from lineage_assets.partitions import Daily, trailing_days

Declare = Callable[..., JobDeclaration]
JOB = '"""A module."""\nfrom its_lines import LINES\n\ndef weekly(orders):\n    """A job."""\n    return orders\n'


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Declare]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def make(job: str = JOB, lines: str = "LINES = 1\n", **overrides: object) -> JobDeclaration:
        (tmp_path / "its_jobs.py").write_text(job, encoding="utf-8")
        (tmp_path / "its_lines.py").write_text(lines, encoding="utf-8")
        for name in ("its_jobs", "its_lines"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        function = importlib.import_module("its_jobs").weekly
        pipeline = Pipeline("food", Daily(date(2021, 6, 1)))
        said = {"reads": {"orders": trailing_days(7)}, "columns": "id INTEGER", "checks": Checks(), **overrides}
        makes = table("weekly", "public.weekly", str(said["columns"]), checks=said["checks"])
        return pipeline.job(function, "example.weekly", makes, reads=said["reads"])

    yield make
    for name in ("its_jobs", "its_lines"):
        sys.modules.pop(name, None)


def test_comments_layout_and_docstrings_do_not_count(declare: Declare) -> None:
    other = JOB.replace('"""A job."""', '"""The job, said better."""').replace("    return", "    # why\n\n    return")
    assert code_version(declare(), {}) == code_version(declare(other), {})


def test_a_change_in_the_job_or_in_a_module_that_it_imports_counts(declare: Declare) -> None:
    versions = {
        code_version(declare(), {}),
        code_version(declare(JOB.replace("return orders", "return orders.limit(1)")), {}),
        code_version(declare(lines="LINES = 2\n"), {}),
    }
    assert len(versions) == 3


def test_windows_checks_columns_and_spark_settings_that_change_results_count(declare: Declare) -> None:
    versions = {
        code_version(declare(), {}),
        code_version(declare(reads={"orders": trailing_days(3)}), {}),
        code_version(declare(checks=Checks(min_rows=1)), {}),
        code_version(declare(columns="id BIGINT"), {}),
        code_version(declare(), {"spark.sql.ansi.enabled": "false"}),
    }
    assert len(versions) == 5
    assert code_version(declare(), {"spark.driver.memory": "9g"}) == code_version(declare(), {})


def test_what_is_shipped_names_the_bytes_of_every_module(declare: Declare) -> None:
    before = shipped_code(declare())
    after = shipped_code(declare(JOB + "# a comment\n"))
    assert sorted(before) == ["its_jobs", "its_lines"]
    assert before["its_lines"] == after["its_lines"]
    assert before["its_jobs"] != after["its_jobs"]
