"""Events sent while somebody waits for it: by a flush, a replay, a sensor. One after the other, each to its end.

Each receiver gets what it takes, whatever the others do. Knows no Dagster and no event's content; what a run sends
behind its back goes by the `Sender`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from lineage_assets.lineage.delivery import Delivery, Fate
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.transport import RejectedError, Transport, UndeliveredError

_TRIES = 4
"""Of one event, within a few seconds: more than a hiccup is left to the next time."""
_MOST_IN_A_ROW = 3
"""Stories that a receiver may answer no to, one after the other, before it counts as down."""
_WORST_FIRST = (Fate.UNSENT, Fate.REJECTED, Fate.SENT)


@dataclass
class _Listener:
    """One receiver, and what it has missed."""

    transport: Transport
    missed: UndeliveredError | None = None
    """Why it did not get all of the story that is being told; it is told no more of that."""
    is_down: bool = False
    """It is told no more of anything."""
    has_taken: bool = False
    reason: str | None = None
    """Why it refused the first event that it did."""
    _refused: set[UUID] = field(default_factory=set)
    """Lineage runs of which it refused an event: the rest of them would tell half a story."""
    _in_a_row: int = 0

    def next_story(self) -> None:
        if self.missed is None:
            self._in_a_row = 0
        if not self.is_down:
            self.missed = None

    def hear(self, event: Event, retrying: Retrying) -> Fate:
        if self.missed is not None:
            return Fate.UNSENT
        if event.lineage_run_id in self._refused:
            return Fate.REJECTED
        try:
            retrying(self.transport.emit, event.body)
        except RejectedError as error:
            self._refused.add(event.lineage_run_id)
            self.reason = self.reason if self.reason is not None else error.reason
            return Fate.REJECTED
        except UndeliveredError as error:
            self.missed = error
            self._in_a_row += 1
            self.is_down = not error.is_answer or self._in_a_row == _MOST_IN_A_ROW
            return Fate.UNSENT
        self.has_taken = True
        return Fate.SENT


class Audience:
    """The receivers that are told during one pass; who is down is left out of the rest of it."""

    def __init__(self, *transports: Transport) -> None:
        self._listeners = tuple(_Listener(transport) for transport in transports)

    @property
    def missed(self) -> UndeliveredError | None:
        """Why a receiver did not get all of the story that is being told; None when each has it, or refused it."""
        return next((one.missed for one in self._listeners if one.missed is not None), None)

    @property
    def is_down(self) -> bool:
        return all(one.is_down for one in self._listeners)

    @property
    def has_taken(self) -> bool:
        """Whether anybody took an event in this pass: then address and key of that one are right."""
        return any(one.has_taken for one in self._listeners)

    def next_story(self) -> None:
        """What comes now, the events of a Dagster run say, stands for itself: who answered no is asked again."""
        for one in self._listeners:
            one.next_story()

    def send(self, events: Iterable[Event]) -> Delivery:
        """Deliver the events of whole lineage runs; an event counts as sent when each receiver has it.

        :raises UndeliveredError: nobody takes events now; none after it was tried
        """
        retrying, fates = _retrying(), list[Fate]()
        for event in events:
            heard = {one.hear(event, retrying) for one in self._listeners}
            if all(one.missed is not None for one in self._listeners) and self.missed is not None:
                raise self.missed
            fates.append(next(fate for fate in _WORST_FIRST if fate in heard))
        sent, unsent, rejected = (fates.count(fate) for fate in (Fate.SENT, Fate.UNSENT, Fate.REJECTED))
        reason = next((one.reason for one in self._listeners if one.reason is not None), None)
        return Delivery(sent, unsent, rejected, reason if rejected else None)

    def close(self) -> None:
        for one in self._listeners:
            one.transport.close()


def _retrying() -> Retrying:
    return Retrying(
        retry=retry_if_exception_type(UndeliveredError),
        wait=wait_exponential(multiplier=0.2, max=2),
        stop=stop_after_attempt(_TRIES),
        reraise=True,
    )
