"""The sender of a run: takes events at once, carries them away in the background, in order, and never hurts the run.

Knows no Dagster and no event's content. What it cannot deliver it counts; the records in the event log can make it
again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from threading import Condition, Thread
from threading import Event as Signal
from time import monotonic
from uuid import UUID

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential
from tenacity.nap import sleep_using_event

from lineage_assets.lineage.delivery import Delivery, Fate
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.receiver import find_receiver
from lineage_assets.lineage.transport import HttpTransport, RejectedError, Transport, UndeliveredError
from lineage_assets.settings import Settings

NOBODY_THERE = "no lineage server is up; `lineage-assets marquez up` starts one, or set OPENLINEAGE_URL"

_SHARE_OF_RUN = 0.05
_LEAST_SECONDS = 2.0
"""What the end of a short run may wait; of a long one it is the share."""
_PATIENCE_SECONDS = 2.0
"""How long one event may be on its way before the end of a run stops counting on it."""
_LAST_TRY_SECONDS = 0.5
_MOST_ANSWERS = 5
"""Times that a receiver may say it cannot take an event now, before it is left and the next run's tried."""
_MOST_WAITING = 10_000


def sender_for(settings: Settings) -> Sender:
    """A sender to whoever receives events now."""
    receiver = find_receiver(settings)
    if receiver is None:
        return Sender(None)
    key = None if receiver.api_key is None else receiver.api_key.get_secret_value()
    return Sender(HttpTransport(receiver.url, key))


class Sender:
    """A queue and the thread that empties it; one for the process of a run, closed at its end."""

    def __init__(self, transport: Transport | None) -> None:
        self._transport = transport
        self._changed = Condition()
        self._waiting: deque[Event] = deque()
        """The first one is on its way; it leaves the queue when its fate is known."""
        self._on_its_way_since: float | None = None
        self._fates: Counter[Fate] = Counter()
        self._left: dict[UUID, Fate] = {}
        """Lineage runs of which an event did not arrive: the rest of them would tell half a story."""
        self._reason: str | None = None
        self._closing = Signal()
        self._is_last_try = False
        self._is_over = False
        self._thread: Thread | None = None

    def send(self, events: Iterable[Event]) -> None:
        """Take events; returns at once."""
        with self._changed:
            for event in events:
                if self._transport is None:
                    self._leave(event, Fate.UNSENT, NOBODY_THERE)
                elif self._closing.is_set():
                    self._leave(event, Fate.UNSENT, "it came after the end of the run")
                elif len(self._waiting) >= _MOST_WAITING:
                    self._leave(event, Fate.UNSENT, f"more than {_MOST_WAITING} events were waiting")
                else:
                    self._waiting.append(event)
            if self._waiting and self._thread is None and self._transport is not None:
                self._thread = Thread(target=self._work, args=(self._transport,), name="lineage", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self, run_seconds: float) -> Delivery:
        """Wait for what is on its way, 2 s or 5 % of the run at most, and say what became of all.

        A receiver that has let an event hang for that long already is given half a second more, not two.
        """
        closed = monotonic()
        end = closed + max(_LEAST_SECONDS, _SHARE_OF_RUN * run_seconds)
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
            while self._waiting and not self._is_over:
                left = min(end, self._end_of_patience(closed)) - monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            self._is_over = True
            late = self._reason if self._reason is not None else "the receiver did not answer in time"
            while self._waiting:
                self._leave(self._waiting.popleft(), Fate.UNSENT, late)
            self._changed.notify_all()
            sent, unsent, rejected = (self._fates[fate] for fate in (Fate.SENT, Fate.UNSENT, Fate.REJECTED))
            return Delivery(sent, unsent, rejected, self._reason)

    def _end_of_patience(self, closed: float) -> float:
        since = self._on_its_way_since if self._on_its_way_since is not None else monotonic()
        return max(since + _PATIENCE_SECONDS, closed + _LAST_TRY_SECONDS)

    def _leave(self, event: Event, fate: Fate, reason: str) -> None:
        self._fates[fate] += 1
        self._left.setdefault(event.lineage_run_id, fate)
        self._reason = self._reason if self._reason is not None else reason

    def _work(self, transport: Transport) -> None:
        retrying = Retrying(
            retry=retry_if_exception_type(UndeliveredError),
            wait=wait_exponential(multiplier=0.1, max=5),
            stop=self._was_last_try,
            sleep=sleep_using_event(self._closing),
            reraise=True,
        )
        while (event := self._next()) is not None:
            self._carry(event, retrying, transport)
        transport.close()

    def _carry(self, event: Event, retrying: Retrying, transport: Transport) -> None:
        try:
            retrying(self._try, transport, event)
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
                while self._waiting and self._waiting[0].lineage_run_id in self._left:
                    event = self._waiting.popleft()
                    self._fates[self._left[event.lineage_run_id]] += 1
                if self._is_over or (self._closing.is_set() and not self._waiting):
                    self._changed.notify_all()
                    return None
                if self._waiting:
                    self._on_its_way_since = monotonic()
                    return self._waiting[0]
                self._changed.wait()

    def _try(self, transport: Transport, event: Event) -> None:
        self._is_last_try = self._closing.is_set()
        transport.emit(event.body)

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
            self._waiting.popleft()
            if fate is Fate.SENT:
                self._fates[fate] += 1
            else:
                self._leave(event, fate, reason)
            # What one event did not manage at the very end, those behind it are not tried for.
            self._is_over = fate is Fate.UNSENT and self._is_last_try
            self._changed.notify_all()
