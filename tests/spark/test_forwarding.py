"""Direct mode: Spark's raw events reach a receiver under our lineage run, without secrets and in nobody's way."""

from __future__ import annotations

import json
import logging
import socket
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from lineage_assets.spark import forwarding as forwarding_module
from lineage_assets.spark.forwarding import Receiver, forwarding, secret_values
from lineage_assets.spark.program import Lineage, NamedRun, Program
from tests.launch.driven import until
from tests.lineage.receivers import rude
from tests.support.raw_events import RawEvents, raw_receiver
from tests.support.spark import Lake, days_from, make_program

DAYS = days_from("2021-06-01", 2)
OURS = NamedRun("food_delivery", "example.etl_orders", "11111111-1111-5111-8111-111111111111")
BACKFILL = NamedRun("food_delivery", "example.backfill", "22222222-2222-5222-8222-222222222222")
APPLICATION = Lineage("food_delivery", "example.etl_orders", "33333333-3333-5333-8333-333333333333", OURS, BACKFILL)
KEY = "planted-key-7301"


def make_receiver(kept: RawEvents) -> Receiver:
    return Receiver(f"{kept.url}/api/v1/lineage", {"Authorization": f"Bearer {KEY}"})


def copied(lake: Lake) -> Program:
    lake.write("orders", DAYS)
    program = make_program("copy", DAYS, outputs=(lake.output("copy"),), tables=(lake.reads("orders", DAYS),))
    return replace(program, lineage=APPLICATION)


def follow(lines: Path, kept: RawEvents, *events: dict[str, object], secrets: tuple[str, ...] = ()) -> None:
    """Events that somebody writes while they are followed."""
    with forwarding(lines, make_receiver(kept), APPLICATION, secrets=secrets), lines.open("a", encoding="utf-8") as out:
        for event in events:
            out.write(f"{json.dumps(event)}\n")
    lines.unlink()


@pytest.mark.spark
def test_every_event_of_a_program_arrives_under_our_run_and_the_backfill(lake: Lake) -> None:
    program = copied(lake)
    events_file = lake.folder / f"{APPLICATION.run_id}.ndjson"
    with raw_receiver() as kept:
        with forwarding(events_file, make_receiver(kept), APPLICATION):
            report = lake.run(program)
        written = [json.loads(line) for line in events_file.read_text("utf-8").splitlines()]
        until(lambda: len(kept.bodies) == len(written), "all events to arrive")
    assert [event["eventType"] for event in kept.events] == [event["eventType"] for event in written]
    assert kept.events[-1]["eventType"] == "COMPLETE"
    for event in kept.events:
        parent = event["run"]["facets"]["parent"]
        assert parent["job"] == {"namespace": "food_delivery", "name": "example.etl_orders"}
        assert parent["run"] == {"runId": OURS.run_id}
        assert parent["root"]["job"]["name"] == "example.backfill"
        assert parent["root"]["run"]["runId"] == BACKFILL.run_id
        assert event["run"]["runId"] not in (OURS.run_id, APPLICATION.run_id)
        assert event["job"]["name"] != "example.etl_orders"
        links = [link["name"] for one in event["outputs"] for link in one["facets"]["symlinks"]["identifiers"]]
        assert [f"lake.{link}" for link in links] == [lake.table("copy")] * len(event["outputs"])
    assert kept.keys == {f"Bearer {KEY}"}
    assert KEY not in "".join(kept.bodies)
    assert report.observed.problem is None


@pytest.mark.spark
def test_a_receiver_that_hangs_delays_no_program_and_takes_nothing_from_its_report(lake: Lake) -> None:
    program = copied(lake)
    with raw_receiver(hangs=True) as kept:
        with forwarding(lake.folder / f"{APPLICATION.run_id}.ndjson", make_receiver(kept), APPLICATION):
            report = lake.run(program)
            assert kept.asked.wait(30)
            over = monotonic()
        assert monotonic() - over < 1
        assert kept.bodies == []
    assert report.observed.inputs == (lake.table("orders"),)
    assert report.seconds["listener"] < 5


