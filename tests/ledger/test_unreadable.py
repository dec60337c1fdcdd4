"""Records that this code cannot read: refused by name, never guessed at; what is merely new in them is passed over."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from typing import Any

import pytest

from lineage_assets.ledger.fold import Logged, fold_history
from lineage_assets.ledger.record import Assertion
from lineage_assets.ledger.record_json import RECORD_VERSION, from_json, to_json
from lineage_assets.ledger.scene import UnreadableSceneError, parse_scene
from lineage_assets.ledger.unreadable import UnreadableRecordError
from tests.lineage.facts import attempt
from tests.support.graphs import days
from tests.support.records import make_record

ORDERS = ("orders",)


def test_a_record_of_a_later_version_is_refused_with_its_asset_run_and_mend() -> None:
    later = {**to_json(make_record("2021-06-04")), "version": RECORD_VERSION + 1}
    with pytest.raises(UnreadableRecordError) as refused:
        from_json(ORDERS, later)
    assert str(refused.value) == (
        'A record of "orders" by run run-1, version 3, cannot be read: this code reads up to version 2. '
        "Upgrade lineage-assets here to what wrote it, or delete that run."
    )


@pytest.mark.parametrize(
    "damage",
    [
        {"started": None},
        {"state": "splendid"},
        {"version": "two"},
        {"partition": 4, "started": "then"},
        {"inputs": [1]},
    ],
)
def test_a_damaged_record_is_refused_as_such(damage: dict[str, object]) -> None:
    with pytest.raises(UnreadableRecordError, match='A record of "orders" by run run-1'):
        from_json(ORDERS, {**to_json(make_record("2021-06-04")), **damage})


def test_what_is_new_in_a_record_of_the_same_version_is_passed_over() -> None:
    record = make_record("2021-06-04", assertions=(Assertion("row_count", success=True),))
    said = to_json(record)
    said["assertions"] = [{**one, "severity": "high"} for one in said["assertions"]]
    assert from_json(ORDERS, {**said, "weather": "rain"}) == record


def test_what_is_new_in_a_scene_is_passed_over_and_a_damaged_one_refused() -> None:
    text = attempt(days("2021-06-04")).scene
    read: dict[str, Any] = json.loads(zlib.decompress(b64decode(text)))
    read["weather"] = "rain"
    for part in ("site", "source"):
        read[part]["weather"] = "rain"
    newer = b64encode(zlib.compress(json.dumps(read).encode())).decode()
    assert parse_scene(newer) == parse_scene(text)
    for damaged in (text[:-20], "AAAA", b64encode(zlib.compress(b"{}")).decode()):
        with pytest.raises(UnreadableSceneError, match="Upgrade lineage-assets here"):
            parse_scene(damaged)


def test_nothing_is_judged_where_a_record_cannot_be_read() -> None:
    unreadable = UnreadableRecordError(ORDERS, "run-2", 3, "too new")
    with pytest.raises(UnreadableRecordError, match="run run-2"):
        fold_history([Logged(1, make_record("2021-06-04")), Logged(2, None, unreadable=unreadable)])
