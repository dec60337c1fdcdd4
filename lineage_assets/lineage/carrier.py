"""Events on their way to one receiver: a queue, and the thread that empties it in order.

Knows no Dagster, no event's content and no other receiver; keeps the fate of each event by its number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from threading import Condition, Thread
from threading import Event as Signal
from time import monotonic
from uuid import UUID

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential
from tenacity.nap import sleep_using_event

from lineage_assets.lineage.delivery import Fate
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.transport import RejectedError, Transport, UndeliveredError

_PATIENCE_SECONDS = 2.0
"""How long one event may be on its way before the end of a run stops counting on it."""
_LAST_TRY_SECONDS = 0.5
_MOST_ANSWERS = 5
"""Times that a receiver may say it cannot take an event now, before it is left and the next run's tried."""
_MOST_WAITING = 10_000


class Carrier:
    """Carries events to one receiver while the run goes on."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._changed = Condition()
        self._waiting: deque[tuple[int, Event]] = deque()
        """The first one is on its way; it leaves the queue when its fate is known."""
        self._on_its_way_since: float | None = None
        self._fates: list[Fate | None] = []
        """Of each event, in the order they were taken; None while it is open."""
        self._left: dict[UUID, Fate] = {}
        """Lineage runs of which an event did not arrive: the rest of them would tell half a story."""
        self._reason: str | None = None
        self._closing = Signal()
        self._is_last_try = False
        self._is_over = False
        self._thread: Thread | None = None

    def take(self, events: Iterable[Event]) -> None:
        """Take events; returns at once."""
        with self._changed:
            for event in events:
                number = len(self._fates)
                self._fates.append(None)
                if self._closing.is_set():
                    self._leave(number, event, Fate.UNSENT, "it came after the end of the run")
                elif len(self._waiting) >= _MOST_WAITING:
                    self._leave(number, event, Fate.UNSENT, f"more than {_MOST_WAITING} events were waiting")
                else:
                    self._waiting.append((number, event))
            if self._waiting and self._thread is None:
                self._thread = Thread(target=self._work, name="lineage", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def hurry(self) -> None:
        """The run is over: no event is tried more than once from here on."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()

    def settled(self, closed: float, end: float) -> tuple[tuple[Fate, ...], str | None]:
        """The fate of each event, and why the first of them did not arrive; waits until ``end`` at most.

        A receiver that has let an event hang for two seconds already is given half a second from ``closed``, not more.
        """
        with self._changed:
            while self._waiting and not self._is_over:
                left = min(end, self._end_of_patience(closed)) - monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            self._is_over = True
            late = self._reason if self._reason is not None else "the receiver did not answer in time"
            while self._waiting:
                self._leave(*self._waiting.popleft(), Fate.UNSENT, late)
            self._changed.notify_all()
            return tuple(Fate.UNSENT if fate is None else fate for fate in self._fates), self._reason

    def _end_of_patience(self, closed: float) -> float:
        since = self._on_its_way_since if self._on_its_way_since is not None else monotonic()
        return max(since + _PATIENCE_SECONDS, closed + _LAST_TRY_SECONDS)

    def _leave(self, number: int, event: Event, fate: Fate, reason: str) -> None:
        self._fates[number] = fate
        self._left.setdefault(event.lineage_run_id, fate)
        self._reason = self._reason if self._reason is not None else reason

    def _work(self) -> None:
        retrying = Retrying(
            retry=retry_if_exception_type(UndeliveredError),
            wait=wait_exponential(multiplier=0.1, max=5),
            stop=self._was_last_try,
            sleep=sleep_using_event(self._closing),
            reraise=True,
        )
        while (event := self._next()) is not None:
            self._carry(event, retrying)
        self._transport.close()

    def _carry(self, event: Event, retrying: Retrying) -> None:
        try:
            retrying(self._try, event)
        except RejectedError as error:
            self._settle(event, Fate.REJECTED, error.reason)
        except UndeliveredError as error:
            self._settle(event, Fate.UNSENT, error.reason)
        else:
            self._settle(event, Fate.SENT)

    def _next(self) -> Event | None:
        """The event to carry away, once there is one; None when the end has come."""
        with self._changed:
            while True:
                while self._waiting and self._waiting[0][1].lineage_run_id in self._left:
                    number, event = self._waiting.popleft()
                    self._fates[number] = self._left[event.lineage_run_id]
                if self._is_over or (self._closing.is_set() and not self._waiting):
                    self._changed.notify_all()
                    return None
                if self._waiting:
                    self._on_its_way_since = monotonic()
                    return self._waiting[0][1]
                self._changed.wait()

    def _try(self, event: Event) -> None:
        self._is_last_try = self._closing.is_set()
        self._transport.emit(event.body)

    def _was_last_try(self, state: RetryCallState) -> bool:
        """Once the run is over each event gets one more try; a receiver that answers no, a few before that."""
        if self._is_over or self._is_last_try:
            return True
        error = state.outcome.exception() if state.outcome is not None else None
        is_answer = isinstance(error, UndeliveredError) and error.is_answer
        return is_answer and state.attempt_number >= _MOST_ANSWERS

    def _settle(self, event: Event, fate: Fate, reason: str = "") -> None:
        with self._changed:
            self._on_its_way_since = None
            if self._is_over:
                return  # the end did not wait for it and has counted it
            number, _ = self._waiting.popleft()
            if fate is Fate.SENT:
                self._fates[number] = fate
            else:
                self._leave(number, event, fate, reason)
            # What one event did not manage at the very end, those behind it are not tried for.
            self._is_over = fate is Fate.UNSENT and self._is_last_try
            self._changed.notify_all()
