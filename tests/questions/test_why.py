"""Why a partition is as it is: the run, code and inputs that made it, or what keeps it from being there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage_assets.errors import BadPartitionError, OutsidePartitionsError, UnknownAssetError
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.record import PartitionRef, State
from lineage_assets.ledger.scene import SourceCode
from lineage_assets.lineage.ids import lineage_run_id
from lineage_assets.partitions import trailing_days
from lineage_assets.questions.known import Verdict
from lineage_assets.questions.standing import CodeDiffers, InputDiffers, Quarantine, Standing
from lineage_assets.questions.trace import Made, ReadOf, lineage_run_of
from lineage_assets.questions.why import Why
from tests.questions.telling import Told, hour
from tests.support.graphs import days, diamond, make_node

SHOP = AssetGraph.of(
    [
        make_node("orders"),
        make_node("prices"),
        make_node("weekly", ("orders", trailing_days(3)), "prices"),
        make_node("best", "weekly", "weather"),
    ]
)
"""`weather` is nobody's of ours."""
THREE_DAYS = {"2021-06-04": "o4", "2021-06-05": "o5", "2021-06-06": "o6"}


def shop() -> Told:
    """Three days of orders, and what was made of them on the third."""
    told = Told(SHOP)
    for day, version in THREE_DAYS.items():
        told.good("orders", day, version, rows=50, landing=f"l{version}")
    told.good("prices", "2021-06-06", "p6")
    told.good("weekly", "2021-06-06", "w6", {"orders": THREE_DAYS, "prices": {"2021-06-06": "p6"}})
    told.good("best", "2021-06-06", "b6", {"weekly": {"2021-06-06": "w6"}, "weather": {"2021-06-06": None}})
    return told


def made(answer: Why) -> dict[tuple[str, str], Made]:
    return {(one.verdict.ref.asset[0], one.verdict.ref.partition): one for one in answer.data}


def head(answer: Why) -> Verdict:
    return next(iter(answer.data)).verdict


def test_a_good_partition_names_its_run_and_those_of_all_it_was_made_from_up_to_the_landing_files() -> None:
    answer = shop().asked().why("best", "2021-06-06")
    assert answer.standing is Standing.GOOD
    runs = {ref: one.verdict.record.run_id for ref, one in made(answer).items()}
    assert runs == {
        ("best", "2021-06-06"): "run-6",
        ("weekly", "2021-06-06"): "run-5",
        ("orders", "2021-06-04"): "run-1",
        ("orders", "2021-06-05"): "run-2",
        ("orders", "2021-06-06"): "run-3",
        ("prices", "2021-06-06"): "run-4",
    }
    assert made(answer)["orders", "2021-06-04"].verdict.record.landing == "lo4"
    assert (answer.commands, answer.is_cut) == ((), False)


def test_an_input_of_another_producer_is_said_to_be_not_ours() -> None:
    answer = shop().asked().why("best", "2021-06-06")
    (weather,) = (read for read in made(answer)["best", "2021-06-06"].reads if read.ref.asset == ("weather",))
    assert weather.found is ReadOf.NOT_OURS


def test_an_input_that_was_published_again_is_found_in_its_own_history_and_makes_the_reader_stale() -> None:
    told = shop()
    told.good("orders", "2021-06-05", "o5-again")
    answer = told.asked().why("weekly", "2021-06-06")
    read = next(one for one in made(answer)["weekly", "2021-06-06"].reads if one.ref.partition == "2021-06-05")
    assert (read.is_superseded, read.version, read.now) == (True, "o5", "o5-again")
    assert made(answer)["orders", "2021-06-05"].verdict.record.run_id == "run-2"
    assert answer.standing is Standing.STALE
    ref = PartitionRef(("orders",), "2021-06-05")
    assert answer.differences == (InputDiffers(ref, "o5", "o5-again", "run-7"),)
    assert answer.suspects[0].ref == ref
    # Not weekly of the one day alone: every reader of what was published again is stale.
    assert answer.commands == ("lineage-assets backfill orders --from 2021-06-05 --to 2021-06-05 --without-root",)


def test_a_version_that_came_back_is_told_by_the_run_that_the_reader_found() -> None:
    told = Told(SHOP)
    told.good("orders", "2021-06-06", "same")
    told.good("weekly", "2021-06-06", "w", {"orders": {"2021-06-06": "same"}})
    told.good("orders", "2021-06-06", "other")
    told.good("orders", "2021-06-06", "same")
    assert made(told.asked().why("weekly", "2021-06-06"))["orders", "2021-06-06"].verdict.record.run_id == "run-1"


