"""The jars that Spark needs beside its own: which, with which checksum, and where they lie.

Looked for in the folder the user names, then in the user's cache; what is in neither is fetched
once, under a lock, and enters the cache whole and checked or not at all. Knows no repository.
"""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from filelock import FileLock, Timeout

from lineage_assets.errors import LineageAssetsError, SettingError
from lineage_assets.launch.ivy import JarsUnreachableError, resolve
from lineage_assets.settings import Settings


@dataclass(frozen=True, slots=True)
class Jar:
    """One artifact of a Maven repository, and the SHA-256 that it must have."""

    organisation: str
    name: str
    version: str
    sha256: str

    @property
    def coordinates(self) -> str:
        return f"{self.organisation}:{self.name}:{self.version}"

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}.jar"


LISTENER = Jar(
    "io.openlineage",
    "openlineage-spark_2.12",
    "1.53.0",
    "9fe28ee2e5b2cb535cd51b6572394bddeb684bf0c58650a698cf7724ce62d94d",
)
ICEBERG = Jar(
    "org.apache.iceberg",
    "iceberg-spark-runtime-3.5_2.12",
    "1.12.0",
    "8dd8c90e54ed1a20f2461309d047a255ee56382eb7c0a46162b27a4936fd86dc",
)
SQLITE = Jar(
    "org.xerial",
    "sqlite-jdbc",
    "3.54.1.0",
    "f8dce420a6016278497f4f0560f65602b9db858de141b541cf91a4644ebe4639",
)
HADOOP_AWS = Jar(
    "org.apache.hadoop",
    "hadoop-aws",
    "3.3.4",
    "53f9ae03c681a30a50aa17524bd9790ab596b28481858e54efd989a826ed3a4a",
)
AWS_SDK = Jar(
    "com.amazonaws",
    "aws-java-sdk-bundle",
    "1.12.262",
    "873fe7cf495126619997bec21c44de5d992544aea7e632fdc77adb1a0915bae5",
)
WILDFLY_OPENSSL = Jar(
    "org.wildfly.openssl",
    "wildfly-openssl",
    "1.0.7.Final",
    "9f7058778978ec2ad90c7224401a4b0013d93e0dd3fa0f72b25244ffa3507ca8",
)

Group = Literal["local", "s3"]

GROUPS: dict[Group, tuple[Jar, ...]] = {
    "local": (LISTENER, ICEBERG, SQLITE),
    "s3": (HADOOP_AWS, AWS_SDK, WILDFLY_OPENSSL),
}
LOCAL: frozenset[Group] = frozenset({"local"})

NOT_NEEDED = ("org.slf4j:slf4j-api",)
"""What the jars name as a dependency and Spark brings already."""


class BadChecksumError(LineageAssetsError):
    """A jar is not the file that it should be."""

    def __init__(self, path: Path, *, wanted: str, found: str, mend: str) -> None:
        self.path = path
        self.wanted = wanted
        self.found = found
        self.mend = mend
        super().__init__(f"The jar {path} has the SHA-256 {found}, and should have {wanted}. {mend}")


def _say_nothing(_: str) -> None:
    """For callers with nobody to tell."""


def find_jars(
    settings: Settings,
    groups: frozenset[Group] = LOCAL,
    *,
    say: Callable[[str], None] = _say_nothing,
) -> tuple[Path, ...]:
    """The jar files of these groups, fetched first where one is missing.

    Raises ``JarsUnreachableError`` when that fails, ``BadChecksumError`` for a wrong file.
    """
    return provide_jars([jar for group in sorted(groups) for jar in GROUPS[group]], settings, say=say)


def provide_jars(
    jars: Sequence[Jar], settings: Settings, *, say: Callable[[str], None] = _say_nothing
) -> tuple[Path, ...]:
    """``find_jars`` for jars of the caller's own."""
    fetch_jars([jar for jar in jars if _lookup(jar, settings) is None], settings, say=say)
    return tuple(path for jar in jars if (path := _lookup(jar, settings)) is not None)


def fetch_jars(jars: Sequence[Jar], settings: Settings, *, say: Callable[[str], None]) -> None:
    """Bring these jars into the cache; who comes second waits for the first and finds them there."""
    if not jars:
        return
    cache = _cache(settings)
    cache.mkdir(parents=True, exist_ok=True)
    with _turn(cache / ".lock", say):
        for left_by_a_kill in cache.glob(".fetching-*"):
            shutil.rmtree(left_by_a_kill)
        missing = [jar for jar in jars if not (cache / jar.file_name).is_file()]
        if missing:
            say(f"Fetching Spark jars, once: {_coordinates(missing)}.")
            _fetch(missing, cache, settings)


def _fetch(jars: Sequence[Jar], cache: Path, settings: Settings) -> None:
    coordinates = [jar.coordinates for jar in jars]
    with TemporaryDirectory(prefix=".fetching-", dir=cache) as scratch:
        came = resolve(coordinates, exclusions=NOT_NEEDED, into=Path(scratch), settings=settings)
        for jar in jars:
            path = came / f"{jar.organisation}_{jar.name}-{jar.version}.jar"
            if not path.is_file():
                raise JarsUnreachableError((jar.coordinates,), "it resolved to no file")
            _check(jar, path, "It came so from your Maven repository and was thrown away. Ask who runs it.")
            path.replace(cache / jar.file_name)


def _lookup(jar: Jar, settings: Settings) -> Path | None:
    """Where a jar lies, checked; None when it is not here."""
    if settings.jars is not None:
        if not settings.jars.is_dir():
            raise SettingError("LINEAGE_ASSETS_JARS", str(settings.jars), "it is no folder")
        own = settings.jars / jar.file_name
        if own.is_file():
            mend = f"Put {jar.coordinates} there, or take the file out of LINEAGE_ASSETS_JARS."
            _check_once(jar, own, settings, mend)
            return own
    cached = _cache(settings) / jar.file_name
    if not cached.is_file():
        return None
    try:
        _check_once(jar, cached, settings, "It was removed; the next try fetches it again.")
    except BadChecksumError:
        cached.unlink()
        raise
    return cached


def _check_once(jar: Jar, path: Path, settings: Settings, mend: str) -> None:
    """Check a file that was not seen before in this very state; hashing 100 MB a start is too slow."""
    state = path.stat()
    seen = f"{jar.sha256[:16]}-{state.st_size}-{state.st_mtime_ns}-{state.st_ino}"
    mark = _cache(settings) / ".checked" / seen
    if mark.is_file():
        return
    _check(jar, path, mend)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()


def _check(jar: Jar, path: Path, mend: str) -> None:
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != jar.sha256:
        raise BadChecksumError(path, wanted=jar.sha256, found=digest.hexdigest(), mend=mend)


@contextmanager
def _turn(lock_file: Path, say: Callable[[str], None]) -> Iterator[None]:
    lock = FileLock(lock_file)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        say("Another process is fetching Spark jars; waiting for it.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _cache(settings: Settings) -> Path:
    return settings.cache / "jars"


def _coordinates(jars: Sequence[Jar]) -> str:
    return ", ".join(jar.coordinates for jar in jars)
