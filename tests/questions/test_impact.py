"""What partitions reached: who read them, in which version, and how that stands."""

from __future__ import annotations

import pytest

from lineage_assets.errors import BadPartitionError
from lineage_assets.graph import AssetGraph
from lineage_assets.partitions import trailing_days
from lineage_assets.questions.impact import Effect, Impact, Reader
from tests.questions.telling import Told, hour
from tests.support.graphs import make_node

SHOP = AssetGraph.of(
    [make_node("orders"), make_node("weekly", ("orders", trailing_days(2))), make_node("best", "weekly")]
)


def shop() -> Told:
    """Orders of two days, weekly of both and of the day after, and best of the first."""
    told = Told(SHOP)
    told.good("orders", "2021-06-11", "o11")
    told.good("orders", "2021-06-12", "o12")
    told.good("weekly", "2021-06-11", "w11", {"orders": {"2021-06-10": None, "2021-06-11": "o11"}})
    told.good("weekly", "2021-06-12", "w12", {"orders": {"2021-06-11": "o11", "2021-06-12": "o12"}})
    told.good("best", "2021-06-11", "b11", {"weekly": {"2021-06-11": "w11"}})
    return told


def readers(answer: Impact) -> dict[tuple[str, str], Reader]:
    return {(one.ref.asset[0], one.ref.partition): one for one in answer.readers}


def effects(answer: Impact) -> dict[tuple[str, str], str]:
    return {ref: one.effect.value for ref, one in readers(answer).items()}


def test_what_read_a_partition_is_told_with_what_was_never_made_of_it() -> None:
    answer = shop().asked().impact("orders", "2021-06-11")
    assert effects(answer) == {
        ("weekly", "2021-06-11"): "current",
        ("weekly", "2021-06-12"): "current",
        ("best", "2021-06-11"): "current",
        ("best", "2021-06-12"): "never made",
    }


def test_a_reader_names_its_run_the_versions_it_read_and_how_far_it_is() -> None:
    found = readers(shop().asked().impact("orders", "2021-06-11"))
    weekly = found["weekly", "2021-06-12"]
    assert weekly.consumed is not None
    assert weekly.consumed.record.run_id == "run-4"
    assert [(read.ref.partition, read.version, read.now) for read in weekly.reads] == [("2021-06-11", "o11", "o11")]
    assert (weekly.distance, found["best", "2021-06-11"].distance) == (1, 2)


def test_what_read_another_version_than_is_published_now_is_stale_and_what_read_that_reads_what_is_stale() -> None:
    told = shop()
    told.good("orders", "2021-06-11", "o11-again")
    answer = told.asked().impact("orders", "2021-06-11")
    assert effects(answer) == {
        ("weekly", "2021-06-11"): "stale",
        ("weekly", "2021-06-12"): "stale",
        ("best", "2021-06-11"): "reads what is stale",
        ("best", "2021-06-12"): "never made",
    }
    (read,) = readers(answer)["weekly", "2021-06-12"].reads
    assert (read.version, read.now) == ("o11", "o11-again")


def test_readers_of_what_is_bad_now_would_be_blocked() -> None:
    told = shop()
    told.failed("orders", "2021-06-11")
    assert effects(told.asked().impact("orders", "2021-06-11")) == {
        ("weekly", "2021-06-11"): "would be blocked",
        ("weekly", "2021-06-12"): "would be blocked",
        ("best", "2021-06-11"): "would be blocked",
        ("best", "2021-06-12"): "never made",
    }


def test_a_reader_that_is_bad_itself_is_said_to_be() -> None:
    told = shop()
    told.blocked("weekly", "2021-06-12", ("orders", "2021-06-12"))
    reader = readers(told.asked().impact("orders", "2021-06-11"))["weekly", "2021-06-12"]
    assert reader.effect is Effect.BAD
    assert reader.consumed is not None, "older data is still shown"


def test_a_reader_made_without_us_is_to_be_adopted() -> None:
    told = shop()
    told.stranger("weekly", "2021-06-12")
    assert effects(told.asked().impact("orders", "2021-06-12"))["weekly", "2021-06-12"] == "not adopted"


def test_a_reader_whose_record_does_not_name_what_it_would_read_now_is_stale() -> None:
    told = Told(SHOP)
    told.good("orders", "2021-06-12", "o12")
    told.good("weekly", "2021-06-12", "w12", {"orders": {"2021-06-11": None}})
    reader = readers(told.asked().impact("orders", "2021-06-12"))["weekly", "2021-06-12"]
    assert (reader.effect, reader.reads) == (Effect.STALE, ())


def test_what_was_read_by_versions_of_before_is_kept() -> None:
    told = shop()
    told.good("weekly", "2021-06-12", "w12-again", {"orders": {"2021-06-11": "o11", "2021-06-12": "o12"}})
    reader = readers(told.asked().impact("orders", "2021-06-12"))["weekly", "2021-06-12"]
    assert [one.record.run_id for one in reader.earlier] == ["run-4"]


def test_a_range_reaches_what_reads_any_of_its_days() -> None:
    answer = shop().asked().impact("orders", "2021-06-10..2021-06-11")
    assert {day for asset, day in effects(answer) if asset == "weekly"} == {"2021-06-10", "2021-06-11", "2021-06-12"}


def test_the_last_of_a_graph_reaches_nothing() -> None:
    assert shop().asked().impact("best", "2021-06-11").readers == ()


def test_a_question_of_the_past_knows_the_readers_of_then() -> None:
    assert effects(shop().asked(at=hour(3)).impact("orders", "2021-06-11"))["weekly", "2021-06-12"] == "never made"


def test_the_dots_of_dagster_s_ranges_are_taken_too() -> None:
    asked = shop().asked()
    assert asked.impact("orders", "2021-06-10...2021-06-11") == asked.impact("orders", "2021-06-10..2021-06-11")


def test_a_range_turned_round_is_said_to_be_in_words_that_impact_understands() -> None:
    with pytest.raises(BadPartitionError, match=r"put the earlier day first: 2021-06-11\.\.2021-06-12\.$"):
        shop().asked().impact("orders", "2021-06-12..2021-06-11")


def test_what_is_bad_itself_is_made_good_before_its_readers_are_planned() -> None:
    told = shop()
    told.good("orders", "2021-06-11", "o11-again")
    without_root = ("lineage-assets plan orders --from 2021-06-11 --to 2021-06-12 --without-root",)
    assert told.asked().impact("orders", "2021-06-11..2021-06-12").commands == without_root
    told.failed("orders", "2021-06-12")
    answer = told.asked().impact("orders", "2021-06-11..2021-06-12")
    assert answer.commands == ("lineage-assets backfill orders --from 2021-06-12 --to 2021-06-12",)


@pytest.mark.parametrize("partitions", ["2021-06-11..", "..2021-06-11", "2021-06-12..2021-06-11", "all"])
def test_a_range_that_is_none_is_refused(partitions: str) -> None:
    with pytest.raises(BadPartitionError):
        shop().asked().impact("orders", partitions)
