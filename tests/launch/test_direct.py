"""Who gets Spark's raw events in direct mode, as it is handed down to where Spark runs."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from lineage_assets.launch.direct import receiver_of_raw_events
from lineage_assets.settings import Settings, load_settings


def settings(**named: object) -> Settings:
    said = {"spark_events": "direct", "openlineage_url": "http://127.0.0.1:5000"}
    return load_settings().model_copy(update={**said, **named})


def told(_: str) -> None:
    raise AssertionError


def test_the_user_in_an_address_is_shown_as_a_header_and_not_in_the_address() -> None:
    found = receiver_of_raw_events(settings(openlineage_url="http://me:hunter%2F2@127.0.0.1:5000/of/us"), warn=told)
    assert found is not None
    assert found["address"] == "http://127.0.0.1:5000/of/us/api/v1/lineage"
    assert found["headers"] == {"Authorization": "Basic bWU6aHVudGVyLzI="}


def test_a_key_is_shown_as_a_token() -> None:
    found = receiver_of_raw_events(settings(openlineage_api_key=SecretStr("hunter22")), warn=told)
    assert found is not None
    assert found["headers"] == {"Authorization": "Bearer hunter22"}


def test_without_an_address_events_are_only_collected_and_that_is_said() -> None:
    said: list[str] = []
    assert receiver_of_raw_events(settings(openlineage_url=None), warn=said.append) is None
    assert ["OPENLINEAGE_URL is not set" in line for line in said] == [True]


def test_who_wants_no_events_sent_gets_none_in_direct_mode_however_it_is_spelled() -> None:
    assert receiver_of_raw_events(settings(openlineage_disabled=" True "), warn=told) is None


def test_an_endpoint_of_ones_own_is_used_else_openlineages() -> None:
    found = [receiver_of_raw_events(settings(openlineage_endpoint=one), warn=told) for one in ("/of/ours/", None)]
    paths = [one["address"].removeprefix("http://127.0.0.1:5000/") for one in found if one is not None]
    assert paths == ["of/ours", "api/v1/lineage"]


def test_what_is_known_to_be_secret_is_handed_down_to_be_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE_PASSWORD", "sword/fish-1")
    found = receiver_of_raw_events(settings(), warn=told)
    assert found is not None
    assert {"sword/fish-1", "sword%2Ffish-1"} <= set(found["secrets"])
