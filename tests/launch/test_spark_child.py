"""What a child process with Spark in it gets from ours."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from lineage_assets.launch.spark_child import project_path, spark_environment
from lineage_assets.settings import load_settings


def test_a_child_sees_nothing_of_another_spark_and_the_same_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark-2")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--packages evil pyspark-shell")
    environment = spark_environment(load_settings())
    assert not {"SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT"} & set(environment)
    assert environment["PYSPARK_PYTHON"] == environment["PYSPARK_DRIVER_PYTHON"] == sys.executable
    assert (Path(environment["JAVA_HOME"]) / "bin" / "java").exists()


def test_a_child_imports_from_where_we_do_but_its_own_python_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "project"), str(tmp_path / "gone"), *sys.path])
    found = project_path()
    assert found[:2] == [str(tmp_path), str(tmp_path / "project")]
    assert str(tmp_path / "gone") not in found
    assert [folder for folder in found if "site-packages" in folder or folder.endswith("lib-dynload")] == []


def test_a_child_finds_a_module_whose_folder_was_on_the_path_only_while_it_was_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in (tmp_path / "one" / "plain_job.py", tmp_path / "two" / "nested" / "deep" / "__init__.py"):
        file.parent.mkdir(parents=True)
        file.write_text("", encoding="utf-8")
    modules = ("plain_job", "nested.deep")
    with monkeypatch.context() as loading:
        loading.setattr(sys, "path", [str(tmp_path / "one"), str(tmp_path / "two"), *sys.path])
        for module in modules:
            monkeypatch.setitem(sys.modules, module, import_module(module))
    assert str(tmp_path / "one") not in project_path()
    assert project_path((*modules, "sys", "never_loaded"))[-2:] == [str(tmp_path / "two"), str(tmp_path / "one")]


def test_what_is_meant_for_our_receiver_is_kept_from_sparks_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("OPENLINEAGE_DISABLED", "OPENLINEAGE_API_KEY", "OPENLINEAGE__TRANSPORT__TYPE")
    monkeypatch.delenv("OPENLINEAGE_SPEC", raising=False)  # for tests alone, and nothing to a listener
    for name in names:
        monkeypatch.setenv(name, "true")
    environment = spark_environment(load_settings())
    assert [name for name in environment if name.startswith("OPENLINEAGE")] == []
