"""The intake: each day of a feed is looked at on its own, before Spark starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_assets.assets.declaration import Landing, landing
from lineage_assets.assets.intake import Landed, landed
from lineage_assets.errors import BadDeclarationError
from lineage_assets.ledger.record import Cause

DAY = "2021-06-04"
ORDERS = landing("orders", "id INTEGER, discount_id INTEGER")


def drop(root: Path, text: str, name: str = "orders.csv", day: str = DAY) -> None:
    folder = root / f"ds={day}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def take(root: Path, what: Landing = ORDERS) -> Landed | Cause:
    return landed(what, root, [DAY])[DAY]


def test_a_day_without_files_is_a_lack_of_freshness(tmp_path: Path) -> None:
    found = take(tmp_path)
    assert isinstance(found, Cause)
    assert found.kind == "freshness"
    assert DAY in found.message


def test_a_column_that_is_gone_is_a_schema_change_with_its_name(tmp_path: Path) -> None:
    drop(tmp_path, "id\n1\n")
    assert take(tmp_path) == Cause("schema change", f'ds={DAY}/orders.csv: column "discount_id" is gone')


def test_a_column_that_is_new_is_a_schema_change_too(tmp_path: Path) -> None:
    drop(tmp_path, '{"id": 1, "discount_id": 2, "tip": 3}\n', "orders.jsonl")
    json_lines = landing("orders", "id INTEGER, discount_id INTEGER", format="json")
    assert take(tmp_path, json_lines) == Cause("schema change", f'ds={DAY}/orders.jsonl: column "tip" is new')


def test_columns_of_a_csv_in_another_order_are_refused(tmp_path: Path) -> None:
    drop(tmp_path, "discount_id,id\n")
    found = take(tmp_path)
    assert isinstance(found, Cause)
    assert "in the order discount_id, id" in found.message


def test_the_version_follows_names_and_contents_and_nothing_else(tmp_path: Path) -> None:
    drop(tmp_path / "a", "id,discount_id\n1,2\n")
    drop(tmp_path / "b", "id,discount_id\n1,2\n")
    drop(tmp_path / "c", "id,discount_id\n1,3\n")
    drop(tmp_path / "d", "id,discount_id\n1,2\n", "other.csv")
    versions = [take(tmp_path / root) for root in "abcd"]
    assert all(isinstance(version, Landed) for version in versions)
    assert versions[0] == versions[1]
    assert len({version.version for version in versions if isinstance(version, Landed)}) == 3


def test_a_writers_own_files_are_no_data(tmp_path: Path) -> None:
    drop(tmp_path, "id\n", "_orders.csv.tmp")
    drop(tmp_path, "id\n", ".crc")
    found = take(tmp_path)
    assert isinstance(found, Cause)
    assert found.kind == "freshness"


def test_an_unknown_format_is_refused_when_it_is_declared() -> None:
    with pytest.raises(BadDeclarationError, match=r'format of landing files "orders" "xml".*use csv or json'):
        landing("orders", "id INTEGER", format="xml")
