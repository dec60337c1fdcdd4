"""How far a replay has come: a small file in the state folder, there only while one is unfinished.

Knows a place in the log, and of whom and what it is the place: another ledger, receiver or selection begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from lineage_assets.lineage.receiver import Receiver, receiver_text

_VERSION = 2
_SECONDS = 1.0
"""Kept on disk this often: what was told since a kill is told again, which changes nothing."""


@dataclass(slots=True)
class Bookmark:
    """The place up to which one receiver has been told one selection of the ledger."""

    file: Path
    receiver: str
    selection: str
    place: int = 0
    ledger: str = ""
    """Which event log the place is one of."""
    now: Callable[[], float] = monotonic
    _saved: tuple[float, int] = field(default=(float("-inf"), 0), init=False)

    @property
    def whose(self) -> dict[str, object]:
        """All that must be the same for the place to mean anything."""
        of = {"ledger": self.ledger, "receiver": self.receiver, "selection": self.selection}
        return {"version": _VERSION, **of}

    def put(self, place: int) -> None:
        self.place = place
        if self.now() - self._saved[0] >= _SECONDS:
            self.save()

    def save(self) -> None:
        if self.place == self._saved[1]:
            return
        self._saved = self.now(), self.place
        said = {**self.whose, "delivered": self.place}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.file.with_suffix(".new")
        fresh.write_text(json.dumps(said, indent=1), encoding="utf-8")
        fresh.replace(self.file)

    def remove(self) -> None:
        self.place, self._saved = 0, (self._saved[0], 0)
        self.file.unlink(missing_ok=True)


def bookmark_in(home: Path, ledger: str, receiver: Receiver, selection: str) -> Bookmark:
    """The bookmark of a replay, at the place where the same one stopped before; else at the beginning."""
    made = Bookmark(home / "lineage" / "replay.json", receiver_text(receiver), selection, ledger=ledger)
    try:
        read = json.loads(made.file.read_text(encoding="utf-8"))
        is_same = all(read[name] == said for name, said in made.whose.items())
        made.place = int(read["delivered"]) if is_same else 0
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return made  # a file that cannot be read costs a replay from the beginning
    return made
