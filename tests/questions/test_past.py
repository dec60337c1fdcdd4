"""Answers as of a time before now: they say so, and recommend nothing that is done today."""

from __future__ import annotations

import pytest

from tests.questions.telling import Told, hour
from tests.questions.test_why import shop

DAY = "2021-06-06"


@pytest.mark.parametrize("number", [0, 4, 7])
def test_nothing_is_recommended_but_to_ask_how_it_is_now(number: int) -> None:
    told = shop()
    told.failed("orders", DAY)
    asked = told.asked(at=hour(number))
    assert asked.why("weekly", DAY).commands == (f"lineage-assets why weekly {DAY}",)
    assert asked.impact("orders", f"2021-06-05..{DAY}").commands == (f"lineage-assets impact orders 2021-06-05..{DAY}",)


def test_of_a_time_before_all_records_the_first_is_named() -> None:
    asked = shop().asked(at=hour(0))
    assert asked.why("weekly", DAY).known.began == hour(5)
    assert asked.history("weekly", DAY).known.began == hour(5)
    assert asked.impact("orders", f"2021-06-05..{DAY}").known.began == hour(2)


def test_where_something_was_on_record_or_never_is_no_first_one_is_named() -> None:
    assert shop().asked(at=hour(6)).why("weekly", DAY).known.began is None
    assert Told(shop().graph).asked(at=hour(6)).why("weekly", DAY).known.began is None
    assert Told(shop().graph).asked().why("weekly", DAY).known.is_past is False


def test_the_reason_of_a_backfill_is_looked_up_only_where_one_is_named() -> None:
    told = shop()
    queries = told.queries
    told.asked().history("orders", DAY)
    told.good("orders", DAY, "o6-again", backfill="sohmxomj")
    told.reasons["sohmxomj"] = "late file of the 6th"
    answer = told.asked().history("orders", DAY)
    assert answer.known.reasons == {"sohmxomj": "late file of the 6th"}
    assert told.queries == queries
    why = told.asked().why("orders", DAY)
    assert why.verdict is not None
    assert why.known.reason(why.verdict.record) == "late file of the 6th"