def test_a_receiver_that_is_down_is_told_of_twice_and_then_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = RawEvents(port=free.getsockname()[1])
    host = f"127.0.0.1:{nobody.port} took no event of Spark's after "

    def told() -> list[str]:
        return [record.getMessage() for record in caplog.records if record.getMessage().startswith(host)]

    with caplog.at_level(logging.WARNING):
        follow(tmp_path / "events", nobody, *({"run": {}} for _ in range(9)))
        until(lambda: "is not sent" in "".join(told()), "it to give up")
    assert len(told()) == 2
    assert KEY not in caplog.text


def test_what_is_left_is_sent_though_the_file_is_gone_by_then(tmp_path: Path) -> None:
    with raw_receiver() as kept:
        follow(tmp_path / "events", kept, {"run": {}, "eventType": "START"}, {"run": {}, "eventType": "COMPLETE"})
        until(lambda: len(kept.bodies) == 2, "both to arrive")
    assert [event["eventType"] for event in kept.events] == ["START", "COMPLETE"]


def test_known_secrets_and_passwords_in_addresses_are_masked(tmp_path: Path) -> None:
    told = {"uri": "jdbc:postgresql://app:x1@db/lake", "text": f'"pa\\"ss-1234" and {KEY}', "run": {}}
    with raw_receiver() as kept:
        follow(tmp_path / "events", kept, {**told, "plain": "ftp://host/a@b"}, secrets=('pa\\"ss-1234',))
        until(lambda: bool(kept.bodies), "it to arrive")
    (event,) = kept.events
    assert (event["uri"], event["text"]) == ("jdbc:postgresql://***@db/lake", '"***" and ***')
    assert event["plain"] == "ftp://host/a@b"


def test_what_the_launcher_knows_to_be_secret_is_masked(tmp_path: Path) -> None:
    with raw_receiver() as kept:
        known, events = replace(make_receiver(kept), secrets=("swordfish-1",)), tmp_path / "events"
        with forwarding(events, known, APPLICATION), events.open("a", encoding="utf-8") as out:
            out.write('{"run": {}, "text": "said swordfish-1"}\n')
        until(lambda: bool(kept.bodies), "it to arrive")
    assert kept.events[0]["text"] == "said ***"


def test_an_answer_that_is_no_http_is_one_failure_and_what_follows_is_sent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answers = iter([b"what?\r\n\r\n", b"HTTP/1.0 201 Created\r\n\r\n"])
    with rude(lambda connection, _: connection.sendall(next(answers))) as heard, caplog.at_level(logging.WARNING):
        events = tmp_path / "events"
        with forwarding(events, Receiver(heard.url), APPLICATION), events.open("a", encoding="utf-8") as out:
            out.write('{"run": {}}\n{"run": {}}\n')
        until(lambda: len(heard.bodies) == 2, "the second one")
    assert [record.getMessage().rpartition(": ")[2].strip() for record in caplog.records] == ["what?"]


def test_a_redirect_is_not_followed_with_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding_module, "MOST_FAILURES", 1)
    with raw_receiver() as kept, raw_receiver() as elsewhere:
        kept.answer = (307, {"Location": f"{elsewhere.url}/api/v1/lineage"})
        follow(tmp_path / "events", kept, {"run": {}})
        until(lambda: bool(kept.bodies), "it to arrive")
        assert elsewhere.bodies == []


def test_settings_with_the_name_of_a_secret_are_known_secrets() -> None:
    conf = [("spark.sql.catalog.lake.jdbc.password", "hunter22"), ("spark.app.name", "orders"), ("x.token", "short")]
    assert secret_values(conf) == ("hunter22",)


def test_what_failed_is_not_told_to_be_complete(tmp_path: Path) -> None:
    told = [("START", "a"), ("FAIL", "a"), ("COMPLETE", "a"), ("COMPLETE", "b")]
    with raw_receiver() as kept:
        follow(tmp_path / "events", kept, *({"eventType": kind, "run": {"runId": run}} for kind, run in told))
        until(lambda: len(kept.bodies) == 3, "all but one to arrive")
    assert [event["eventType"] for event in kept.events] == ["START", "FAIL", "COMPLETE"]
    assert kept.events[-1]["run"]["runId"] == "b"
