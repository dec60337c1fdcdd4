"""Spark's jars come once, checked, and are found again without Java, network or a second copy."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from filelock import FileLock

from lineage_assets.errors import SettingError
from lineage_assets.launch import jars as jars_module
from lineage_assets.launch.ivy import JarsUnreachableError
from lineage_assets.launch.jars import GROUPS, BadChecksumError, Jar, find_jars, provide_jars
from lineage_assets.settings import Settings, child_environment

CONTENT = b"a jar, as far as a checksum can tell"
THING = Jar("org.example", "thing", "1.0", hashlib.sha256(CONTENT).hexdigest())
POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>org.example</groupId><artifactId>thing</artifactId><version>1.0</version></project>"""

PROVIDE_THING = f"""
from lineage_assets.launch.jars import Jar, provide_jars
from lineage_assets.settings import load_settings
thing = Jar("org.example", "thing", "1.0", "{THING.sha256}")
print(*provide_jars([thing], load_settings(), say=lambda line: print(line, flush=True)))
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache=tmp_path / "cache", jars=None, ivy_settings=None)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An Ivy settings file that names a Maven repository in a folder, with one jar in it."""
    folder = tmp_path / "repository" / "org" / "example" / "thing" / "1.0"
    folder.mkdir(parents=True)
    (folder / "thing-1.0.pom").write_text(POM, "utf-8")
    (folder / "thing-1.0.jar").write_bytes(CONTENT)
    return write_ivy_settings(tmp_path, f"file://{tmp_path}/repository")


def write_ivy_settings(folder: Path, root: str) -> Path:
    written = folder / "ivysettings.xml"
    written.write_text(
        '<ivysettings><settings defaultResolver="only"/><resolvers>'
        f'<ibiblio name="only" m2compatible="true" root="{root}"/></resolvers></ivysettings>',
        "utf-8",
    )
    return written


def put(folder: Path, content: bytes = CONTENT) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "thing-1.0.jar").write_bytes(content)
    return folder / "thing-1.0.jar"


def answer_with(content: bytes) -> Callable[..., Path]:
    """Stands for Ivy: every coordinate resolves to a file of this content."""

    def resolve(coordinates: Sequence[str], *, into: Path, **_: object) -> Path:
        (into / "jars").mkdir()
        for given in coordinates:
            organisation, name, version = given.split(":")
            (into / "jars" / f"{organisation}_{name}-{version}.jar").write_bytes(content)
        return into / "jars"

    return resolve


@pytest.fixture
def no_fetching(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Path:
        pytest.fail("nothing was missing, and yet something was fetched")

    monkeypatch.setattr(jars_module, "resolve", refuse)


def in_cache(settings: Settings) -> list[str]:
    return sorted(path.name for path in (settings.cache / "jars").iterdir() if not path.name.startswith("."))


@pytest.mark.usefixtures("no_fetching")
def test_a_jar_in_the_cache_is_found_with_no_java_and_no_network(settings: Settings) -> None:
    cached = put(settings.cache / "jars")
    assert provide_jars([THING], settings) == (cached,)


@pytest.mark.usefixtures("no_fetching")
def test_the_folder_of_the_user_comes_before_the_cache(settings: Settings, tmp_path: Path) -> None:
    own = put(tmp_path / "own")
    put(settings.cache / "jars")
    assert provide_jars([THING], settings.model_copy(update={"jars": tmp_path / "own"})) == (own,)


@pytest.mark.usefixtures("no_fetching")
def test_what_the_folder_of_the_user_lacks_comes_from_the_cache(settings: Settings, tmp_path: Path) -> None:
    cached = put(settings.cache / "jars")
    assert provide_jars([THING], settings.model_copy(update={"jars": tmp_path})) == (cached,)


@pytest.mark.usefixtures("no_fetching")
def test_a_folder_of_the_user_that_is_none_is_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="LINEAGE_ASSETS_JARS"):
        provide_jars([THING], settings.model_copy(update={"jars": tmp_path / "nowhere"}))


@pytest.mark.usefixtures("no_fetching")
def test_a_wrong_jar_of_the_user_is_refused_and_left_alone(settings: Settings, tmp_path: Path) -> None:
    own = put(tmp_path / "own", b"another")
    with pytest.raises(BadChecksumError) as refused:
        provide_jars([THING], settings.model_copy(update={"jars": own.parent}))
    assert (refused.value.path, refused.value.wanted, own.read_bytes()) == (own, THING.sha256, b"another")
    assert "org.example:thing:1.0" in str(refused.value)