def test_a_version_without_a_record_is_said_to_have_none() -> None:
    told = Told(SHOP)
    told.good("weekly", "2021-06-06", "w", {"orders": {"2021-06-06": "of before"}})
    (read,) = made(told.asked().why("weekly", "2021-06-06"))["weekly", "2021-06-06"].reads
    assert read.found is ReadOf.NO_RECORD


def test_what_two_inputs_share_is_one_version() -> None:
    told = Told(diamond())
    told.good("top", "2021-06-06", "t")
    told.good("left", "2021-06-06", "l", {"top": {"2021-06-06": "t"}})
    told.good("right", "2021-06-06", "r", {"top": {"2021-06-06": "t"}})
    told.good("bottom", "2021-06-06", "b", {"left": {"2021-06-06": "l"}, "right": {"2021-06-06": "r"}})
    answer = told.asked().why("bottom", "2021-06-06")
    assert [one.verdict.record.asset[0] for one in answer.data] == ["bottom", "left", "right", "top"]


@pytest.mark.parametrize(("depth", "held"), [(0, {"best"}), (1, {"best", "weekly"})])
def test_a_depth_cuts_the_walk_and_says_so(depth: int, held: set[str]) -> None:
    answer = shop().asked().why("best", "2021-06-06", depth)
    assert {asset for asset, _ in made(answer)} == held
    assert answer.is_cut


def test_a_level_of_inputs_costs_one_query_an_asset() -> None:
    told = shop()
    told.asked().why("best", "2021-06-06")
    asked = told.asked()
    asked.why("best", "2021-06-06")
    assert isinstance(asked.logs, Told)
    assert asked.logs.queries == 4


def test_reused_data_is_told_by_the_run_that_made_it_and_by_the_one_that_let_it_stand() -> None:
    told = shop()
    told.good("orders", "2021-06-04", "o4", state=State.REUSED, made_by="run-1", run_id="run-later")
    answer = told.asked().why("orders", "2021-06-04")
    assert head(answer).record.run_id == "run-1"
    assert answer.confirmed is not None
    assert answer.confirmed.record.run_id == "run-later"


def test_a_block_is_walked_to_where_the_badness_began_and_is_mended_there() -> None:
    told = shop()
    told.failed("orders", "2021-06-05", "schema change", 'column "id" is gone')
    told.blocked("weekly", "2021-06-06", ("orders", "2021-06-05"))
    told.blocked("best", "2021-06-06", ("orders", "2021-06-05"))
    answer = told.asked().why("best", "2021-06-06")
    assert answer.standing is Standing.BLOCKED
    (root,) = answer.roots
    assert (root.ref, root.state) == (PartitionRef(("orders",), "2021-06-05"), "failed")
    assert root.cause is not None
    assert root.cause.kind == "schema change"
    assert answer.commands == ("lineage-assets backfill orders --from 2021-06-05 --to 2021-06-05",)
    assert head(answer).record.run_id == "run-6", "the table still shows the data of before"


def test_a_block_whose_cause_is_gone_is_mended_by_asking_for_the_partition_itself() -> None:
    told = shop()
    told.failed("orders", "2021-06-05")
    told.blocked("weekly", "2021-06-06", ("orders", "2021-06-05"))
    told.good("orders", "2021-06-05", "o5")
    answer = told.asked().why("weekly", "2021-06-06")
    assert (answer.standing, answer.roots) == (Standing.BLOCKED, ())
    assert answer.commands == ("lineage-assets backfill weekly --from 2021-06-06 --to 2021-06-06",)


def test_good_data_made_from_what_is_bad_by_now_is_said_to_be() -> None:
    told = shop()
    told.failed("orders", "2021-06-05")
    answer = told.asked().why("best", "2021-06-06")
    assert answer.standing is Standing.MADE_FROM_BAD
    assert [root.ref.partition for root in answer.roots] == ["2021-06-05"]


def test_a_failed_partition_says_its_cause_and_is_asked_for_again() -> None:
    told = Told(SHOP)
    told.failed("orders", "2021-06-05", "freshness", "no file")
    answer = told.asked().why("orders", "2021-06-05")
    assert answer.standing is Standing.FAILED
    assert answer.verdict is not None
    assert answer.verdict.record.run_id == "run-1"
    assert answer.commands == ("lineage-assets backfill orders --from 2021-06-05 --to 2021-06-05",)


def test_what_did_not_pass_its_checks_is_found_on_its_branch() -> None:
    told = Told(SHOP)
    told.failed("orders", "2021-06-05", "incomplete data", "6 rows; kept on the branch b_1 of lake.shop.orders")
    answer = told.asked().why("orders", "2021-06-05")
    assert (answer.standing, answer.quarantine) == (Standing.QUARANTINED, Quarantine("b_1", "lake.shop.orders"))


