"""What became of the events of a run, as a value and as the one line that says so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Fate(Enum):
    """What can become of an event."""

    SENT = "sent"
    UNSENT = "not sent"
    """Not taken in time, or nobody there to take it."""
    REJECTED = "rejected"
    """Refused for good by the receiver; what follows in the same lineage run is left with it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Counts of events; whatever did not arrive can be made again from the records."""

    sent: int = 0
    unsent: int = 0
    rejected: int = 0
    reason: str | None = None
    """Why the first of them did not arrive."""
    is_off: bool = False
    """Somebody wants no events sent."""

    @property
    def is_complete(self) -> bool:
        return not self.unsent and not self.rejected

    @property
    def text(self) -> str:
        """One line for the log of a run."""
        if self.is_complete:
            return f"Lineage: {self.sent} events sent."
        if self.is_off:
            return f"Lineage: off ({self.reason}). All is on record in Dagster's event log."
        counts = ((self.sent, Fate.SENT), (self.unsent, Fate.UNSENT), (self.rejected, Fate.REJECTED))
        counted = ", ".join(f"{count} {fate.value}" for count, fate in counts if count)
        return f"Lineage: of this run's events {counted} ({self.reason}).{self._later()}"

    def _later(self) -> str:
        unsent = " The reconciling sensor sends the rest, or `lineage-assets lineage flush` does."
        rejected = " What was rejected is sent by nobody again but `lineage-assets lineage replay`."
        return (unsent if self.unsent else "") + (rejected if self.rejected else "")
