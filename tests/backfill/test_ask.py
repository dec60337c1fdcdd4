"""Words become the request they mean, or a refusal that names the word."""

import pytest

from lineage_assets.backfill.ask import Ask, PlanMovedError, ask_from_config
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.errors import BadPartitionError, OutsidePartitionsError, UnknownAssetError
from tests.support.graphs import NOW, days, food_delivery


def test_words_become_the_request_they_mean() -> None:
    ask = Ask("orders", "2021-06-04", "2021-06-06", include_root=False)
    assert ask.request(food_delivery(), NOW) == BackfillRequest.downstream_of(
        ("orders",), days("2021-06-04", "2021-06-06"), include_root=False
    )


def test_without_a_last_day_it_is_the_first_alone() -> None:
    assert Ask("orders", "2021-06-04").request(food_delivery(), NOW) == BackfillRequest.downstream_of(
        ("orders",), days("2021-06-04")
    )


@pytest.mark.parametrize(
    ("ask", "refusal", "message"),
    [
        (Ask("ordres", "2021-06-04"), UnknownAssetError, 'Did you mean "orders"'),
        (Ask("orders", "2021-06-06", "2021-06-04"), BadPartitionError, "swap the two"),
        (Ask("orders", "4 June"), BadPartitionError, "YYYY-MM-DD"),
        (Ask("orders", "2021-06-04", "2021-06-31"), BadPartitionError, "2021-06-31"),
        (Ask("orders", "2021-06-12", "2021-06-13"), OutsidePartitionsError, "2021-06-13 of"),
    ],
)
def test_words_that_mean_nothing_are_refused_by_name(ask: Ask, refusal: type[Exception], message: str) -> None:
    with pytest.raises(refusal, match=message):
        ask.request(food_delivery(), NOW)


@pytest.mark.parametrize(
    "ask",
    [
        Ask("orders", "2021-06-04"),
        Ask(
            "orders", "2021-06-04", "2021-06-06", include_root=False, reason="feed", requested_by="ann", plan="ab" * 32
        ),
    ],
)
def test_words_read_back_from_configuration(ask: Ask) -> None:
    assert ask_from_config(ask.to_config()) == ask


def test_the_plan_that_was_seen_is_the_plan_that_runs() -> None:
    graph = food_delivery()
    seen = Ask("orders", "2021-06-04").plan_at(graph, NOW)
    assert Ask("orders", "2021-06-04", plan=seen.fingerprint).plan_at(graph, NOW) == seen


def test_a_plan_that_moved_since_it_was_seen_is_refused() -> None:
    graph = food_delivery()
    seen = Ask("orders", "2021-06-04").plan_at(graph, NOW)
    with pytest.raises(PlanMovedError, match=f"The plan {seen.name} is out of date"):
        Ask("orders", "2021-06-05", plan=seen.fingerprint).plan_at(graph, NOW)


def test_words_are_written_as_the_command_that_says_them() -> None:
    assert Ask("orders", "2021-06-04").command == "lineage-assets backfill orders --from 2021-06-04 --to 2021-06-04"
    assert (
        Ask("orders", "2021-06-04", "2021-06-06", include_root=False).command
        == "lineage-assets backfill orders --from 2021-06-04 --to 2021-06-06 --without-root"
    )
