"""The fold: the latest in the log wins, and nobody's attempt is forgotten."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lineage_assets.ledger.fold import Logged, built, fold_history
from lineage_assets.ledger.record import State, from_json, to_json
from lineage_assets.partitions import ranges_text
from tests.support.records import make_attempt, make_record


def test_the_newest_verdict_wins_and_the_published_data_of_before_is_kept() -> None:
    good, bad = make_record("2021-06-04"), make_record("2021-06-04", State.FAILED, run_id="run-2")
    history = fold_history([Logged(2, bad), Logged(1, good)])
    assert history.state_of("2021-06-04") is State.FAILED
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
        columns={"order_id": ((("menus",), "id"),)},
        drift=("reads lake.x.y, which is not declared",),
    )
    assert from_json(("orders",), to_json(record)) == record
    attempt = make_attempt("2021-06-04", "2021-06-06")
    assert from_json(("orders",), to_json(attempt)) == attempt