def test_what_nobody_asked_for_says_what_would_block_it() -> None:
    told = Told(SHOP)
    told.good("orders", "2021-06-06", "o6")
    answer = told.asked().why("weekly", "2021-06-06")
    assert answer.standing is Standing.NEVER_ASKED_FOR
    assert {(root.ref.asset[0], root.ref.partition, root.state) for root in answer.roots} == {
        ("orders", "2021-06-04", "missing"),
        ("orders", "2021-06-05", "missing"),
        ("prices", "2021-06-06", "missing"),
    }
    assert answer.commands == (
        "lineage-assets backfill orders --from 2021-06-04 --to 2021-06-05",
        "lineage-assets backfill prices --from 2021-06-06 --to 2021-06-06",
    )


@pytest.mark.parametrize(("is_live", "standing"), [(True, Standing.BEING_MADE), (False, Standing.NO_VERDICT)])
def test_a_run_without_a_verdict_is_making_it_or_was_to_make_it(is_live: bool, standing: Standing) -> None:  # noqa: FBT001
    told = Told(SHOP)
    told.unfinished("orders", "2021-06-05", is_live=is_live)
    answer = told.asked().why("orders", "2021-06-05")
    assert (answer.standing, answer.runs[0].run_id) == (standing, "run-silent")
    assert bool(answer.commands) is not is_live


def test_a_stranger_s_partition_is_to_be_adopted() -> None:
    told = shop()
    told.stranger("orders", "2021-06-05")
    answer = told.asked().why("orders", "2021-06-05")
    assert (answer.standing, answer.data.made) == (Standing.NOT_ADOPTED, {})
    assert answer.commands == ("lineage-assets adopt orders --from 2021-06-05 --to 2021-06-05",)
    (odd,) = told.asked().why("weekly", "2021-06-06").suspects
    assert (odd.ref.partition, odd.reason) == ("2021-06-05", "made again since, without a record of ours")


def test_newer_code_makes_stale() -> None:
    answer = shop().asked(code={"orders": "c2"}).why("orders", "2021-06-05")
    assert (answer.standing, answer.differences) == (Standing.STALE, (CodeDiffers("c1", "c2"),))
    assert answer.commands == ("lineage-assets backfill orders --from 2021-06-05 --to 2021-06-05",)


def test_what_was_made_from_the_newest_of_something_stale_says_so_and_is_mended_where_that_is() -> None:
    told = shop()
    told.good("orders", "2021-06-05", "o5-again")
    answer = told.asked().why("best", "2021-06-06")
    assert (answer.standing, answer.differences) == (Standing.READS_STALE, ())
    assert answer.stale == (PartitionRef(("weekly",), "2021-06-06"),)
    assert answer.commands == ("lineage-assets backfill orders --from 2021-06-05 --to 2021-06-05 --without-root",)


@pytest.mark.parametrize("depth", [0, 1, 10])
def test_how_it_stands_does_not_hang_on_the_depth_that_is_shown(depth: int) -> None:
    told = shop()
    good = told.asked().why("best", "2021-06-06", depth)
    assert (good.standing, good.differences, good.commands) == (Standing.GOOD, (), ())
    told.good("orders", "2021-06-05", "o5-again")
    assert told.asked().why("best", "2021-06-06", depth).standing is Standing.READS_STALE


def test_a_window_that_was_widened_since_makes_stale() -> None:
    told = shop()
    wider = replace(SHOP.nodes["weekly",], inputs=make_node("weekly", ("orders", trailing_days(4)), "prices").inputs)
    told.good("orders", "2021-06-03", "o3")
    told.graph = AssetGraph.of([*(node for key, node in SHOP.nodes.items() if key != ("weekly",)), wider])
    answer = told.asked().why("weekly", "2021-06-06")
    assert answer.differences == (InputDiffers(PartitionRef(("orders",), "2021-06-03"), None, "o3", "run-7"),)


def test_adopted_data_is_not_stale_for_want_of_inputs() -> None:
    told = Told(SHOP)
    told.good("weekly", "2021-06-06", "w", code_version="adopted")
    assert told.asked().why("weekly", "2021-06-06").standing is Standing.GOOD


def test_a_question_of_the_past_folds_only_what_was_recorded_by_then() -> None:
    told = shop()
    told.good("orders", "2021-06-05", "o5-again")
    assert told.asked(at=hour(6)).why("weekly", "2021-06-06").standing is Standing.GOOD
    assert told.asked(at=hour(4)).why("weekly", "2021-06-06").standing is Standing.NEVER_ASKED_FOR


