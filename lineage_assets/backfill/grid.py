"""Days as columns of a terminal: how many days a column stands for, and what stands above it.

Pure text layout; knows neither plans nor colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from lineage_assets.partitions import PartitionSet, Range, key_of

_ROOMY = 3
"""Characters of a column that has room for the day's two digits."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The columns from a first to a last day."""

    first: int
    last: int
    days_a_column: int
    column_width: int

    @classmethod
    def fitting(cls, span: Range, width: int) -> Grid:
        """The widest columns with which the span fits into `width` characters; several days share one if they must."""
        first, last = span
        days = last - first + 1
        if days * _ROOMY <= width:
            return cls(first, last, 1, _ROOMY)
        return cls(first, last, -(-days // max(width, 1)), 1)

    def columns(self) -> Iterator[PartitionSet]:
        """The days of each column."""
        for start in range(self.first, self.last + 1, self.days_a_column):
            yield PartitionSet(((start, min(start + self.days_a_column - 1, self.last)),))

    def header(self) -> tuple[str, ...]:
        """The lines above the columns: months, and the days as far as there is room."""
        starts = [date.fromordinal(days.ranges[0][0]) for days in self.columns()]
        if self.days_a_column > 1:
            return (_spread(key_of(self.first), key_of(self.last), len(starts)),)
        months = self._months(starts)
        if self.column_width == _ROOMY:
            return months, "".join(f" {start.day:02d}" for start in starts)
        tens, ones = zip(*(f"{start.day:02d}" for start in starts), strict=True)
        return months, "".join(tens), "".join(ones)

    def _months(self, starts: list[date]) -> str:
        """Each month's name above its first column; a month with no room for its name goes without."""
        line = ""
        for place, start in enumerate(starts):
            at = place * self.column_width + (self.column_width == _ROOMY)
            if (place == 0 or start.day == 1) and (not line or at > len(line)):
                line = line.ljust(at) + f"{start:%Y-%m}"
        return line


def _spread(left: str, right: str, width: int) -> str:
    """The two at the ends of a line; only the first where both have no room."""
    gap = width - len(left) - len(right)
    return left + " " * gap + right if gap > 0 else left
