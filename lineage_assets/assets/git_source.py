"""Where a file is kept in git: repository, commit, branch, path. Read from git's own files; no process is started.

Format: https://git-scm.com/docs/gitrepository-layout. Refuses to know what the file is for.
"""

from __future__ import annotations

import re
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path

from lineage_assets.redaction import without_user

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class GitFile:
    """A file in a checkout; what cannot be told is None."""

    path: str
    """Below the root of the checkout, with slashes."""
    repository: str | None = None
    """The address of `origin`, without credentials."""
    commit: str | None = None
    """That is checked out; what was changed since is not in it."""
    branch: str | None = None


def git_file(file: Path) -> GitFile | None:
    """What git knows of a file, or None where it lies in no checkout."""
    for root in file.absolute().parents:
        folder = _git_folder(root / ".git")
        if folder is not None:
            branch = _branch(folder)
            return GitFile(
                path=file.absolute().relative_to(root).as_posix(),
                repository=_origin(_common(folder)),
                commit=_text(folder / "HEAD") if branch is None else _commit_of(folder, f"refs/heads/{branch}"),
                branch=branch,
            )
    return None


def _git_folder(mark: Path) -> Path | None:
    """A checkout's git folder; a file in its place, as in a worktree or submodule, names it."""
    if mark.is_dir():
        return mark if (mark / "HEAD").is_file() else None
    named = _text(mark)
    if named is None or not named.startswith("gitdir: "):
        return None
    folder = mark.parent / named.removeprefix("gitdir: ")
    return folder if (folder / "HEAD").is_file() else None


def _common(folder: Path) -> Path:
    """What all worktrees of a repository share."""
    named = _text(folder / "commondir")
    return folder if named is None else folder / named


def _branch(folder: Path) -> str | None:
    head = _text(folder / "HEAD")
    prefix = "ref: refs/heads/"
    return head.removeprefix(prefix) if head is not None and head.startswith(prefix) else None


def _commit_of(folder: Path, ref: str) -> str | None:
    loose = _text(_common(folder) / ref)
    if loose is not None and _COMMIT.fullmatch(loose):
        return loose
    packed = _text(_common(folder) / "packed-refs")
    for line in (packed if packed is not None else "").splitlines():
        commit, _, name = line.partition(" ")
        if name == ref:
            return commit
    return None  # nothing was committed yet


def _origin(folder: Path) -> str | None:
    config = ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        config.read_string(re.sub(r"(?m)^\s+", "", _text(folder / "config") or ""))
    except Error:
        return None  # git reads more than this does; then the address is not told
    section = 'remote "origin"'
    address = config.get(section, "url", fallback=None)
    return None if address is None else without_user(address)


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
