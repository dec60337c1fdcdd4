"""Where events of lineage go now, in the words of a line. Opens no connection, and refuses nothing."""

from __future__ import annotations

from collections.abc import Iterable

from lineage_assets.ledger.receipts import Receipt
from lineage_assets.lineage.configuration import ReceiverConfigurationError
from lineage_assets.lineage.receiver import Off, find_receiver, receiver_text
from lineage_assets.lineage.sender import NOBODY_THERE
from lineage_assets.settings import Settings


def destination_text(settings: Settings) -> str:
    """Who gets the events, or why nobody does; a configuration that cannot be meant is such a reason."""
    try:
        found = find_receiver(settings)
    except ReceiverConfigurationError as error:
        return f"nobody: {error.told}"
    return f"nobody: {NOBODY_THERE}" if found is None else receiver_text(found)


def destination_line(settings: Settings) -> str:
    said = f"Events go to {destination_text(settings)}"
    return said if said.endswith(("?", ".")) else f"{said}."


def undelivered_text(receipts: Iterable[Receipt | None], settings: Settings) -> str | None:
    """What did not arrive of the runs with these receipts, and the command that sends it; None when nothing is to do.

    Nothing is where somebody wants no events sent.
    """
    told = [receipt for receipt in receipts if receipt is not None]
    pending, rejected = told.count(Receipt.PENDING), told.count(Receipt.REJECTED)
    if not (pending or rejected) or _is_off(settings):
        return None
    counted = [f"{pending} not all sent"] if pending else []
    counted += [f"{rejected} refused in part"] if rejected else []
    mends = ["`lineage-assets lineage flush` sends what is left."] if pending else []
    mends += ["`lineage-assets lineage replay` tells again what was refused."] if rejected else []
    runs = "1 run" if len(told) == 1 else f"{len(told)} runs"
    return f"Lineage of {runs}: {', '.join(counted)}. {destination_line(settings)} {' '.join(mends)}"


def _is_off(settings: Settings) -> bool:
    try:
        return isinstance(find_receiver(settings), Off)
    except ReceiverConfigurationError:
        return False
