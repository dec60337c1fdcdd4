"""Law 9: a receiver that is down, slow or broken costs a run little and never fails it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from uuid import UUID

import pytest

from lineage_assets.ledger.record import State
from lineage_assets.lineage import carrier as module
from lineage_assets.lineage.delivery import Delivery
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.sender import NOBODY_THERE, Sender
from lineage_assets.lineage.transport import HttpTransport
from lineage_assets.partitions import keys_of
from tests.lineage.facts import attempt, projection, verdict
from tests.lineage.receivers import (
    Answer,
    Heard,
    answering,
    closing_mid_answer,
    hanging,
    nobody,
    receiver,
    refusing,
    resetting,
    rude,
)
from tests.support.graphs import days

WEEK = days("2021-06-01", "2021-06-07")


def started() -> tuple[Event, ...]:
    return projection().started([attempt(WEEK)], WEEK)


def ended() -> tuple[Event, ...]:
    return projection().ended([attempt(WEEK)], WEEK, [verdict(key, State.GOOD) for key in keys_of(WEEK)])


def poll(claim: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until the claim holds; fail when it does not in time."""
    end = monotonic() + seconds
    turn = module.Signal()
    while not claim():
        assert monotonic() < end, "it did not come about in time"
        turn.wait(0.005)


def closed(sender: Sender, run_seconds: float = 1.0) -> tuple[Delivery, float]:
    before = monotonic()
    delivery = sender.close(run_seconds)
    return delivery, monotonic() - before


def ok(_: Heard) -> Answer:
    return 201, ""


def test_events_arrive_in_order_over_one_connection() -> None:
    with receiver(ok) as heard:
        sender = Sender(HttpTransport(heard.url))
        sender.send(started())
        sender.send(ended())
        delivery, _ = closed(sender)
    assert delivery == Delivery(sent=14)
    assert delivery.text == "Lineage: 14 events sent."
    assert [json.dumps(event, sort_keys=True) for event in heard.events] == [
        event.body for event in (*started(), *ended())
    ]
    assert len(heard.connections) == 1


def test_events_leave_while_the_run_goes_on() -> None:
    with receiver(ok) as heard:
        sender = Sender(HttpTransport(heard.url))
        sender.send(started())
        poll(lambda: len(heard.events) == 7)
        assert closed(sender)[0].sent == 7


def test_a_hanging_receiver_costs_a_short_run_two_seconds() -> None:
    with hanging() as url:
        sender = Sender(HttpTransport(url))
        before = monotonic()
        sender.send(started())
        assert monotonic() - before < 0.1
        delivery, seconds = closed(sender)
        assert (delivery.sent, delivery.unsent) == (0, 7)
        assert delivery.reason == "the receiver did not answer in time"
        assert 1.5 < seconds < 2.3


def test_a_receiver_that_hung_all_through_a_run_costs_its_end_half_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)  # the run took longer than that
    with hanging() as url:
        sender = Sender(HttpTransport(url))
        sender.send(started())
        delivery, seconds = closed(sender, 60.0)
        assert delivery.unsent == 7
        assert seconds < 0.8


def test_a_refusing_receiver_costs_nothing() -> None:
    sender = Sender(HttpTransport(refusing()))
    sender.send((*started(), *ended()))
    delivery, seconds = closed(sender)
    assert (delivery.sent, delivery.unsent, delivery.rejected) == (0, 14, 0)
    assert delivery.reason is not None
    assert "refused" in delivery.reason
    assert delivery.text.startswith("Lineage: of this run's events 14 not sent (")
    assert "\n" not in delivery.text
    assert seconds < 0.5


def test_a_faltering_receiver_costs_little_and_is_asked_again() -> None:
    with receiver(lambda _: (500, "<html>")) as heard:
        sender = Sender(HttpTransport(heard.url))
        sender.send(started())
        poll(lambda: len(heard.events) >= 3)
        delivery, seconds = closed(sender)
    assert (delivery.sent, delivery.unsent, delivery.reason) == (0, 7, "HTTP 500")
    assert {event["run"]["runId"] for event in heard.events} == {str(started()[0].lineage_run_id)}
    assert seconds < 0.5


def test_an_event_that_is_never_taken_is_left_with_its_run_and_the_others_arrive() -> None:
    """One poisonous event must not hold back all that come after it."""
    poison = str(started()[0].lineage_run_id)

    def choosy(heard: Heard) -> Answer:
        return (500, "") if heard.events[-1]["run"]["runId"] == poison else (201, "")

    with receiver(choosy) as heard:
        sender = Sender(HttpTransport(heard.url))
        sender.send((*started(), *ended()))
        poll(lambda: len(heard.events) >= 5 + 12)
        delivery, _ = closed(sender)
    assert (delivery.sent, delivery.unsent) == (12, 2)
    assert [event["run"]["runId"] for event in heard.events].count(poison) == 5


