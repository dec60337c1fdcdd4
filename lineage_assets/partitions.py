"""Partition sets as ranges, and the windows through which one asset's partitions read another's.

Knows whole numbers and calendar days; refuses to know assets, storage and Dagster.
A daily partition is the ordinal of its day (`datetime.date.toordinal`): a set of years is a few pairs of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timezone
from itertools import chain

from lineage_assets.errors import BadPartitionError, OutsidePartitionsError

Range = tuple[int, int]
"""First and last ordinal, both included."""


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """What a partition reads of an input: from `first` to `last`, counted in partitions from itself."""

    first: int
    last: int

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise BadPartitionError("window", f"{self.first}..{self.last}", "put the earlier offset first")

    def reads(self, targets: PartitionSet) -> PartitionSet:
        """All that the targets read, whether it exists or not."""
        return targets.widened(self.first, self.last)

    def affects(self, sources: PartitionSet) -> PartitionSet:
        """All targets that read one of the sources: the window turned round."""
        return sources.widened(-self.last, -self.first)


SAME_PARTITION = Window(0, 0)


def trailing_days(days: int) -> Window:
    """The window of the `days` days that end with the partition's own."""
    if days < 1:
        raise BadPartitionError("number of trailing days", days, "give 1 or more")
    return Window(1 - days, 0)


@dataclass(frozen=True, slots=True)
class PartitionSet:
    """An immutable set of partition ordinals, kept as sorted ranges that neither touch nor overlap."""

    ranges: tuple[Range, ...] = ()

    @classmethod
    def of_ranges(cls, ranges: Iterable[Range]) -> PartitionSet:
        merged: list[Range] = []
        for first, last in sorted(r for r in ranges if r[0] <= r[1]):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        return cls(tuple(merged))

    @classmethod
    def of(cls, ordinals: Iterable[int]) -> PartitionSet:
        return cls.of_ranges((ordinal, ordinal) for ordinal in ordinals)

    @classmethod
    def between(cls, first: int, last: int) -> PartitionSet:
        return cls.of_ranges([(first, last)])

    def widened(self, before: int, after: int) -> PartitionSet:
        """Every range moved by `before` at its first and by `after` at its last partition."""
        return PartitionSet.of_ranges((first + before, last + after) for first, last in self.ranges)

    def __or__(self, other: PartitionSet) -> PartitionSet:
        return PartitionSet.of_ranges(chain(self.ranges, other.ranges))

    def __and__(self, other: PartitionSet) -> PartitionSet:
        found: list[Range] = []
        mine, theirs = iter(self.ranges), iter(other.ranges)
        one, two = next(mine, None), next(theirs, None)
        while one is not None and two is not None:
            found.append((max(one[0], two[0]), min(one[1], two[1])))
            if one[1] < two[1]:
                one = next(mine, None)
            else:
                two = next(theirs, None)
        return PartitionSet.of_ranges(found)

    def __sub__(self, other: PartitionSet) -> PartitionSet:
        left: list[Range] = []
        cuts = other.ranges
        for first, last in self.ranges:
            start = first
            for cut_first, cut_last in cuts:
                if cut_last < start or cut_first > last:
                    continue
                left.append((start, cut_first - 1))
                start = cut_last + 1
            left.append((start, last))
        return PartitionSet.of_ranges(left)

    def __contains__(self, ordinal: int) -> bool:
        return any(first <= ordinal <= last for first, last in self.ranges)

    def __le__(self, other: PartitionSet) -> bool:
        return not self - other

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def __iter__(self) -> Iterator[int]:
        for first, last in self.ranges:
            yield from range(first, last + 1)


@dataclass(frozen=True, slots=True)
class Daily:
    """Daily partitions in UTC, keyed `YYYY-MM-DD`, from `first` to `last`, or to yesterday when `last` is None."""

    first: date
    last: date | None = None

    def __post_init__(self) -> None:
        if self.last is not None and self.last < self.first:
            raise BadPartitionError("partitions", f"{self.first}..{self.last}", "put the earlier day first")

    def existing(self, now: datetime) -> PartitionSet:
        """The partitions that exist at `now` (aware): a day does once it is over."""
        yesterday = now.astimezone(timezone.utc).toordinal() - 1
        last = yesterday if self.last is None else min(self.last.toordinal(), yesterday)
        return PartitionSet.between(self.first.toordinal(), last)

    def clip(self, partitions: PartitionSet) -> PartitionSet:
        """Without what lies before the first or after the last partition; open ends stay open."""
        first = self.first.toordinal()
        last = date.max.toordinal() if self.last is None else self.last.toordinal()
        return partitions & PartitionSet.between(first, last)

    def asked(self, asset: str, first: date, last: date, *, now: datetime) -> PartitionSet:
        """The range of `asset` that a person asked for, refused unless all of it exists at `now`."""
        if last < first:
            raise BadPartitionError("range", f"{first}..{last}", f"swap the two: --from {last} --to {first}")
        wanted = PartitionSet.between(first.toordinal(), last.toordinal())
        existing = self.existing(now)
        if not wanted <= existing:
            raise OutsidePartitionsError(asset, ranges_text(wanted - existing), ranges_text(existing))
        return wanted


def parse_day(text: str) -> date:
    """A partition key as a day; refused when it is not `YYYY-MM-DD`."""
    try:
        day = date.fromisoformat(text)
        if day.isoformat() == text:
            return day
    except ValueError:
        pass  # refused below, together with spellings that only newer Pythons read
    raise BadPartitionError("partition", text, "write a calendar day as YYYY-MM-DD, such as 2021-06-04")


def key_of(ordinal: int) -> str:
    return date.fromordinal(ordinal).isoformat()


def keys_of(partitions: Iterable[int]) -> tuple[str, ...]:
    return tuple(key_of(ordinal) for ordinal in partitions)


def set_of(keys: Iterable[str]) -> PartitionSet:
    """The set of the given partition keys."""
    return PartitionSet.of(parse_day(key).toordinal() for key in keys)


def ranges_text(partitions: PartitionSet) -> str:
    """`2021-06-04..2021-06-06, 2021-06-09`: as a person reads it; `none` for the empty set."""
    named = (
        key_of(first) if first == last else f"{key_of(first)}..{key_of(last)}" for first, last in partitions.ranges
    )
    return ", ".join(named) or "none"
