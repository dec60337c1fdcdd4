"""What the metadata of a table says of its past."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lineage_assets.spark.history import History, Snapshot, parse_history
from lineage_assets.spark.summary import RECORDS, TOKEN

DAY = "2021-06-04"
NEXT = "2021-06-05"


def make_history(snapshots: Sequence[Snapshot], **branches: int) -> History:
    return History(
        location="file:///lake/orders",
        partitioned_by=("identity(ds)",),
        branches=branches,
        snapshots={one.id: one for one in snapshots},
    )


def make_snapshot(id_: int, parent: int | None, **summary: str) -> Snapshot:
    return Snapshot(id_, parent, order=id_, summary=summary)


def records(**published: bool) -> str:
    days = {"day": DAY, "next": NEXT}
    return json.dumps({days[name]: [int(one), 3, "f" * 32, 900, 1] for name, one in published.items()})


def test_a_publish_is_found_by_its_token_among_the_ancestors_of_main_only() -> None:
    mine = {TOKEN: "run:orders", RECORDS: records(day=True)}
    history = make_history([make_snapshot(1, None, **mine), make_snapshot(2, 1), make_snapshot(3, 1)], main=2, side=3)
    found = history.published_by("run:orders", [DAY])
    assert found is not None
    assert found.id == 1
    assert history.published_by("run:menus", [DAY]) is None
    assert make_history([make_snapshot(1, None, **mine)], side=1).published_by("run:orders", [DAY]) is None


def test_a_publish_that_does_not_tell_of_every_target_is_not_adopted() -> None:
    history = make_history([make_snapshot(1, None, **{TOKEN: "t", RECORDS: records(day=True)})], main=1)
    assert history.published_by("t", [DAY, NEXT]) is None


def quarantine_history(*later: str) -> History:
    """A quarantine of two days, one of them bad, and later publishes with these records."""
    kept = make_snapshot(2, 1, **{RECORDS: records(day=False, next=True)})
    after = [
        make_snapshot(3 + place, 1 if place == 0 else 2 + place, **{RECORDS: said}) for place, said in enumerate(later)
    ]
    return make_history([make_snapshot(1, None), kept, *after], main=len(later) + 2 if later else 1, lineage_assets_x=2)


def test_a_quarantine_is_settled_once_its_bad_days_were_published() -> None:
    assert quarantine_history(records(day=True)).settled_quarantines() == ("lineage_assets_x",)
    assert quarantine_history(records(next=True), records(day=True)).settled_quarantines() == ("lineage_assets_x",)


def test_a_quarantine_stays_while_a_bad_day_was_not_published() -> None:
    assert quarantine_history().settled_quarantines() == ()
    assert quarantine_history(records(next=True)).settled_quarantines() == ()
    assert quarantine_history(records(day=False)).settled_quarantines() == ()


def test_branches_of_others_and_branches_still_being_staged_are_never_settled() -> None:
    history = make_history([make_snapshot(1, None)], main=1, lineage_assets_y=1, release=1)
    assert history.settled_quarantines() == ()


def test_the_metadata_of_iceberg_is_understood() -> None:
    metadata: dict[str, Any] = {
        "location": "file:///lake/orders",
        "schemas": [{"fields": [{"id": 1, "name": "id"}, {"id": 3, "name": "ds"}]}],
        "default-spec-id": 1,
        "partition-specs": [
            {"spec-id": 0, "fields": []},
            {"spec-id": 1, "fields": [{"transform": "identity", "source-id": 3}]},
        ],
        "refs": {"main": {"snapshot-id": 5, "type": "branch"}, "v1": {"snapshot-id": 5, "type": "tag"}},
        "snapshots": [
            {"snapshot-id": 4, "sequence-number": 1, "summary": {}},
            {"snapshot-id": 5, "parent-snapshot-id": 4, "sequence-number": 2, "summary": {TOKEN: "t"}},
        ],
    }
    assert parse_history(json.dumps(metadata)) == History(
        location="file:///lake/orders",
        partitioned_by=("identity(ds)",),
        branches={"main": 5},
        snapshots={4: Snapshot(4, None, 1, {}), 5: Snapshot(5, 4, 2, {TOKEN: "t"})},
    )
