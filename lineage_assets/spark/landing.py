"""Landing files of a day: which there are, and the hash that is their version.

Standard library only; both the step (before Spark starts) and the runner (after it read) ask here.
"""

from __future__ import annotations

import hashlib
from pathlib import Path


def landing_files(root: Path, partition: str) -> tuple[str, ...]:
    """The files of a partition, relative to the root and sorted; none when the feed dropped none.

    Names that begin with `.` or `_` are a writer's own and no data, as everywhere in Hadoop.
    """
    folder = root / f"ds={partition}"
    if not folder.is_dir():
        return ()
    found = (path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._")
    return tuple(sorted(path.relative_to(root).as_posix() for path in found))


def landing_version(root: Path, files: tuple[str, ...]) -> str:
    """32 hexadecimal digits over the files' names and contents."""
    digest = hashlib.sha256()
    for name in files:
        content = hashlib.sha256((root / name).read_bytes()).hexdigest()
        digest.update(f"{name}\0{content}\n".encode())
    return digest.hexdigest()[:32]
