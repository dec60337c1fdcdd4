"""The job modules that a process which runs many programs has imported, and which of them are of old code.

Refuses to say whether code is the right one: the runner does.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterable, Mapping
from importlib.util import cache_from_source, find_spec
from pathlib import Path


class Modules:
    """What was imported, by the hash of its source: new code of a job needs no new process."""

    def __init__(self) -> None:
        self._path = tuple(sys.path)
        self._imported: dict[str, str] = {}

    def look_in(self, folders: Iterable[str]) -> None:
        """Import from these folders as well, after our own, until told of others."""
        sys.path[:] = [*self._path, *(folder for folder in folders if folder not in self._path)]

    def forget_changed(self, code: Mapping[str, str]) -> None:
        """Let a program's modules be imported anew when the source of any is not what was imported.

        All of them, since an unchanged one may hold names of a changed one. Those of the runner stay: a process is
        made for them.
        """
        if all(self._imported.get(name) == digest for name, digest in code.items()):
            return
        for name in code:
            if name != "lineage_assets" and not f"{name}.".startswith("lineage_assets.spark."):
                sys.modules.pop(name, None)
                self._imported.pop(name, None)
                _forget_compiled(name)
        importlib.invalidate_caches()

    def remember(self, code: Mapping[str, str]) -> None:
        """These are imported; to be said after a program that ended well, since the runner then found them right."""
        self._imported.update(code)


def _forget_compiled(name: str) -> None:
    """Python trusts compiled code whose source has the same size and second: an edit can hide in that."""
    try:
        spec = find_spec(name)
    except (ModuleNotFoundError, ValueError):
        return
    if spec is not None and spec.cached is not None and spec.has_location:
        with contextlib.suppress(OSError):  # where we may not delete it, nor could an edit be hidden
            Path(cache_from_source(str(spec.origin))).unlink(missing_ok=True)