@pytest.mark.parametrize("answer", [(422, '{"errors": ["x"]}'), (500, '{"code": 400, "message": "x"}'), (400, "")])
def test_a_refused_event_is_not_sent_again_nor_is_the_rest_of_its_run(answer: Answer) -> None:
    first = started()[0].lineage_run_id
    with receiver(lambda heard: answer if len(heard.events) == 1 else (201, "")) as heard:
        sender = Sender(HttpTransport(heard.url))
        sender.send((*started(), *ended()))
        delivery, _ = closed(sender)
    assert (delivery.sent, delivery.unsent, delivery.rejected) == (12, 0, 2)
    assert delivery.reason == f"HTTP {answer[0]}"
    assert delivery.text == (
        f"Lineage: of this run's events 12 sent, 2 rejected (HTTP {answer[0]}). "
        "What was rejected is sent by nobody again but `lineage-assets lineage replay`."
    )
    assert [UUID(event["run"]["runId"]) for event in heard.events].count(first) == 1


@pytest.mark.parametrize("status", [503, 429, 401, 403, 404, 308])
def test_a_receiver_that_comes_back_gets_everything_in_order(status: int) -> None:
    with receiver(lambda heard: (status, "") if len(heard.events) < 3 else (201, "")) as heard:
        sender = Sender(HttpTransport(heard.url))
        sender.send(started())
        poll(lambda: len(heard.events) == 9)
        delivery, _ = closed(sender)
    assert delivery == Delivery(sent=7)
    assert [event["run"]["runId"] for event in heard.events[2:]] == [str(event.lineage_run_id) for event in started()]


def test_a_slow_receiver_is_waited_for_up_to_the_share_of_the_run() -> None:
    def slow(heard: Heard) -> Answer:
        heard.gone.wait(0.05)
        return 201, ""

    with receiver(slow) as heard:
        sender = Sender(HttpTransport(heard.url))
        sender.send((*started(), *ended()))
        delivery, _ = closed(sender)
        assert delivery == Delivery(sent=14)


def test_with_nobody_there_all_stay_records_and_one_line_says_so() -> None:
    sender = Sender(None)
    sender.send(started())
    delivery, seconds = closed(sender)
    assert delivery == Delivery(unsent=7, reason=NOBODY_THERE)
    assert delivery.text == (
        "Lineage: of this run's events 7 not sent (no lineage server is up; `lineage-assets marquez up` starts one, "
        "or set OPENLINEAGE_URL). The reconciling sensor sends the rest, or `lineage-assets lineage flush` does."
    )
    assert seconds < 0.1


def test_more_events_than_a_queue_holds_are_counted_and_their_runs_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_WAITING", 3)
    with hanging() as url:
        sender = Sender(HttpTransport(url))
        sender.send(started())
        delivery, _ = closed(sender)
    assert delivery.unsent == 7
    assert delivery.reason == "more than 3 events were waiting"


def test_a_run_without_events_has_nothing_to_wait_for() -> None:
    with hanging() as url:
        delivery, seconds = closed(Sender(HttpTransport(url)))
    assert delivery == Delivery()
    assert seconds < 0.1


def test_an_event_after_the_end_is_counted_and_hurts_nobody() -> None:
    with receiver(ok) as heard:
        sender = Sender(HttpTransport(heard.url))
        sender.send(started()[:1])
        sender.close(1)
        sender.send(started()[1:2])
        assert sender.close(1) == Delivery(sent=1, unsent=1, reason="it came after the end of the run")


def late(heard: Heard) -> Answer:
    """Thirty seconds late, or when the test is over."""
    heard.gone.wait(30)
    return 201, ""


@contextmanager
def misbehaving(manners: Callable[[socket.socket, bytes], None]) -> Iterator[str]:
    with rude(manners) as heard:
        yield heard.url


BROKEN = {
    "refused": nobody,
    "hanging": hanging,
    "slow by 30 s": lambda: answering(late),
    "500": lambda: answering(lambda _: (500, "<html>")),
    "503": lambda: answering(lambda _: (503, "")),
    "429": lambda: answering(lambda _: (429, "")),
    "resetting": lambda: misbehaving(resetting),
    "closing mid-answer": lambda: misbehaving(closing_mid_answer),
}


