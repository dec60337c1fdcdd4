"""Partition sets behave as sets, windows as what they say, days as days."""

from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_assets.errors import BadPartitionError, OutsidePartitionsError
from lineage_assets.partitions import (
    SAME_PARTITION,
    Daily,
    PartitionSet,
    Window,
    key_of,
    keys_of,
    parse_day,
    ranges_text,
    set_of,
    trailing_days,
)
from tests.support.graphs import days
from tests.support.strategies import ordinals, windows

Ordinals = frozenset[int]


@given(ordinals())
def test_a_set_holds_exactly_what_it_was_made_of(some: Ordinals) -> None:
    partitions = PartitionSet.of(some)
    assert list(partitions) == sorted(some)
    assert len(partitions) == len(some)
    assert bool(partitions) == bool(some)
    assert {day for day in range(50) if day in partitions} == some


@given(ordinals(), ordinals())
def test_union_intersection_and_difference_are_those_of_sets(one: Ordinals, other: Ordinals) -> None:
    left, right = PartitionSet.of(one), PartitionSet.of(other)
    assert left | right == PartitionSet.of(one | other)
    assert left & right == PartitionSet.of(one & other)
    assert left - right == PartitionSet.of(one - other)
    assert (left <= right) == (one <= other)


@given(ordinals(), ordinals())
def test_ranges_are_sorted_apart_and_do_not_touch(one: Ordinals, other: Ordinals) -> None:
    left, right = PartitionSet.of(one), PartitionSet.of(other)
    for partitions in (left | right, left & right, left - right, left.widened(-2, 1)):
        for (_, last), (first, _) in zip(partitions.ranges, partitions.ranges[1:], strict=False):
            assert last + 1 < first


@given(ordinals(), windows())
def test_a_window_reads_what_lies_in_it_and_affects_what_reads(some: Ordinals, window: Window) -> None:
    partitions = PartitionSet.of(some)
    assert set(window.reads(partitions)) == {
        day + offset for day in some for offset in range(window.first, window.last + 1)
    }
    affected = {
        target for target in range(-20, 70) if any(target + o in some for o in range(window.first, window.last + 1))
    }
    assert set(window.affects(partitions)) == affected


@given(ordinals(), windows())
def test_down_and_up_again_covers_the_start(some: Ordinals, window: Window) -> None:
    partitions = PartitionSet.of(some)
    assert partitions <= window.reads(window.affects(partitions))


@given(ordinals())
def test_the_same_partition_window_changes_nothing(some: Ordinals) -> None:
    partitions = PartitionSet.of(some)
    assert SAME_PARTITION.reads(partitions) == SAME_PARTITION.affects(partitions) == partitions


def test_an_empty_range_adds_nothing() -> None:
    assert PartitionSet.between(5, 4) == PartitionSet()


def test_one_trailing_day_is_the_partition_itself() -> None:
    assert trailing_days(1) == SAME_PARTITION


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: trailing_days(0), 'number of trailing days "0" is not valid: give 1 or more'),
        (lambda: Window(1, 0), r'window "1\.\.0" is not valid: put the earlier offset first'),
        (
            lambda: Daily(date(2021, 6, 2), date(2021, 6, 1)),
            r'partitions "2021-06-02\.\.2021-06-01" is not valid: put the earlier day first',
        ),
    ],
)
def test_what_cannot_be_is_refused_with_the_mend(refused: Callable[[], object], message: str) -> None:
    with pytest.raises(BadPartitionError, match=message):
        refused()


def test_a_day_exists_once_it_is_over_in_utc() -> None:
    open_ended = Daily(date(2021, 6, 1))
    just_before = datetime(2021, 6, 4, 23, 59, 59, tzinfo=timezone.utc)
    assert open_ended.existing(just_before) == days("2021-06-01", "2021-06-03")
    assert open_ended.existing(just_before + timedelta(seconds=1)) == days("2021-06-01", "2021-06-04")


def test_the_hour_of_another_time_zone_is_turned_into_utc_first() -> None:
    morning_in_tokyo = datetime(2021, 6, 5, 8, 0, tzinfo=timezone(timedelta(hours=9)))
    assert Daily(date(2021, 6, 1)).existing(morning_in_tokyo) == days("2021-06-01", "2021-06-03")


def test_partitions_end_at_their_last_day_or_at_yesterday() -> None:
    closed = Daily(date(2021, 6, 1), date(2021, 6, 10))
    assert closed.existing(datetime(2021, 6, 5, tzinfo=timezone.utc)) == days("2021-06-01", "2021-06-04")
    assert closed.existing(datetime(2022, 1, 1, tzinfo=timezone.utc)) == days("2021-06-01", "2021-06-10")


def test_before_the_first_day_is_over_no_partition_exists() -> None:
    assert not Daily(date(2021, 6, 1)).existing(datetime(2021, 6, 1, 12, tzinfo=timezone.utc))


def test_clipping_cuts_before_the_first_and_after_the_last_day() -> None:
    assert Daily(date(2021, 6, 3), date(2021, 6, 5)).clip(days("2021-06-01", "2021-06-09")) == days(
        "2021-06-03", "2021-06-05"
    )


def test_clipping_leaves_an_open_end_open() -> None:
    assert Daily(date(2021, 6, 3)).clip(days("2021-06-01", "9999-12-31")) == days("2021-06-03", "9999-12-31")


NOON = datetime(2021, 6, 20, 12, tzinfo=timezone.utc)


def test_a_range_that_exists_is_given_as_asked() -> None:
    asked = Daily(date(2021, 6, 1)).asked("orders", date(2021, 6, 4), date(2021, 6, 6), now=NOON)
    assert asked == days("2021-06-04", "2021-06-06")


def test_a_reversed_range_is_refused_with_the_range_turned_round() -> None:
    with pytest.raises(BadPartitionError, match="swap the two: --from 2021-06-04 --to 2021-06-06"):
        Daily(date(2021, 6, 1)).asked("orders", date(2021, 6, 6), date(2021, 6, 4), now=NOON)


def test_a_future_range_is_refused_with_what_exists() -> None:
    with pytest.raises(
        OutsidePartitionsError,
        match=r'2021-06-20\.\.2021-06-22 of "orders" do not exist; there are 2021-06-01\.\.2021-06-19\.',
    ):
        Daily(date(2021, 6, 1)).asked("orders", date(2021, 6, 18), date(2021, 6, 22), now=NOON)


@given(st.dates())
def test_a_key_reads_back_as_its_day(day: date) -> None:
    assert parse_day(key_of(day.toordinal())) == day


@pytest.mark.parametrize("text", ["", "yesterday", "2021-6-4", "20210604", "2021-W22-5", "2021-02-30", " 2021-06-04"])
def test_a_text_that_is_no_day_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadPartitionError, match="write a calendar day as YYYY-MM-DD, such as 2021-06-04"):
        parse_day(text)


def test_keys_and_sets_are_two_ways_to_write_the_same() -> None:
    keys = ("2021-06-04", "2021-06-05", "2021-06-09")
    assert keys_of(set_of(reversed(keys))) == keys


@pytest.mark.parametrize(
    ("partitions", "text"),
    [
        (PartitionSet(), "none"),
        (days("2021-06-04"), "2021-06-04"),
        (days("2021-06-04", "2021-06-06") | days("2021-06-09"), "2021-06-04..2021-06-06, 2021-06-09"),
    ],
)
def test_ranges_are_written_as_people_read_them(partitions: PartitionSet, text: str) -> None:
    assert ranges_text(partitions) == text
