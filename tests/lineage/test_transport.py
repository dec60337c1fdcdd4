"""One event, one POST: what an answer means, and which way it goes."""

from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path

import pytest
from pydantic import SecretStr

from lineage_assets.lineage.http_receiver import HttpReceiver
from lineage_assets.lineage.transport import HttpTransport, RejectedError, UndeliveredError
from tests.lineage.certificates import certificates
from tests.lineage.receivers import receiver, refusing


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_reached_without_the_proxy_for_the_world(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, refusing())
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with receiver(lambda _: (201, "")) as heard:
        transport = HttpTransport(heard.url.replace("127.0.0.1", host))
        transport.emit('{"a": 1}')
        transport.close()
    assert heard.events == [{"a": 1}]


@pytest.mark.parametrize(
    ("status", "body", "raised"),
    [
        (500, "<html>", UndeliveredError),
        (500, "[]", UndeliveredError),
        (500, '{"code": 500}', UndeliveredError),
        (502, "", UndeliveredError),
        (429, "", UndeliveredError),
        (500, '{"code": 400, "message": "x"}', RejectedError),
        (400, "<html>", RejectedError),
        (413, "", RejectedError),
        (422, "", RejectedError),
        *((status, "", UndeliveredError) for status in (301, 302, 307, 308, 401, 403, 404, 407, 408)),
    ],
)
def test_an_answer_says_whether_another_try_may_do(status: int, body: str, raised: type[Exception]) -> None:
    with receiver(lambda _: (status, body)) as heard:
        transport = HttpTransport(heard.url)
        with pytest.raises(raised, match=f"HTTP {status}") as told:
            transport.emit("{}")
        transport.close()
    assert getattr(told.value, "is_answer", True)


def sent(receiver_of: HttpReceiver, bearer: str | None = None) -> None:
    transport = HttpTransport(receiver_of, None if bearer is None else lambda: bearer)
    transport.emit('{"a": 1}')
    transport.close()


def test_endpoint_headers_and_key_are_those_that_were_set() -> None:
    with receiver(lambda _: (201, "")) as heard:
        sent(HttpReceiver(f"{heard.url}/base", SecretStr("s3cret"), "in/v2?code=1", headers={"X-Team": "food"}))
    assert heard.paths == ["/base/in/v2?code=1"]
    assert (heard.headers[0]["authorization"], heard.headers[0]["x-team"]) == ("Bearer s3cret", "food")


def test_a_fetched_token_is_shown_as_it_came() -> None:
    with receiver(lambda _: (201, "")) as heard:
        sent(HttpReceiver(heard.url), "Bearer fetched")
    assert heard.headers[0]["authorization"] == "Bearer fetched"


def test_a_token_that_cannot_be_fetched_leaves_the_event_for_another_try() -> None:
    def nobody() -> str:
        raise RuntimeError("the token endpoint is away")

    transport = HttpTransport(HttpReceiver("http://127.0.0.1:1"), nobody)
    with pytest.raises(UndeliveredError, match="the token endpoint is away"):
        transport.emit("{}")
    transport.close()


def test_a_compressed_body_holds_the_same_bytes() -> None:
    with receiver(lambda _: (201, "")) as heard:
        sent(HttpReceiver(heard.url, is_compressed=True))
    assert heard.headers[0]["content-encoding"] == "gzip"
    assert gzip.decompress(heard.bodies[0]) == b'{"a": 1}'


def test_the_password_of_an_address_is_used_and_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with receiver(lambda heard: (201 if len(heard.events) == 1 else 422, "")) as heard:
        transport = HttpTransport(heard.url.replace("//", "//me:hunter2@"))
        transport.emit("{}")
        with pytest.raises(RejectedError) as refused:
            transport.emit("{}")
        transport.close()
    assert heard.headers[0]["authorization"] == "Basic bWU6aHVudGVyMg=="
    assert "hunter2" not in caplog.text + str(refused.value) + transport.url + repr(refused.value)


def test_a_server_of_ones_own_authority_is_believed_and_shown_a_certificate(tmp_path: Path) -> None:
    """Mutual TLS: each side knows only the other's authority."""
    server, client = certificates(tmp_path)
    with receiver(lambda _: (201, ""), tls=server) as heard:
        sent(HttpReceiver(heard.url, tls=client))
        with pytest.raises(UndeliveredError, match=r"(?i)certificate|ssl"):
            sent(HttpReceiver(heard.url))
    assert heard.events == [{"a": 1}]


def test_the_reason_of_an_error_hides_what_looks_like_a_secret() -> None:
    error = UndeliveredError("http://u:hunter2@h", "token=abc123", is_answer=False)
    assert (error.url, error.reason) == ("http://***@h", "token=***")
    assert json.dumps(str(error)).count("***") == 2
