"""The time a question is asked of, from a person's words. Pure."""

from __future__ import annotations

import re
from datetime import datetime, time, timezone

from lineage_assets.errors import BadPartitionError
from lineage_assets.partitions import parse_day

_MEND = "write a day as YYYY-MM-DD, or a time such as 2021-06-07T12:30 (UTC unless it names another zone)"


_IS_SECOND = re.compile(r"\d\d:\d\d:\d\d$")
"""As answers show times; the record has microseconds."""


def parse_moment(text: str, now: datetime) -> datetime:
    """The moment that `text` names: of a day or a second its end, so that all recorded in it counts.

    Refused when it is no time, or is still to come; today, and this second, end `now`.
    """
    try:
        moment = _moment(text)
    except (ValueError, BadPartitionError):
        raise BadPartitionError("time", text, _MEND) from None
    if moment <= now:
        return moment
    if text == now.date().isoformat() or moment.replace(microsecond=0) <= now:
        return now
    raise BadPartitionError("time", text, f"nothing is known of the future; name one before {now:%Y-%m-%dT%H:%MZ}")


def _moment(text: str) -> datetime:
    if len(text) == len("YYYY-MM-DD"):
        return datetime.combine(parse_day(text), time.max, timezone.utc)
    # Python 3.10 does not read the Z; answers write UTC.
    plain = text.removesuffix(" UTC").removesuffix("Z")
    read = datetime.fromisoformat(plain if plain == text else f"{plain}+00:00")
    if _IS_SECOND.search(plain):
        read = read.replace(microsecond=999_999)
    return read.replace(tzinfo=timezone.utc) if read.tzinfo is None else read.astimezone(timezone.utc)
