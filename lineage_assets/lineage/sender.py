"""The sender of a run: takes events at once, carries them away in the background, in order, and never hurts the run.

Knows no Dagster and no event's content. What it cannot deliver it counts; the records in the event log can make it
again.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from time import monotonic

from lineage_assets.lineage.carrier import Carrier
from lineage_assets.lineage.configuration import ReceiverConfigurationError
from lineage_assets.lineage.delivery import Delivery, Fate
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.outlet import open_outlets
from lineage_assets.lineage.receiver import Off
from lineage_assets.lineage.transport import Transport
from lineage_assets.settings import Settings

NOBODY_THERE = "no lineage server is up; `lineage-assets marquez up` starts one, or set OPENLINEAGE_URL"

_SHARE_OF_RUN = 0.05
_LEAST_SECONDS = 2.0
"""What the end of a short run may wait; of a long one it is the share."""
_WORST_FIRST = (Fate.REJECTED, Fate.UNSENT, Fate.SENT)


def sender_for(settings: Settings) -> Sender:
    """A sender to whoever receives events now.

    A configuration that cannot be meant is no reason to fail a run: its events stay records, and the run says why.
    """
    try:
        outlets = open_outlets(settings)
    except ReceiverConfigurationError as error:
        return Sender(nobody=error.told)
    if isinstance(outlets, Off):
        return Sender(nobody=outlets.reason, is_off=True)
    return Sender() if outlets is None else Sender(*outlets)


class Sender:
    """All receivers of the events of a process; closed at the end of its run."""

    def __init__(self, *transports: Transport | None, nobody: str = NOBODY_THERE, is_off: bool = False) -> None:
        self._carriers = tuple(Carrier(transport) for transport in transports if transport is not None)
        self._nobody = nobody
        self._is_off = is_off
        self._one_at_a_time = Lock()
        """So that an event has the same number in each carrier."""
        self._count = 0

    def send(self, events: Iterable[Event]) -> None:
        """Take events; returns at once."""
        taken = tuple(events)
        with self._one_at_a_time:
            self._count += len(taken)
            for carrier in self._carriers:
                carrier.take(taken)

    def close(self, run_seconds: float) -> Delivery:
        """Wait for what is on its way, 2 s or 5 % of the run at most, and say what became of all.

        An event counts as sent when each receiver has it.
        """
        closed = monotonic()
        end = closed + max(_LEAST_SECONDS, _SHARE_OF_RUN * run_seconds)
        if not self._carriers:
            return Delivery(unsent=self._count, reason=self._nobody if self._count else None, is_off=self._is_off)
        for carrier in self._carriers:
            carrier.hurry()
        told = [carrier.settled(closed, end) for carrier in self._carriers]
        fates = [
            next(fate for fate in _WORST_FIRST if fate in both) for both in zip(*(one for one, _ in told), strict=True)
        ]
        sent, unsent, rejected = (fates.count(fate) for fate in (Fate.SENT, Fate.UNSENT, Fate.REJECTED))
        return Delivery(sent, unsent, rejected, next((reason for _, reason in told if reason is not None), None))
