"""OpenLineage's transports carry our bytes, and say what became of them. Kafka's library is a stand-in here."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from threading import Event as Signal
from time import monotonic
from typing import Any, ClassVar

import pytest
from openlineage.client.event_v2 import RunEvent
from openlineage.client.serde import Serde
from openlineage.client.transport import Config, Transport

from lineage_assets.lineage.client_transport import ClientTransport, finished_event
from lineage_assets.lineage.configuration import ReceiverConfigurationError, Section
from lineage_assets.lineage.delivery import Delivery
from lineage_assets.lineage.foreground import Audience
from lineage_assets.lineage.outlet import Outlet, open_audience, open_outlets
from lineage_assets.lineage.receiver import ClientReceiver
from lineage_assets.lineage.sender import Sender, sender_for
from lineage_assets.lineage.transport import RejectedError, UndeliveredError
from lineage_assets.redaction import Secrets
from lineage_assets.settings import Settings
from tests.lineage.facts import attempt, projection
from tests.lineage.kafka import Failure, stand_in
from tests.lineage.receivers import receiver, refusing
from tests.lineage.test_receiver import configured, settings
from tests.support.graphs import days

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
WEEK = days("2021-06-01", "2021-06-07")
EVENTS = projection().started([attempt(WEEK)], WEEK)
BODY = EVENTS[0].body


def made(**options: object) -> ClientTransport:
    return ClientTransport(ClientReceiver(str(options["type"]), Section(options, ("transport",), "a test")))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_an_event_becomes_an_object_and_the_same_bytes_again(path: Path) -> None:
    for event in json.loads(path.read_text("utf-8")):
        body = json.dumps(event, sort_keys=True)
        assert Serde.to_json(finished_event(body)) == body


@pytest.mark.parametrize("has_root", [True, False])
def test_so_does_one_with_a_parent(*, has_root: bool) -> None:
    one = {
        "run": {"runId": "6d5a6d0e-9d3b-5f1c-8a55-3f1a2b3c4d5e", "facets": {}},
        "job": {"name": "example", "namespace": "food", "facets": {}},
    }
    schema = "https://openlineage.io/spec/facets/1-0-1/ParentRunFacet.json#/$defs/ParentRunFacet"
    event = json.loads(BODY)
    event["run"]["facets"]["parent"] = {**one, "_producer": "https://p", "_schemaURL": schema}
    if has_root:
        event["run"]["facets"]["parent"]["root"] = one
    body = json.dumps(event, sort_keys=True)
    assert Serde.to_json(finished_event(body)) == body


def test_a_file_gets_each_event_as_a_line(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    sender = sender_for(configured(tmp_path, {"type": "file", "log_file_path": str(file), "append": True}))
    sender.send(EVENTS)
    assert sender.close(1).sent == 7
    assert file.read_text("utf-8").splitlines() == [event.body for event in EVENTS]


def test_a_file_that_cannot_be_written_leaves_the_event_for_another_try(tmp_path: Path) -> None:
    transport = made(type="file", log_file_path=str(tmp_path / "none" / "events"))
    with pytest.raises(UndeliveredError, match="No such file or directory"):
        transport.emit(BODY)
    transport.close()


class KeepingTransport(Transport):
    """Somebody's own."""

    kind = "keeping"
    config_class = Config
    kept: ClassVar[list[object]] = []
    error: ClassVar[Exception | None] = None

    def __init__(self, config: Config) -> None:
        self.config = config

    def emit(self, event: object) -> None:
        if self.error is not None:
            raise self.error
        self.kept.append(event)


def own(monkeypatch: pytest.MonkeyPatch, error: Exception | None = None) -> str:
    monkeypatch.setattr(KeepingTransport, "kept", [])
    monkeypatch.setattr(KeepingTransport, "error", error)
    monkeypatch.setattr("openlineage.client.transport.factory.import_from_string", lambda _: KeepingTransport)
    return "somebody.KeepingTransport"


def test_a_class_of_somebodys_gets_the_event_as_openlineage_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = made(type=own(monkeypatch))
    transport.emit(BODY)
    transport.close()
    (event,) = KeepingTransport.kept
    assert isinstance(event, RunEvent)
    assert Serde.to_json(event) == BODY


