"""Columns and names of a dataset: what a declaration may say."""

import pytest

from lineage_assets.datasets import Checks, Dataset, Field, parse_fields
from lineage_assets.errors import BadDeclarationError


def test_columns_are_read_in_order_with_their_types() -> None:
    assert parse_fields("id INTEGER, placed_on timestamp, price DECIMAL(10,2), comment TEXT") == (
        Field("id", "INTEGER"),
        Field("placed_on", "TIMESTAMP"),
        Field("price", "DECIMAL(10,2)"),
        Field("comment", "TEXT"),
    )


def test_a_trailing_comma_is_no_column() -> None:
    assert parse_fields("id INTEGER,") == (Field("id", "INTEGER"),)


@pytest.mark.parametrize(
    ("declared", "spark"),
    [
        ("INTEGER", "int"),
        ("BIGINT", "bigint"),
        ("VARCHAR", "string"),
        ("TEXT", "string"),
        ("DOUBLE", "double"),
        ("DATE", "date"),
        ("TIMESTAMP", "timestamp"),
        ("BOOLEAN", "boolean"),
        ("DECIMAL(10,2)", "decimal(10,2)"),
    ],
)
def test_each_type_word_has_one_spark_type(declared: str, spark: str) -> None:
    assert Field("column", declared).spark_type == spark


@pytest.mark.parametrize("type_", ["INT", "integer", "DECIMAL", "DECIMAL(10)", "ARRAY<INTEGER>", ""])
def test_an_unknown_type_is_refused_with_those_there_are(type_: str) -> None:
    with pytest.raises(BadDeclarationError, match=r'type of column "id".* use one of BIGINT, .*DECIMAL\(p,s\)'):
        Field("id", type_)


@pytest.mark.parametrize("columns", ["id", "id INTEGER NOT NULL"])
def test_a_column_that_is_not_a_name_and_a_type_is_refused(columns: str) -> None:
    with pytest.raises(BadDeclarationError, match="write each column as NAME TYPE"):
        parse_fields(columns)


@pytest.mark.parametrize(("namespace", "name", "what"), [("", "orders", "namespace"), ("food", " ", "name")])
def test_a_dataset_without_a_name_is_refused(namespace: str, name: str, what: str) -> None:
    with pytest.raises(BadDeclarationError, match=f"dataset {what} .* give it a name that is not empty"):
        Dataset(namespace, name, ())


def test_nothing_is_checked_unless_declared() -> None:
    assert Checks() == Checks(min_rows=0, required=(), key=())
