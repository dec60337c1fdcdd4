"""What makes a partition bad, in words that carry the numbers."""

from __future__ import annotations

import pytest

from lineage_assets.spark.audit import Measure, judge
from lineage_assets.spark.program import Output

OUTPUT = Output("orders", (("id", "int"), ("at", "timestamp")), min_rows=20, required=("id", "at"), key=("id", "at"))


def measured(rows: int = 20, *, nulls: tuple[int, int] = (0, 0), keys: int | None = None) -> Measure:
    return Measure(rows, "f" * 32, dict(zip(OUTPUT.required, nulls, strict=True)), rows if keys is None else keys)


def test_a_partition_with_nothing_wrong_may_be_published_with_its_numbers() -> None:
    verdict = judge(measured(), OUTPUT)
    assert (verdict.published, verdict.cause, verdict.message) == (True, None, None)
    assert (verdict.rows, verdict.fingerprint) == (20, "f" * 32)


@pytest.mark.parametrize(
    ("found", "cause", "message"),
    [
        (measured(3), "incomplete data", "3 rows, at least 20 expected"),
        (measured(1), "incomplete data", "1 row, at least 20 expected"),
        (measured(nulls=(2, 0)), "nulls", "of 20 rows 2 without id, which every row must have"),
        (measured(nulls=(1, 20)), "nulls", "of 20 rows 1 without id, 20 without at, which every row must have"),
        (measured(keys=17), "duplicate keys", "3 of 20 rows repeat a key (id, at)"),
        (
            measured(2, nulls=(1, 0), keys=1),
            "incomplete data",
            (
                "2 rows, at least 20 expected; of 2 rows 1 without id, which every row must have; "
                "1 of 2 rows repeat a key (id, at)"
            ),
        ),
    ],
)
def test_the_first_thing_wrong_is_the_cause_and_all_are_told(found: Measure, cause: str, message: str) -> None:
    verdict = judge(found, OUTPUT)
    assert (verdict.published, verdict.cause, verdict.message) == (False, cause, message)


def test_without_a_key_no_row_repeats_one() -> None:
    keyless = Output("orders", OUTPUT.columns)
    assert judge(Measure(5, "f" * 32), keyless).published