def test_an_input_day_with_far_fewer_rows_than_its_like_is_the_first_suspect() -> None:
    told = Told(SHOP)
    for day, version in THREE_DAYS.items():
        told.good("orders", day, version, rows=12 if version == "o5" else 50)
    told.good("prices", "2021-06-06", "p6")
    told.good("weekly", "2021-06-06", "w6", {"orders": THREE_DAYS, "prices": {"2021-06-06": "p6"}})
    answer = told.asked().why("weekly", "2021-06-06")
    assert [(one.ref.partition, one.reason) for one in answer.suspects] == [
        ("2021-06-05", "12 rows, where half of the others have 50 or more")
    ]
    assert answer.commands == ("lineage-assets history orders 2021-06-05",)


def test_an_input_that_failed_before_is_a_suspect() -> None:
    told = Told(SHOP)
    told.failed("orders", "2021-06-06", "freshness", "no file")
    told.good("orders", "2021-06-06", "o6", warning="late")
    told.good("weekly", "2021-06-06", "w6", {"orders": {"2021-06-06": "o6"}})
    (one,) = told.asked().why("weekly", "2021-06-06").suspects
    assert one.reason == "late; failed before it was good: freshness"


def test_the_commit_comes_from_the_scene_of_the_attempt() -> None:
    told = shop()
    record = told.good("orders", "2021-06-05", "o5", run_id="run-x")
    told.attempt(record, SourceCode(repository="git@example.com:shop.git", commit="4f2a", path="jobs.py"))
    answer = told.asked().why("orders", "2021-06-05")
    source = answer.known.source(head(answer))
    assert source is not None
    assert (source.repository, source.commit, source.path) == ("git@example.com:shop.git", "4f2a", "jobs.py")


def test_the_lineage_run_of_a_partition_is_the_one_that_its_events_name() -> None:
    answer = shop().asked().why("orders", "2021-06-05")
    job = SHOP.nodes["orders",].job
    assert lineage_run_of(answer.known, head(answer)) == lineage_run_id("run-2", job, days("2021-06-05"), 1)


def test_the_lineage_run_of_a_range_is_that_of_its_contiguous_part_that_was_tried() -> None:
    told = Told(SHOP)
    record = told.good("orders", "2021-06-05", "o5", range_run=True)
    tried = [f"2021-06-0{day}" for day in range(1, 7)]
    answer = told.asked().why("orders", "2021-06-05")
    assert lineage_run_of(answer.known, head(answer)) is None, "without its attempt nobody can tell"
    told.attempt(record, SourceCode(), days=tried, blocked=["2021-06-03"])
    answer = told.asked().why("orders", "2021-06-05")
    of_part = lineage_run_id("run-1", SHOP.nodes["orders",].job, days("2021-06-04", "2021-06-06"), 1)
    assert lineage_run_of(answer.known, head(answer)) == of_part


def test_a_block_has_a_lineage_run_where_it_was_told_alone_and_for_the_first_time() -> None:
    told = Told(SHOP)
    record = told.blocked("weekly", "2021-06-05", ("orders", "2021-06-05"))
    told.attempt(record, SourceCode())
    answer = told.asked().why("weekly", "2021-06-05")
    assert answer.verdict is not None
    of_day = lineage_run_id("run-1", SHOP.nodes["weekly",].job, days("2021-06-05"), 1)
    assert lineage_run_of(answer.known, answer.verdict) == of_day
    told.attempt(record, SourceCode(), days=["2021-06-05", "2021-06-06"])
    answer = told.asked().why("weekly", "2021-06-05")
    assert answer.verdict is not None
    assert lineage_run_of(answer.known, answer.verdict) is None


@pytest.mark.parametrize("range_", ["2021-06-04..2021-06-06", "2021-06-04...2021-06-06"])
def test_a_range_is_told_that_impact_takes_it(range_: str) -> None:
    for ask, name in ((shop().asked().why, "why"), (shop().asked().history, "history")):
        with pytest.raises(BadPartitionError, match=f"{name} is asked of one day; impact takes a range"):
            ask("weekly", range_)


def test_unknown_assets_days_and_partitions_are_refused() -> None:
    asked = shop().asked()
    with pytest.raises(UnknownAssetError, match='Did you mean "weekly"'):
        asked.why("weakly", "2021-06-06")
    with pytest.raises(BadPartitionError, match="2021-06-31"):
        asked.why("weekly", "2021-06-31")
    with pytest.raises(OutsidePartitionsError, match=r"there are 2021-05-24\.\.2021-06-12"):
        asked.why("weekly", "2021-06-13")