@pytest.mark.parametrize("way", BROKEN)
def test_a_broken_receiver_costs_a_short_run_two_seconds_at_most_and_each_event_is_counted(way: str) -> None:
    with BROKEN[way]() as url:
        sender = Sender(HttpTransport(url))
        before = monotonic()
        sender.send(started())
        sender.send(ended())
        assert monotonic() - before < 0.2
        delivery, seconds = closed(sender)
    assert (delivery.sent, delivery.unsent, delivery.rejected) == (0, 14, 0)
    assert delivery.reason
    assert seconds < 3


@pytest.mark.parametrize("way", BROKEN)
def test_a_broken_receiver_costs_a_long_run_no_more_than_its_share(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour would allow three minutes; a receiver that has not kept its promise by then gets half a second."""
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)
    with BROKEN[way]() as url:
        sender = Sender(HttpTransport(url))
        sender.send((*started(), *ended()))
        delivery, seconds = closed(sender, 3600.0)
    assert (delivery.sent, delivery.unsent, delivery.rejected) == (0, 14, 0)
    assert seconds < 1.5


def test_a_receiver_that_comes_up_during_the_run_gets_everything_once_and_in_order() -> None:
    url = refusing()
    sender = Sender(HttpTransport(url))
    sender.send(started())
    with receiver(ok, port=int(url.rpartition(":")[2])) as heard:
        poll(lambda: len(heard.events) == 7)
        delivery, _ = closed(sender)
    assert delivery == Delivery(sent=7)
    assert heard.bodies == [event.body.encode() for event in started()]


def test_a_receiver_that_goes_down_and_comes_back_misses_nothing_and_hears_nothing_twice() -> None:
    with receiver(ok) as first:
        sender = Sender(HttpTransport(first.url))
        sender.send(started()[:3])
        poll(lambda: len(first.events) == 3)
    sender.send((*started()[3:], *ended()))
    with receiver(ok, port=int(first.url.rpartition(":")[2])) as second:
        poll(lambda: len(second.events) == 11)
        delivery, _ = closed(sender)
    assert delivery == Delivery(sent=14)
    assert first.bodies + second.bodies == [event.body.encode() for event in (*started(), *ended())]


def test_what_arrived_before_a_receiver_broke_is_counted_as_sent() -> None:
    """The fifth answer and all after it never come."""

    def tires(heard: Heard) -> Answer:
        if len(heard.events) > 4:
            heard.gone.wait(30)
        return 201, ""

    with receiver(tires) as heard:
        sender = Sender(HttpTransport(heard.url))
        sender.send((*started(), *ended()))
        poll(lambda: len(heard.events) == 5)
        delivery, seconds = closed(sender)
    assert (delivery.sent, delivery.unsent, delivery.rejected) == (4, 10, 0)
    assert seconds < 3


def test_a_dead_receiver_keeps_nothing_from_a_live_one_and_the_event_counts_as_not_sent() -> None:
    with receiver(ok) as heard, hanging() as dead:
        sender = Sender(HttpTransport(heard.url), HttpTransport(dead))
        sender.send((*started(), *ended()))
        poll(lambda: len(heard.events) == 14)
        delivery, seconds = closed(sender)
    assert (delivery.sent, delivery.unsent, delivery.rejected) == (0, 14, 0)
    assert delivery.reason == "the receiver did not answer in time"
    assert seconds < 3


def test_an_event_that_one_receiver_refuses_counts_as_rejected() -> None:
    first = str(started()[0].lineage_run_id)

    def choosy(heard: Heard) -> Answer:
        return (422, "") if heard.events[-1]["run"]["runId"] == first else (201, "")

    with receiver(ok) as easy, receiver(choosy) as hard:
        sender = Sender(HttpTransport(easy.url), HttpTransport(hard.url))
        sender.send((*started(), *ended()))
        delivery, _ = closed(sender)
    assert (delivery.sent, delivery.unsent, delivery.rejected, delivery.reason) == (12, 0, 2, "HTTP 422")
    assert len(easy.events) == 14


def test_lineage_that_is_off_says_so_and_alarms_nobody() -> None:
    sender = Sender(nobody="OPENLINEAGE_DISABLED is true", is_off=True)
    sender.send(started())
    delivery, _ = closed(sender)
    assert delivery == Delivery(unsent=7, reason="OPENLINEAGE_DISABLED is true", is_off=True)
    assert delivery.text == ("Lineage: off (OPENLINEAGE_DISABLED is true). All is on record in Dagster's event log.")
