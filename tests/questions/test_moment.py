"""The time that a question is asked of."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from lineage_assets.errors import BadPartitionError
from lineage_assets.questions.moment import parse_moment

NOW = datetime(2021, 6, 20, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2021-06-07T12:30", "2021-06-07T12:30:00+00:00"),
        ("2021-06-07 12:30:05", "2021-06-07T12:30:05.999999+00:00"),
        ("2021-06-07T12:30:00Z", "2021-06-07T12:30:00.999999+00:00"),
        ("2021-06-07 12:30:05 UTC", "2021-06-07T12:30:05.999999+00:00"),
        ("2021-06-07T12:30:05.25", "2021-06-07T12:30:05.250000+00:00"),
        ("2021-06-07T12:30+02:00", "2021-06-07T10:30:00+00:00"),
        ("2021-06-07", "2021-06-07T23:59:59.999999+00:00"),
        ("2021-06-20", "2021-06-20T12:00:00+00:00"),
        ("2021-06-20 12:00:00 UTC", "2021-06-20T12:00:00+00:00"),
    ],
)
def test_a_time_is_utc_unless_it_says_otherwise_and_a_day_or_second_ends_with_itself_or_now(
    text: str, meant: str
) -> None:
    assert parse_moment(text, NOW).isoformat() == meant


@pytest.mark.parametrize("text", ["yesterday", "2021-06-31", "2021-06-07T25:00", "", "9999-12-31", "1623000000"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadPartitionError, match=r'The time ".*" is not valid'):
        parse_moment(text, NOW)


@pytest.mark.parametrize("text", ["2021-06-21", "2021-06-20T12:00:01"])
def test_the_future_is_refused(text: str) -> None:
    with pytest.raises(BadPartitionError, match="nothing is known of the future"):
        parse_moment(text, NOW)
