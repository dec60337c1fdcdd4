"""Law 13: what is read is what the records name; a day that cannot be had as it was recorded is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from lineage_assets.spark.history import History, Snapshot
from lineage_assets.spark.pinning import pin
from lineage_assets.spark.refusal import LostSnapshotError
from lineage_assets.spark.report import Pinned
from lineage_assets.spark.summary import RECORDS

FOURTH = "2021-06-04"
FIFTH = "2021-06-05"
VERSIONS = {FOURTH: "a", FIFTH: "e"}


def make_history(snapshots: Sequence[Snapshot], main: int | None = None) -> History:
    branches = {} if main is None else {"main": main}
    return History("file:///lake/orders", ("identity(ds)",), branches, {one.id: one for one in snapshots})


def ours(id_: int, parent: int | None, **days: str) -> Snapshot:
    """A publish of ours: day to fingerprint, a bad day to nothing."""
    named = {"fourth": FOURTH, "fifth": FIFTH}
    told = {named[day]: [int(bool(version)), 3, version or "bad", 900, 1] for day, version in days.items()}
    return Snapshot(id_, parent, id_, {"operation": "overwrite", RECORDS: json.dumps(told)})


def theirs(id_: int, parent: int | None, operation: str = "overwrite") -> Snapshot:
    return Snapshot(id_, parent, id_, {"operation": operation})


def pinned(snapshots: Sequence[Snapshot], named: dict[str, int], main: int | None = None) -> Pinned | None:
    return pin("lake.orders", make_history(snapshots, main), named, VERSIONS)


CHAIN = [ours(1, None, fourth="a"), ours(2, 1, fifth="e"), ours(3, 2, fourth="c")]


def test_a_table_without_records_is_read_at_its_current_snapshot_and_an_empty_one_as_it_is() -> None:
    assert pinned(CHAIN, {}, main=3) == Pinned(3)
    assert pinned([], {}) is None


def test_days_of_several_publishes_are_read_in_one_at_the_newest_whatever_came_after() -> None:
    assert pinned(CHAIN, {FOURTH: 1, FIFTH: 2}, main=3) == Pinned(2)


def test_a_day_that_was_published_again_without_a_record_is_read_at_its_own_snapshot() -> None:
    killed = [ours(1, None, fourth="a"), ours(2, 1, fourth="b"), ours(3, 2, fifth="e")]
    assert pinned(killed, {FOURTH: 1, FIFTH: 3}) == Pinned(3, {FOURTH: 1})


def test_a_later_publish_of_the_same_content_is_the_same_day() -> None:
    there_and_back = [ours(1, None, fourth="a"), ours(2, 1, fourth="b"), ours(3, 2, fourth="a"), ours(4, 3, fifth="e")]
    assert pinned(there_and_back, {FOURTH: 1, FIFTH: 4}) == Pinned(4)


def test_a_day_that_a_later_program_found_bad_keeps_its_rows() -> None:
    assert pinned([ours(1, None, fourth="a"), ours(2, 1, fourth="", fifth="e")], {FOURTH: 1, FIFTH: 2}) == Pinned(2)


def test_after_a_commit_of_others_nothing_is_sure_of_days_before_it_unless_it_only_compacts() -> None:
    changed = [ours(1, None, fourth="a"), theirs(2, 1), ours(3, 2, fifth="e")]
    assert pinned(changed, {FOURTH: 1, FIFTH: 3}) == Pinned(3, {FOURTH: 1})
    compacted = [ours(1, None, fourth="a"), theirs(2, 1, "replace"), ours(3, 2, fifth="e")]
    assert pinned(compacted, {FOURTH: 1, FIFTH: 3}) == Pinned(3)


def test_a_named_snapshot_that_is_no_ancestor_of_the_newest_is_refused_with_table_and_mend() -> None:
    with pytest.raises(LostSnapshotError) as refused:
        pinned([*CHAIN, ours(4, 1, fifth="e")], {FOURTH: 3, FIFTH: 4})
    assert str(refused.value) == (
        "The records name snapshot 3 of lake.orders, which is no ancestor of 4, the newest that they name: "
        "the table was changed behind our back. Materialize the upstream partitions again, or take the table as it is "
        "with `lineage-assets adopt`."
    )


def test_a_named_snapshot_that_the_table_never_had_is_refused() -> None:
    with pytest.raises(LostSnapshotError, match=r"snapshot 9 of .* which the table does not have"):
        pinned(CHAIN, {FOURTH: 3, FIFTH: 9})


def test_expired_snapshots_are_taken_to_lie_beyond_the_cut() -> None:
    cut = [ours(6, 5), ours(7, 6, fifth="e")]
    assert pinned(cut, {FOURTH: 4, FIFTH: 7}) == Pinned(7)
    assert pinned(cut, {FOURTH: 3, FIFTH: 4}, main=7) == Pinned(6)


def test_of_an_expired_day_a_kept_publish_of_the_same_content_is_read() -> None:
    cut = [ours(5, 4, fourth="a"), ours(6, 5, fourth="b"), ours(7, 6, fifth="e")]
    assert pinned(cut, {FOURTH: 3, FIFTH: 7}) == Pinned(7, {FOURTH: 5})


def test_an_expired_day_that_only_other_content_is_left_of_is_refused() -> None:
    cut = [ours(6, 5, fourth="b"), ours(7, 6, fifth="e")]
    with pytest.raises(LostSnapshotError, match=r"was expired, and 2021-06-04 was published again since, as 6"):
        pinned(cut, {FOURTH: 3, FIFTH: 7})
