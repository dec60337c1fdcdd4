"""One event, one POST: what an answer means, and which way it goes."""

from __future__ import annotations

import pytest

from lineage_assets.lineage.sender import sender_for
from lineage_assets.lineage.transport import HttpTransport, RejectedError, UndeliveredError
from lineage_assets.settings import Settings
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
        (404, "", RejectedError),
    ],
)
def test_an_answer_says_whether_another_try_may_do(status: int, body: str, raised: type[Exception]) -> None:
    with receiver(lambda _: (status, body)) as heard:
        transport = HttpTransport(heard.url)
        with pytest.raises(raised, match=f"HTTP {status}"):
            transport.emit("{}")
        transport.close()


def test_the_server_and_key_of_the_settings_are_used() -> None:
    with receiver(lambda _: (201, "")) as heard:
        named = Settings.model_validate({"openlineage_url": heard.url, "openlineage_api_key": "s3cret"})
        transport = sender_for(named)._transport
        assert isinstance(transport, HttpTransport)
        transport.emit("{}")
        transport.close()
    assert heard.headers[0]["authorization"] == "Bearer s3cret"