@pytest.mark.parametrize(("error", "is_answer"), [(ValueError("no"), True), (ConnectionError("away"), False)])
def test_what_a_class_of_somebodys_raises_is_an_event_not_delivered(
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_answer: bool,
) -> None:
    transport = made(type=own(monkeypatch, error))
    with pytest.raises(UndeliveredError, match=str(error)) as raised:
        transport.emit(BODY)
    assert raised.value.is_answer is is_answer


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"type": "file"}, "log_file_path"),
        ({"type": "no.such.Transport"}, "Failed to import no.such.Transport"),
        ({"type": "pathlib.Path"}, "subclass of Transport"),
        ({"type": "transform"}, "transport"),
    ],
)
def test_what_a_transport_does_not_like_is_said_once_and_raised_by_no_run(
    options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    broken = configured(tmp_path, options)
    with pytest.raises(ReceiverConfigurationError, match=reason):
        open_outlets(broken)
    sender = sender_for(broken)
    sender.send(EVENTS)
    assert sender.close(1).unsent == 7


KAFKA: dict[str, Any] = {"type": "kafka", "topic": "lineage", "config": {"bootstrap.servers": "b:9092"}}


def test_kafka_gets_the_same_bytes_with_the_job_as_key(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = stand_in(monkeypatch)
    transport = made(**KAFKA)
    transport.emit(BODY)
    transport.close()
    assert broker.config == KAFKA["config"]
    job = json.loads(BODY)["job"]
    assert broker.taken == [
        {"topic": "lineage", "key": f"run:{job['namespace']}/{job['name']}", "value": BODY.encode()}
    ]


def test_kafka_is_waited_for_but_not_for_ever_and_what_it_did_not_take_is_sent_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first message stays in the buffer, is taken out of it, and its end is not taken for that of the second."""
    broker = stand_in(monkeypatch, "")
    transport = made(**KAFKA)
    with pytest.raises(UndeliveredError, match="no broker took it within 10 s") as raised:
        transport.emit(BODY)
    assert raised.value.is_answer is False
    transport.emit(BODY)
    assert [message["value"] for message in broker.taken] == [BODY.encode()]
    assert broker.waits == [10, 10]


@pytest.mark.parametrize(
    ("name", "raised", "is_answer"),
    [
        ("MSG_SIZE_TOO_LARGE", RejectedError, None),
        ("TOPIC_AUTHORIZATION_FAILED", UndeliveredError, True),
        ("CLUSTER_AUTHORIZATION_FAILED", UndeliveredError, True),
        ("NOT_ENOUGH_REPLICAS", UndeliveredError, True),
        ("_MSG_TIMED_OUT", UndeliveredError, False),
    ],
)
@pytest.mark.parametrize("flush", [True, False])
def test_what_kafka_says_of_a_message_is_heard(
    name: str,
    raised: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_answer: bool | None,
    flush: bool,
) -> None:
    stand_in(monkeypatch, name)
    transport = made(**KAFKA, flush=flush)
    with pytest.raises(raised, match=f"{name}: a sentence of Kafka's") as failure:
        transport.emit(BODY)
    assert getattr(failure.value, "is_answer", None) is is_answer


@pytest.mark.parametrize(
    ("refusal", "raised", "reason"),
    [
        (RuntimeError(Failure("MSG_SIZE_TOO_LARGE")), RejectedError, "MSG_SIZE_TOO_LARGE"),
        (RuntimeError(Failure("_STATE")), UndeliveredError, "_STATE"),
        (BufferError("the queue is full"), UndeliveredError, "the queue is full"),
    ],
)
def test_a_message_that_kafkas_library_does_not_even_take_is_told_of_as_well(
    refusal: Exception, raised: type[Exception], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch).refusal = refusal
    with pytest.raises(raised, match=reason):
        made(**KAFKA).emit(BODY)


def test_kafka_without_its_library_is_refused_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_assets.lineage.client_transport.find_spec", lambda _: None)
    with pytest.raises(ReceiverConfigurationError, match=r"pip install 'lineage-assets\[kafka\]'"):
        made(**KAFKA)


def both(tmp_path: Path, url: str, **options: object) -> tuple[Settings, Path]:
    file = tmp_path / "events.jsonl"
    members = {
        "marquez": {"type": "http", "url": url},
        "kept": {"type": "file", "log_file_path": str(file), "append": True},
    }
    return configured(tmp_path, {"type": "composite", "transports": members, **options}), file


def test_http_and_a_file_get_the_same_bytes(tmp_path: Path) -> None:
    with receiver(lambda _: (201, "")) as heard:
        named, file = both(tmp_path, heard.url)
        sender = sender_for(named)
        sender.send(EVENTS)
        assert sender.close(1).sent == 7
    assert heard.bodies == [event.body.encode() for event in EVENTS]
    assert file.read_text("utf-8").splitlines() == [event.body for event in EVENTS]


def test_a_file_gets_everything_while_the_server_beside_it_is_down(tmp_path: Path) -> None:
    named, file = both(tmp_path, refusing())
    sender = sender_for(named)
    sender.send(EVENTS)
    delivery = sender.close(1)
    assert (delivery.sent, delivery.unsent) == (0, 7)
    assert len(file.read_text("utf-8").splitlines()) == 7


def test_the_second_takes_over_when_one_is_enough(tmp_path: Path) -> None:
    named, file = both(tmp_path, refusing(), continue_on_success=False)
    sender = sender_for(named)
    sender.send(EVENTS)
    assert sender.close(1).sent == 7
    assert len(file.read_text("utf-8").splitlines()) == 7
    with receiver(lambda _: (201, "")) as heard:
        named, _ = both(tmp_path, heard.url, continue_on_success=False)
        sender = sender_for(named)
        sender.send(EVENTS)
        assert sender.close(1).sent == 7
    assert len(heard.events) == len(file.read_text("utf-8").splitlines()) == 7


def test_nobody_behind_one_that_failed_is_tried_when_that_is_wanted(tmp_path: Path) -> None:
    named, file = both(tmp_path, refusing(), continue_on_failure=False)
    sender = sender_for(named)
    sender.send(EVENTS)
    assert sender.close(1).unsent == 7
    assert not file.exists()


def test_who_waits_delivers_to_all_and_another_try_doubles_nothing(tmp_path: Path) -> None:
    with receiver(lambda heard: (503 if len(heard.events) == 1 else 201, "")) as heard:
        named, file = both(tmp_path, heard.url)
        audience = open_audience(named)
        assert isinstance(audience, Audience)
        assert audience.send(EVENTS) == Delivery(sent=7)
        audience.close()
    assert len(heard.events) == 8
    assert file.read_text("utf-8").splitlines() == [event.body for event in EVENTS]
    assert open_audience(settings(tmp_path)) is None


def test_a_token_is_fetched_and_kept(tmp_path: Path) -> None:
    with (
        receiver(lambda _: (201, "")) as heard,
        receiver(lambda _: (200, '{"access_token": "fetched-one", "expires_in": 3600}'), reads_json=False) as issuer,
    ):
        auth = {"type": "oauth2", "clientId": "me", "clientSecret": "hunter2-9", "tokenEndpoint": issuer.url}
        sender = sender_for(configured(tmp_path, {"type": "http", "url": heard.url, "auth": auth}))
        sender.send(EVENTS)
        assert sender.close(1).sent == 7
    assert {headers["authorization"] for headers in heard.headers} == {"Bearer fetched-one"}
    assert issuer.bodies == [b"grant_type=client_credentials"]


def test_nothing_writes_to_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenLineage's client would copy the address and the key into variables of its own."""
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "hunter2-9")
    before = dict(os.environ)
    named, _ = both(tmp_path, refusing())
    open_outlets(named)
    assert dict(os.environ) == before


def test_a_planted_secret_leaves_by_no_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the event by its name, by its looks, and by value: from the environment and from the configuration."""
    monkeypatch.setenv("WAREHOUSE_PASSWORD", "swordfish-1")
    event = json.loads(BODY)
    said = "swordfish-1 and hunter2-9 in jdbc:mysql://u:letmein@h, key AKIAIOSFODNN7EXAMPLE, password=opensesame"
    event["run"]["facets"]["errorMessage"] = {"message": said, "apiKey": "shibboleth"}
    with receiver(lambda _: (201, "")) as heard:
        file = tmp_path / "events.jsonl"
        members = [
            {"type": "http", "url": heard.url, "auth": {"type": "api_key", "apiKey": "hunter2-9"}},
            {"type": "file", "log_file_path": str(file), "append": True},
        ]
        outlets = open_outlets(configured(tmp_path, {"type": "composite", "transports": members}))
        assert isinstance(outlets, tuple)
        for outlet in outlets:
            outlet.emit(json.dumps(event, sort_keys=True))
            outlet.close()
    (left,) = heard.bodies
    assert file.read_bytes() == left + b"\n"
    assert json.loads(left)["run"]["facets"]["errorMessage"] == {
        "message": "*** and *** in jdbc:mysql://***@h, key ***, password=***",
        "apiKey": "***",
    }
    assert heard.headers[0]["authorization"] == "Bearer hunter2-9"


def test_a_mistake_of_ours_on_the_way_out_costs_one_run_and_not_the_others() -> None:
    """An event that is no JSON, and another one behind it."""

    class Deaf:
        def emit(self, body: str) -> None:
            json.loads(body)

        def close(self) -> None: ...

    sender = Sender(Outlet(Deaf(), Secrets()))
    sender.send([replace(EVENTS[0], body="token"), EVENTS[1]])
    signal = Signal()
    end = monotonic() + 10
    while sender._carriers[0]._fates[1] is None:
        assert monotonic() < end
        signal.wait(0.01)
    delivery = sender.close(1)
    assert (delivery.sent, delivery.unsent, delivery.rejected) == (1, 1, 0)
    assert delivery.reason == "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"


def test_what_is_said_of_a_failure_shows_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE_PASSWORD", "swordfish-1")
    named = configured(tmp_path, {"type": own(monkeypatch, ValueError("with swordfish-1 and token=abc"))})
    sender = sender_for(named)
    sender.send(EVENTS[:1])
    assert sender.close(1).reason == "with *** and token=***"
