"""How far a replay has come: a small file in the state folder, there only while one is unfinished.

Knows a place in the log, and of whom and what it is the place: another receiver or selection begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from lineage_assets.lineage.http_receiver import HttpReceiver
from lineage_assets.lineage.receiver import ClientReceiver, CompositeReceiver, Off, Receiver
from lineage_assets.redaction import redact_text

_VERSION = 1
_SECONDS = 1.0
"""Kept on disk this often: what was told since a kill is told again, which changes nothing."""


@dataclass(slots=True)
class Bookmark:
    """The place up to which one receiver has been told one selection of the ledger."""

    file: Path
    receiver: str
    selection: str
    place: int = 0
    now: Callable[[], float] = monotonic
    _saved: tuple[float, int] = field(default=(float("-inf"), 0), init=False)

    def put(self, place: int) -> None:
        self.place = place
        if self.now() - self._saved[0] >= _SECONDS:
            self.save()

    def save(self) -> None:
        if self.place == self._saved[1]:
            return
        self._saved = self.now(), self.place
        said = {"version": _VERSION, "receiver": self.receiver, "selection": self.selection, "delivered": self.place}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.file.with_suffix(".new")
        fresh.write_text(json.dumps(said, indent=1), encoding="utf-8")
        fresh.replace(self.file)

    def remove(self) -> None:
        self.place, self._saved = 0, (self._saved[0], 0)
        self.file.unlink(missing_ok=True)


def bookmark_in(home: Path, receiver: Receiver, selection: str) -> Bookmark:
    """The bookmark of a replay, at the place where the same one stopped before; else at the beginning."""
    made = Bookmark(home / "lineage" / "replay.json", receiver_text(receiver), selection)
    try:
        read = json.loads(made.file.read_text(encoding="utf-8"))
        is_same = [read[key] for key in ("version", "receiver", "selection")] == [_VERSION, made.receiver, selection]
        made.place = int(read["delivered"]) if is_same else 0
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return made  # a file that cannot be read costs a replay from the beginning
    return made


def receiver_text(receiver: Receiver) -> str:
    """Who receives, as a person knows it and without secrets."""
    match receiver:
        case HttpReceiver(url):
            return redact_text(url)
        case ClientReceiver(kind, section):
            return f"{kind} ({section.place})"
        case CompositeReceiver(members):
            return ", ".join(receiver_text(member) for member in members)
        case Off(reason):
            return f"nobody: {reason}"
