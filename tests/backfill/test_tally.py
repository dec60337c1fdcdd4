"""What has come of a plan: counted once a partition, and what has no verdict was not run."""

from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.backfill.tally import Tally
from lineage_assets.ledger.record import State
from tests.support.graphs import NOW, days, rolling_chain
from tests.support.records import make_record


def make_tally() -> Tally:
    """Of a plan of one day of `raw` and the seven days of `week` and on that read it."""
    return Tally(plan_backfill(rolling_chain(), BackfillRequest.downstream_of(("raw",), days("2021-06-12")), now=NOW))


def test_nothing_has_come_of_a_plan_that_has_not_begun() -> None:
    tally = make_tally()
    assert str(tally) == "4 not run of 4 partitions"
    assert not tally.is_whole
    assert tally.not_run == {(name,): days("2021-06-12") for name in ("raw", "week", "r2", "r3")}


def test_verdicts_of_runs_add_up() -> None:
    good = make_record("2021-06-12", asset=("raw",))
    bad = make_record("2021-06-12", State.FAILED, asset=("week",))
    blocked = make_record("2021-06-12", State.BLOCKED, asset=("r2",))
    tally = make_tally().with_records([good]).with_records([bad, blocked])
    assert str(tally) == "1 done, 1 failed, 1 blocked, 1 not run of 4 partitions"
    assert tally.of(State.FAILED, State.BLOCKED) == {("week",): days("2021-06-12"), ("r2",): days("2021-06-12")}
    assert tally.not_run == {("r3",): days("2021-06-12")}


def test_a_retry_in_the_same_run_replaces_the_verdict_before_it() -> None:
    lost = make_record("2021-06-12", State.FAILED, asset=("raw",), number=1)
    good = make_record("2021-06-12", State.GOOD, asset=("raw",), number=2)
    tally = make_tally().with_records([lost, good])
    assert (tally.count(State.GOOD), tally.count(State.FAILED)) == (1, 0)


def test_a_plan_is_whole_when_all_of_it_is_done_or_reused() -> None:
    done = [make_record("2021-06-12", asset=(name,)) for name in ("raw", "week")]
    reused = [make_record("2021-06-12", State.REUSED, asset=(name,)) for name in ("r2", "r3")]
    tally = make_tally().with_records([*done, *reused])
    assert tally.is_whole
    assert str(tally) == "2 done, 2 reused of 4 partitions"


def test_of_an_empty_plan_nothing_is_missing() -> None:
    request = BackfillRequest.downstream_of(("r3",), days("2021-06-12"), include_root=False)
    tally = Tally(plan_backfill(rolling_chain(), request, now=NOW))
    assert tally.is_whole
    assert str(tally) == "0 done of 0 partitions"
