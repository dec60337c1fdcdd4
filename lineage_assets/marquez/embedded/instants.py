"""Times as Marquez reads and writes them; inside, microseconds since 1970 in UTC."""

import re
from datetime import datetime, timedelta, timezone

from lineage_assets.marquez.embedded.refusals import RefusedRequestError

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FRACTION = re.compile(r"\.(\d+)")


def instant(value: object) -> int:
    """A time from JSON: ISO 8601 text, UTC when it names no zone, or seconds since 1970."""
    try:
        moment = _EPOCH + timedelta(seconds=value) if isinstance(value, (int, float)) else _parsed(str(value))
        # In UTC: the last hours of the year 9999 may lie beyond what can be written down again.
        return micros_of(moment.astimezone(timezone.utc))
    except OverflowError:
        raise RefusedRequestError(400, f"The time {value!r} is out of range") from None


def instant_text(micros: int | None) -> str | None:
    """As Java writes an instant: no fraction, or three or six digits of it."""
    return None if micros is None else _text(_EPOCH + timedelta(microseconds=micros), "seconds")


def zoned_text(value: object) -> str:
    """As Java writes a zoned time in run arguments: the seconds too are left out when they are none."""
    moment = _parsed(str(value))
    return _text(moment, "minutes" if moment.second == 0 else "seconds")


def micros_of(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _text(moment: datetime, shortest: str) -> str:
    if moment.microsecond:
        shortest = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=shortest).replace("+00:00", "Z")


def _parsed(text: str) -> datetime:
    # Python 3.10 reads neither "Z" nor a fraction of other than three or six digits.
    plain = _FRACTION.sub(lambda match: "." + match.group(1)[:6].ljust(6, "0"), text.strip().replace("Z", "+00:00"))
    try:
        moment = datetime.fromisoformat(plain)
    except ValueError:
        raise RefusedRequestError(400, f"Text '{text}' could not be parsed as a time") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
