"""The mark of a partition is its newest verdict, and says when there is none."""

from lineage_assets.backfill.found import standing
from lineage_assets.backfill.plan import Found
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.record import State
from tests.support.records import make_record


def test_each_partition_stands_as_its_newest_verdict_says() -> None:
    verdicts = {
        "2021-06-03": make_record("2021-06-03", State.GOOD),
        "2021-06-04": make_record("2021-06-04", State.REUSED),
        "2021-06-05": make_record("2021-06-05", State.FAILED),
        "2021-06-06": make_record("2021-06-06", State.BLOCKED),
    }
    assert standing(History(verdicts=verdicts)) == {
        "2021-06-03": Found.GOOD,
        "2021-06-04": Found.GOOD,
        "2021-06-05": Found.FAILED,
        "2021-06-06": Found.BLOCKED,
    }


def test_a_materialization_that_is_none_of_ours_outweighs_an_older_verdict() -> None:
    verdicts = {"2021-06-04": make_record("2021-06-04", State.FAILED)}
    history = History(verdicts=verdicts, unrecorded=frozenset({"2021-06-04", "2021-06-05"}))
    assert standing(history) == {
        "2021-06-04": Found.NOT_ADOPTED,
        "2021-06-05": Found.NOT_ADOPTED,
    }
