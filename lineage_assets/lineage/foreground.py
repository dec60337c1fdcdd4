"""Events sent while somebody waits for it: by a flush, a replay, a sensor. One after the other, each to its end.

Knows no Dagster and no event's content; what a run sends behind its back goes by the `Sender`.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from lineage_assets.lineage.delivery import Delivery
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.transport import RejectedError, Transport, UndeliveredError

_TRIES = 4
"""Of one event, within a few seconds: more than a hiccup is left to the next time."""


def send_now(events: Iterable[Event], transport: Transport) -> Delivery:
    """Deliver the events of whole lineage runs.

    What is rejected is counted, and the rest of its lineage run with it: it would tell half a story.

    :raises UndeliveredError: the receiver does not take one now; none after it was tried
    """
    sent, rejected, reason = 0, 0, None
    left = set()
    retrying = _retrying()
    for event in events:
        if event.lineage_run_id in left:
            rejected += 1
            continue
        try:
            retrying(transport.emit, event.body)
        except RejectedError as error:
            left.add(event.lineage_run_id)
            rejected += 1
            reason = reason if reason is not None else error.reason
        else:
            sent += 1
    return Delivery(sent=sent, rejected=rejected, reason=reason)


def _retrying() -> Retrying:
    return Retrying(
        retry=retry_if_exception_type(UndeliveredError),
        wait=wait_exponential(multiplier=0.2, max=2),
        stop=stop_after_attempt(_TRIES),
        reraise=True,
    )
