"""The fold: the latest in the log wins, and nobody's attempt is forgotten."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lineage_assets.ledger.fold import Logged, built, fold_history
from lineage_assets.ledger.record import Assertion, Cause, Closing, ColumnSource, State, Transformation
from lineage_assets.ledger.record_json import from_json, to_json
from lineage_assets.partitions import ranges_text, set_of
from tests.support.records import NOON, make_attempt, make_record


def test_the_newest_verdict_wins_and_the_published_data_of_before_is_kept() -> None:
    good, bad = make_record("2021-06-04"), make_record("2021-06-04", State.FAILED, run_id="run-2")
    history = fold_history([Logged(2, bad), Logged(1, good)])
    assert history.verdicts["2021-06-04"].state is State.FAILED
    assert history.published["2021-06-04"] == good
    assert history.newest == 2


def test_an_attempt_is_underway_until_its_run_gives_each_partition_a_verdict() -> None:
    log = [Logged(1, make_attempt("2021-06-04", "2021-06-05")), Logged(2, make_record("2021-06-04"))]
    (underway,) = fold_history(log).underway
    assert ranges_text(underway.partitions) == "2021-06-05"
    assert fold_history([*log, Logged(3, make_record("2021-06-05", State.FAILED))]).underway == ()


def test_a_verdict_of_a_retry_closes_the_tries_before_it() -> None:
    log = [
        Logged(1, make_attempt("2021-06-04")),
        Logged(2, make_attempt("2021-06-04", number=2)),
        Logged(3, make_record("2021-06-04", number=2)),
    ]
    assert fold_history(log).underway == ()


def test_a_verdict_of_another_run_leaves_an_attempt_underway() -> None:
    log = [Logged(1, make_attempt("2021-06-04")), Logged(2, make_record("2021-06-04", run_id="run-2"))]
    assert [one.attempt.run_id for one in fold_history(log).underway] == ["run-1"]


def test_a_materialization_that_is_not_ours_makes_the_partition_unknown_until_we_record_it() -> None:
    log = [Logged(1, make_record("2021-06-04")), Logged(2, None, "2021-06-04")]
    assert fold_history(log).unrecorded == {"2021-06-04"}
    assert fold_history([*log, Logged(3, make_record("2021-06-04"))]).unrecorded == frozenset()
    assert ranges_text(built(fold_history(log))) == "2021-06-04"


@given(st.permutations(range(6)))
def test_the_order_in_which_events_are_given_does_not_matter(order: list[int]) -> None:
    log = [
        Logged(1, make_attempt("2021-06-04", "2021-06-05")),
        Logged(2, make_record("2021-06-04")),
        Logged(3, make_record("2021-06-05", State.FAILED)),
        Logged(4, None, "2021-06-06"),
        Logged(5, make_attempt("2021-06-05", run_id="run-2")),
        Logged(6, make_record("2021-06-05", run_id="run-2")),
    ]
    assert fold_history(log[index] for index in order) == fold_history(log)


def test_every_entry_comes_back_from_its_json_as_it_went() -> None:
    record = make_record(
        "2021-06-04",
        inputs={("menus",): {"2021-06-04": "a" * 32}, ("elsewhere", "rates"): {"2021-06-04": None}},
        snapshot=9_007_199_254_740_993_001,
        columns={"order_id": (ColumnSource(("menus",), "id", (Transformation("DIRECT", "IDENTITY"),)),)},
        row_sources=(ColumnSource(("menus",), "id", (Transformation("INDIRECT", "JOIN"),)),),
        input_rows={("menus",): {"2021-06-05": 0}},
        input_snapshots={("menus",): 9_007_199_254_740_993_001},
        size_bytes=0,
        files=0,
        nulls={"order_id": 0},
        assertions=(Assertion("not_null", success=False, column="order_id", expected="0", actual="3"),),
        spark_version="3.5.6",
        application_id="local-1",
        is_repeated=True,
        drift=("reads lake.x.y, which is not declared",),
    )
    assert from_json(("orders",), to_json(record)) == record
    attempt = make_attempt("2021-06-04", "2021-06-06")
    assert from_json(("orders",), to_json(attempt)) == attempt
    closing = Closing(("orders",), "run-1", 1, set_of(["2021-06-06"]), NOON, Cause("cancelled", "by a person"))
    assert from_json(("orders",), to_json(closing)) == closing


def test_a_record_of_the_first_version_is_read() -> None:
    """It had every key, and column sources as pairs."""
    old = {
        "version": 1,
        "kind": "partition",
        "partition": "2021-06-04",
        "state": "good",
        "run_id": "run-1",
        "number": 1,
        "started": NOON.isoformat(),
        "ended": NOON.isoformat(),
        "code_version": "c1",
        "rows": 0,
        "cause": None,
        "blocked_by": [],
        "fingerprint": "f" * 32,
        "inputs": [],
        "landing": None,
        "snapshot": None,
        "made_by": None,
        "backfill": None,
        "range_run": False,
        "drift": [],
        "warning": None,
        "columns": {"order_id": [[["menus"], "id"]]},
    }
    expected = make_record("2021-06-04", rows=0, columns={"order_id": (ColumnSource(("menus",), "id"),)})
    assert from_json(("orders",), old) == expected


def test_a_closing_ends_an_attempt_without_a_verdict() -> None:
    before = make_record("2021-06-05", run_id="run-0")
    closing = Closing(("orders",), "run-1", 1, set_of(["2021-06-05"]), NOON, Cause("killed", "its process is gone"))
    history = fold_history(
        [
            Logged(1, before),
            Logged(2, make_attempt("2021-06-04", "2021-06-05")),
            Logged(3, make_record("2021-06-04")),
            Logged(4, closing),
        ]
    )
    assert history.underway == ()
    assert history.verdicts["2021-06-05"] == before
