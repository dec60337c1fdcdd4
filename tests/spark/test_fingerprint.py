"""Equal content, equal fingerprint, however it lies; any other content, another one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineage_assets.spark.fingerprint import fingerprint, hash_sums

pytestmark = pytest.mark.spark

SCHEMA = "id int, name string, price double, at timestamp, tags array<string>"
ROWS = [
    (1, "a", 0.5, None, ["x", None]),
    (2, None, None, None, []),
    (None, "", float("nan"), None, None),
]


def of(frame: DataFrame) -> str:
    (found,) = of_each(frame.withColumn("which", F.lit(0)), 1)
    return found


def of_each(frame: DataFrame, count: int) -> list[str]:
    """The fingerprints of several contents, told apart by the column `which`, in one pass."""
    columns = [(name, type_) for name, type_ in frame.dtypes if name != "which"]
    rows = frame.groupBy("which").agg(F.count("*").alias("n"), *hash_sums(columns)).collect()
    found = {row["which"]: (row["n"], (row["_xor"], row["_high"], row["_low"])) for row in rows}
    return [fingerprint(columns, *found.get(which, (0, (0, 0, 0)))) for which in range(count)]


def made(spark: SparkSession, rows: list[tuple[Any, ...]], schema: str = SCHEMA) -> str:
    return of(spark.createDataFrame(rows, schema))


def test_the_formula_does_not_change_unnoticed(spark: SparkSession) -> None:
    assert made(spark, ROWS) == "f3ab8d2b6316d46afb52a297fc8a7d5e"


def test_the_order_of_rows_and_columns_and_the_layout_do_not_matter(spark: SparkSession) -> None:
    frame = spark.createDataFrame(ROWS, SCHEMA)
    assert of(frame.select("tags", "at", "price", "name", "id").repartition(3)) == of(frame)
    assert made(spark, ROWS[::-1]) == of(frame)


@pytest.mark.parametrize(
    "other",
    [
        ROWS[:2],
        [*ROWS, ROWS[0]],
        [*ROWS, ROWS[0], ROWS[0]],
        [(None, "a", 0.5, None, ["x", None]), *ROWS[1:]],
        [(1, "a", 0.5, None, ["x"]), *ROWS[1:]],
        [(1, None, 0.5, None, ["x", None]), (2, "a", None, None, []), ROWS[2]],
    ],
    ids=[
        "a row less",
        "a row twice",
        "a row three times",
        "a null",
        "a null in an array",
        "values swapped between rows",
    ],
)
def test_any_difference_in_the_rows_is_seen(spark: SparkSession, other: list[tuple[Any, ...]]) -> None:
    assert made(spark, other) != made(spark, ROWS)


def test_a_null_is_seen_in_which_column_it_is(spark: SparkSession) -> None:
    rows = [(0, 1, None), (1, None, 1), (2, 1, 1), (3, None, None)]
    assert len(set(of_each(spark.createDataFrame(rows, "which int, a int, b int"), 4))) == 4


def test_more_columns_than_a_long_has_bits_are_all_seen(spark: SparkSession) -> None:
    schema = ", ".join(["which int", *(f"c{place} int" for place in range(70))])
    rows = [
        (which, *(None if place == null else 1 for place in range(70))) for which, null in enumerate((0, 62, 63, 69))
    ]
    assert len(set(of_each(spark.createDataFrame(rows, schema), 4))) == 4


def test_another_name_or_type_is_another_schema_and_so_another_fingerprint(spark: SparkSession) -> None:
    found = {made(spark, [(1,)], schema) for schema in ("a int", "b int", "a bigint", "a smallint")}
    assert len(found) == 4


def test_maps_have_no_order_and_zero_has_no_sign(spark: SparkSession) -> None:
    one = spark.sql("select map('a', 1, 'b', 2) as m, 0.0D as z")
    other = spark.sql("select map('b', 2, 'a', 1) as m, -0.0D as z")
    assert of(one) == of(other)


CONTENTS = st.lists(st.tuples(st.none() | st.integers(-5, 5), st.none() | st.sampled_from("ab")), max_size=5)


@settings(max_examples=12)
@given(rows=CONTENTS, other=CONTENTS, order=st.randoms(use_true_random=False))
def test_fingerprints_are_equal_exactly_when_the_rows_are(
    spark: SparkSession,
    rows: list[tuple[int | None, str | None]],
    other: list[tuple[int | None, str | None]],
    order: random.Random,
) -> None:
    contents = [rows, order.sample(rows, len(rows)), other]
    tagged = [(which, *row) for which, content in enumerate(contents) for row in content]
    frame = spark.createDataFrame(tagged, "which int, number int, letter string").repartition(2)
    first, shuffled, another = of_each(frame, len(contents))
    assert shuffled == first
    assert (another == first) == (sorted(map(str, other)) == sorted(map(str, rows)))