def test_a_wrong_jar_in_the_cache_is_refused_removed_and_fetched_the_next_time(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = put(settings.cache / "jars", b"cut sho")
    monkeypatch.setattr(jars_module, "resolve", answer_with(CONTENT))
    with pytest.raises(BadChecksumError, match="It was removed"):
        provide_jars([THING], settings)
    assert not cached.exists()
    assert provide_jars([THING], settings) == (cached,)


@pytest.mark.usefixtures("no_fetching")
def test_a_jar_that_changes_after_it_was_checked_is_checked_again(settings: Settings) -> None:
    cached = put(settings.cache / "jars")
    provide_jars([THING], settings)
    cached.write_bytes(b"x" * len(CONTENT))
    os.utime(cached, (0, 0))  # two writes may fall into one tick of the file system's clock
    with pytest.raises(BadChecksumError):
        provide_jars([THING], settings)


def test_a_wrong_jar_from_the_repository_never_enters_the_cache(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars_module, "resolve", answer_with(b"something else"))
    with pytest.raises(BadChecksumError, match="Maven repository"):
        provide_jars([THING], settings)
    assert in_cache(settings) == []
    assert list((settings.cache / "jars").glob(".fetching-*")) == []


def test_what_a_killed_fetch_left_behind_is_cleared_away(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    left = settings.cache / "jars" / ".fetching-abc" / "jars"
    put(left, b"half of")
    monkeypatch.setattr(jars_module, "resolve", answer_with(CONTENT))
    provide_jars([THING], settings)
    assert (left.parent.exists(), in_cache(settings)) == (False, ["thing-1.0.jar"])


def test_only_the_jars_asked_for_are_looked_for(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def record(coordinates: Sequence[str], **_: object) -> Path:
        asked.extend(coordinates)
        raise JarsUnreachableError(tuple(coordinates), "a test")

    monkeypatch.setattr(jars_module, "resolve", record)
    with pytest.raises(JarsUnreachableError):
        find_jars(settings)
    assert asked == [
        "io.openlineage:openlineage-spark_2.12:1.53.0",
        "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0",
        "org.xerial:sqlite-jdbc:3.54.1.0",
    ]


def test_every_pinned_jar_has_a_whole_checksum() -> None:
    pinned = [jar for group in GROUPS.values() for jar in group]
    assert [jar.name for jar in pinned if len(bytes.fromhex(jar.sha256)) != hashlib.sha256().digest_size] == []


@pytest.mark.spark
def test_ivy_fetches_by_the_users_own_ivy_settings(settings: Settings, repository: Path) -> None:
    heard: list[str] = []
    own = settings.model_copy(update={"ivy_settings": repository})
    (fetched,) = provide_jars([THING], own, say=heard.append)
    assert (fetched, fetched.read_bytes()) == (settings.cache / "jars" / "thing-1.0.jar", CONTENT)
    assert heard == ["Fetching Spark jars, once: org.example:thing:1.0."]
    assert list(fetched.parent.glob(".fetching-*")) == []


@pytest.mark.spark
def test_without_a_way_to_the_repository_the_coordinates_and_the_mend_are_named(
    settings: Settings, tmp_path: Path
) -> None:
    nobody_there = write_ivy_settings(tmp_path, "http://someone:secret@127.0.0.1:9/maven")
    with pytest.raises(JarsUnreachableError) as refused:
        provide_jars([THING], settings.model_copy(update={"ivy_settings": nobody_there}))
    message = str(refused.value)
    assert refused.value.coordinates == ("org.example:thing:1.0",)
    assert "LINEAGE_ASSETS_JARS" in message
    assert "Connection refused" in message
    assert "secret" not in message
    assert in_cache(settings) == []


@pytest.mark.spark
def test_two_processes_on_a_cold_cache_both_get_the_jar_and_one_fetches_it(tmp_path: Path, repository: Path) -> None:
    both = [start_provider(tmp_path / "cache", repository) for _ in range(2)]
    said = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    lines = [line for out, _ in said for line in out.splitlines()]
    assert lines.count("Fetching Spark jars, once: org.example:thing:1.0.") == 1
    assert lines.count(str(tmp_path / "cache" / "jars" / "thing-1.0.jar")) == 2


def test_who_comes_while_another_fetches_says_that_it_waits_and_finds_the_jar(tmp_path: Path, repository: Path) -> None:
    cache = tmp_path / "cache" / "jars"
    cache.mkdir(parents=True)
    with FileLock(cache / ".lock"):
        waiting = start_provider(tmp_path / "cache", repository)
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == "Another process is fetching Spark jars; waiting for it.\n"
        cached = put(cache)
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out) == (0, f"{cached}\n"), err


def start_provider(cache: Path, repository: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PROVIDE_THING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=child_environment(
            {
                "LINEAGE_ASSETS_CACHE": str(cache),
                "LINEAGE_ASSETS_IVY_SETTINGS": str(repository),
                "LINEAGE_ASSETS_JARS": None,
            }
        ),
    )


@pytest.mark.network
def test_the_pinned_jars_are_what_a_maven_repository_gives() -> None:
    assert [path.name for path in find_jars(Settings())] == [
        "openlineage-spark_2.12-1.53.0.jar",
        "iceberg-spark-runtime-3.5_2.12-1.12.0.jar",
        "sqlite-jdbc-3.54.1.0.jar",
    ]
