"""Who receives events: whoever OpenLineage's configuration names, else the embedded server, else nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from pydantic import SecretStr

from lineage_assets.lineage.configuration import ReceiverConfigurationError
from lineage_assets.lineage.delivery import Delivery
from lineage_assets.lineage.http_receiver import HttpReceiver, Tls
from lineage_assets.lineage.receiver import (
    ClientReceiver,
    CompositeReceiver,
    Off,
    asked_receiver,
    find_receiver,
    receiver_text,
)
from lineage_assets.lineage.sender import Sender, sender_for
from lineage_assets.settings import Settings, load_settings
from tests.lineage.facts import attempt, projection
from tests.support.graphs import days

WEEK = days("2021-06-01", "2021-06-07")


def settings(home: Path, **named: object) -> Settings:
    return Settings.model_validate({"home": home, "openlineage_url": None, "openlineage_api_key": None, **named})


def configured(home: Path, transport: object, **named: object) -> Settings:
    """Settings with a configuration file that has this transport."""
    home.mkdir(exist_ok=True)
    file = home / "openlineage.yml"
    file.write_text(yaml.safe_dump({"transport": transport}, sort_keys=False), encoding="utf-8")
    return settings(home, openlineage_config=file, **named)


def state_file(home: Path, **overrides: object) -> Path:
    """What the embedded server writes down, had this process started it."""
    me = psutil.Process()
    said = {"url": "http://127.0.0.1:5004", "pid": me.pid, "started": me.create_time(), "version": "0.1.0", **overrides}
    path = home / "marquez" / "server.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


def test_the_embedded_server_is_found_by_its_state_file(tmp_path: Path) -> None:
    state_file(tmp_path)
    assert find_receiver(settings(tmp_path)) == HttpReceiver("http://127.0.0.1:5004")


def test_the_server_that_was_named_comes_first_and_alone_gets_the_key(tmp_path: Path) -> None:
    state_file(tmp_path)
    named = settings(tmp_path, openlineage_url="https://marquez.example.com/", openlineage_api_key="s3cret")
    assert find_receiver(named) == HttpReceiver("https://marquez.example.com", SecretStr("s3cret"))
    assert find_receiver(settings(tmp_path, openlineage_api_key="s3cret")) == HttpReceiver("http://127.0.0.1:5004")
    assert "s3cret" not in repr(find_receiver(named))


@pytest.mark.parametrize("overrides", [{"pid": 2**22 + 1}, {"started": 1.0}, {"url": None, "pid": "?"}])
def test_the_state_file_of_a_dead_server_names_nobody(tmp_path: Path, overrides: dict[str, object]) -> None:
    state_file(tmp_path, **overrides)
    assert find_receiver(settings(tmp_path)) is None


def test_a_state_file_cut_off_names_nobody(tmp_path: Path) -> None:
    state_file(tmp_path).write_text('{"url": "http', encoding="utf-8")
    assert find_receiver(settings(tmp_path)) is None


def test_without_any_receiver_a_sender_counts_and_waits_for_nothing(tmp_path: Path) -> None:
    sender = sender_for(settings(tmp_path))
    assert isinstance(sender, Sender)
    assert sender.close(1).is_complete


def test_an_address_may_have_an_endpoint_of_its_own(tmp_path: Path) -> None:
    found = find_receiver(settings(tmp_path, openlineage_url="http://h:1", openlineage_endpoint="/in/v2"))
    assert found == HttpReceiver("http://h:1", endpoint="in/v2")


def test_a_file_says_all_that_http_has(tmp_path: Path) -> None:
    certificate = tmp_path / "ca.pem"
    certificate.touch()
    transport = {
        "type": "http",
        "url": "https://lineage.example.com/",
        "endpoint": "api/v2",
        "timeout": 3,
        "verify": True,
        "compression": "gzip",
        "auth": {"type": "api_key", "apiKey": "s3cret-key"},
        "custom_headers": {"X-Team": "food", "X-Auth-Token": "s3cret-header"},
        "sslContext": {"caCertPath": str(certificate), "clientCertPath": str(certificate)},
        "retry": {"total": 5},
    }
    found = find_receiver(configured(tmp_path, transport))
    assert found == HttpReceiver(
        "https://lineage.example.com",
        SecretStr("s3cret-key"),
        "api/v2",
        None,
        {"X-Team": "food", "X-Auth-Token": "s3cret-header"},
        Tls(authorities=certificate, certificate=certificate),
        3.0,
        is_compressed=True,
    )
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize("kind", ["jwt", "oauth2", "my.TokenProvider"])
def test_a_token_that_is_to_be_fetched_is_kept_as_it_was_told(kind: str, tmp_path: Path) -> None:
    auth = {"type": kind, "apiKey": "s3cret", "tokenEndpoint": "https://auth.example.com"}
    found = find_receiver(configured(tmp_path, {"type": "http", "url": "http://h", "auth": auth}))
    assert isinstance(found, HttpReceiver)
    assert (found.api_key, found.tokens) == (None, auth)
    assert "s3cret" not in repr(found)


def test_variables_spell_the_same_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "http")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__URL", "http://h:1")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TIMEOUT", "2.5")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__AUTH__TYPE", "api_key")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__AUTH__APIKEY", "001234567")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__CUSTOM_HEADERS", '{"X-Team": "food"}')
    found = find_receiver(settings(tmp_path))
    # A key of digits is a key, not a number.
    assert found == HttpReceiver("http://h:1", SecretStr("001234567"), headers={"X-Team": "food"}, timeout_seconds=2.5)
    assert "001234567" not in repr(load_settings())


def test_the_file_comes_before_the_variables_and_these_before_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state_file(tmp_path)
    by_address = {"openlineage_url": "http://address"}
    assert find_receiver(settings(tmp_path, **by_address)) == HttpReceiver("http://address")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT", '{"type": "http", "url": "http://variable"}')
    assert find_receiver(settings(tmp_path, **by_address)) == HttpReceiver("http://variable")
    in_file = configured(tmp_path, {"type": "http", "url": "http://file"}, **by_address)
    assert find_receiver(in_file) == HttpReceiver("http://file")


@pytest.mark.parametrize("folder", [".", "project", "home/.openlineage"])
def test_a_file_is_found_at_the_usual_places(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENLINEAGE_CONFIG")
    here = tmp_path / "project" / "here"
    here.mkdir(parents=True)
    (tmp_path / "project" / "workspace.yaml").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(here)
    place = here if folder == "." else tmp_path / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "openlineage.yml").write_text("transport: {type: http, url: 'http://found'}", encoding="utf-8")
    assert find_receiver(settings(tmp_path)) == HttpReceiver("http://found")


def test_a_file_that_tells_of_other_things_configures_no_receiver(tmp_path: Path) -> None:
    state_file(tmp_path)
    file = tmp_path / "openlineage.yml"
    for text in ("", "facets: {environment_variables: [HOME]}", "transport: {}"):
        file.write_text(text, encoding="utf-8")
        found = find_receiver(settings(tmp_path, openlineage_config=file))
        assert found == HttpReceiver("http://127.0.0.1:5004")


@pytest.mark.parametrize("kind", ["file", "kafka", "console", "msk-iam", "my.company.Transport"])
def test_what_openlineage_has_transports_for_is_left_to_them(kind: str, tmp_path: Path) -> None:
    found = find_receiver(configured(tmp_path, {"type": kind, "password": "s3cret"}))
    assert isinstance(found, ClientReceiver)
    assert found.kind == kind
    assert "s3cret" not in repr(found)


def test_a_composite_has_its_members_in_order_and_sleepers_are_left_out(tmp_path: Path) -> None:
    members = {
        "quiet": {"type": "noop"},
        "late": {"type": "http", "url": "http://late", "priority": 1},
        "soon": {"type": "http", "url": "http://soon", "priority": 2},
    }
    transport = {"type": "composite", "sort_transports": True, "continue_on_success": False, "transports": members}
    found = find_receiver(configured(tmp_path, transport))
    assert found == CompositeReceiver(
        (HttpReceiver("http://soon"), HttpReceiver("http://late")), goes_on_after_success=False
    )
    assert receiver_text(found) == "http://soon and http://late"


def test_the_text_of_a_receiver_tells_it_from_others_and_shows_no_password(tmp_path: Path) -> None:
    found = find_receiver(configured(tmp_path, {"type": "console"}))
    assert found is not None
    assert receiver_text(found) == f"console (the file {tmp_path / 'openlineage.yml'})"
    assert receiver_text(HttpReceiver("http://me:hunter2@h")) == "http://***@h"


def test_the_address_joins_a_composite_as_it_does_in_openlineage(tmp_path: Path) -> None:
    one = {"type": "http", "url": "http://other"}
    named = configured(tmp_path, {"type": "composite", "transports": {"other": one}}, openlineage_url="http://address")
    assert find_receiver(named) == CompositeReceiver((HttpReceiver("http://address"), HttpReceiver("http://other")))
    listed = configured(tmp_path, {"type": "composite", "transports": [one]}, openlineage_url="http://address")
    assert find_receiver(listed) == CompositeReceiver((HttpReceiver("http://other"),))


@pytest.mark.parametrize("value", ["true", " TRUE "])
def test_disabled_is_off_whatever_else_is_configured(value: str, tmp_path: Path) -> None:
    off = configured(tmp_path, {"type": "?"}, openlineage_disabled=value)
    assert find_receiver(off) == Off("OPENLINEAGE_DISABLED is true")
    sender = sender_for(off)
    sender.send(())
    assert sender.close(1) == Delivery(is_off=True)


def test_a_receiver_shown_for_debugging_shows_no_password() -> None:
    assert "hunter2" not in repr(HttpReceiver("http://me:hunter2@h", SecretStr("hunter2")))


def test_a_noop_transport_is_off(tmp_path: Path) -> None:
    assert isinstance(find_receiver(configured(tmp_path, {"type": "noop"})), Off)
    assert isinstance(find_receiver(configured(tmp_path, {"type": "composite", "transports": [{"type": "noop"}]})), Off)


def test_questions_go_to_the_address_else_to_the_first_that_has_one(tmp_path: Path) -> None:
    http = {"type": "http", "url": "http://second"}
    mixed = {"type": "composite", "transports": [{"type": "console"}, http]}
    assert asked_receiver(configured(tmp_path, mixed)) == HttpReceiver("http://second")
    assert asked_receiver(configured(tmp_path, mixed, openlineage_url="http://asked")) == HttpReceiver("http://asked")
    assert asked_receiver(configured(tmp_path, {"type": "console"})) is None


BAD: list[tuple[Any, str, str]] = [
    ({"url": "http://h"}, "transport.type", "a transport has a type"),
    ({"type": "htpp"}, "transport.type", 'Did you mean "http"?'),
    ({"type": 5}, "transport.type", "it is no text"),
    ("http", "transport", "it holds no keys and values"),
    ({"type": "http"}, "transport.url", "no http:// or https:// address"),
    ({"type": "http", "url": "localhost:5000"}, "transport.url", "no http:// or https:// address"),
    ({"type": "http", "url": "http://h:x"}, "transport.url", "no http:// or https:// address"),
    ({"type": "http", "url": "http://h", "timeout": "soon"}, "transport.timeout", "no number of seconds"),
    ({"type": "http", "url": "http://h", "timeout": 0}, "transport.timeout", "no number of seconds"),
    ({"type": "http", "url": "http://h", "verify": "perhaps"}, "transport.verify", "neither true nor false"),
    ({"type": "http", "url": "http://h", "compression": "zip"}, "transport.compression", "only gzip"),
    ({"type": "http", "url": "http://h", "auth": {"apiKey": "k"}}, "transport.auth.type", "how a key is used"),
    ({"type": "http", "url": "http://h", "auth": {"type": "key"}}, "transport.auth.type", "only api_key"),
    ({"type": "http", "url": "http://h", "auth": {"type": "api_key"}}, "transport.auth.apiKey", "there is no key"),
    (
        {"type": "http", "url": "http://h", "auth": {"type": "api_key", "apiKey": "a\nb"}},
        "transport.auth.apiKey",
        "no header can hold it",
    ),
    ({"type": "http", "url": "http://h", "headers": {"X": "é"}}, "transport.custom_headers.X", "no header can hold it"),
    (
        {"type": "http", "url": "http://h", "sslContext": {"caCertPath": "nowhere.pem"}},
        "transport.sslContext.caCertPath",
        "no such file",
    ),
    ({"type": "composite"}, "transport.transports", "it lists no transports"),
    ({"type": "composite", "transports": ["http"]}, "transport.transports.0", "it holds no keys and values"),
    ({"type": "composite", "transports": {"a": {"type": "http"}}}, "transport.transports.a.url", "no http://"),
]


@pytest.mark.parametrize(("transport", "key", "reason"), BAD)
def test_what_cannot_be_meant_is_refused_by_file_and_key(
    transport: object, key: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(ReceiverConfigurationError) as refused:
        find_receiver(configured(tmp_path, transport))
    assert (refused.value.key, refused.value.place) == (key, f"the file {tmp_path / 'openlineage.yml'}")
    assert reason in str(refused.value)


def test_a_run_goes_on_without_a_receiver_that_cannot_be_meant_and_says_why(tmp_path: Path) -> None:
    """Law 9: who broke the configuration while the daemon is up has broken no run."""
    sender = sender_for(configured(tmp_path, {"type": "http", "url": "nowhere"}))
    sender.send(projection().started([attempt(WEEK)], WEEK))
    delivery = sender.close(1)
    assert (delivery.sent, delivery.unsent, delivery.rejected) == (0, 7, 0)
    assert delivery.text == (
        "Lineage: of this run's events 7 not sent "
        f'(transport.url="nowhere" in the file {tmp_path / "openlineage.yml"}: '
        "it is no http:// or https:// address). "
        "The reconciling sensor sends the rest, or `lineage-assets lineage flush` does."
    )


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReceiverConfigurationError, match=r"OPENLINEAGE_CONFIG.*no such file"):
        find_receiver(settings(tmp_path, openlineage_config=tmp_path / "none.yml"))


@pytest.mark.parametrize("text", ["transport: {apiKey: hunter2", "- hunter2", "apiKey: hunter2\n\tx: y", "\x00hunter2"])
def test_a_file_that_is_no_configuration_is_refused_without_being_quoted(text: str, tmp_path: Path) -> None:
    file = tmp_path / "openlineage.yml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ReceiverConfigurationError) as refused:
        find_receiver(settings(tmp_path, openlineage_config=file))
    assert str(file) in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_the_line_end_behind_a_key_is_no_part_of_it(tmp_path: Path) -> None:
    named = settings(tmp_path, openlineage_url="http://h", openlineage_api_key="s3cret\n")
    assert find_receiver(named) == HttpReceiver("http://h", SecretStr("s3cret"))


def test_a_refused_value_is_not_shown_when_it_is_a_secret(tmp_path: Path) -> None:
    bad = {"type": "http", "url": "ftp://me:hunter2@h"}
    with pytest.raises(ReceiverConfigurationError) as refused:
        find_receiver(configured(tmp_path, bad))
    assert "ftp://***@h" in str(refused.value)
    bad = {"type": "http", "url": "http://h", "auth": {"type": "api_key", "apiKey": {"x": "hunter2"}}}
    found = find_receiver(configured(tmp_path, bad))
    assert "hunter2" not in repr(found)
