"""Who receives events: the one that was named, else the embedded server of this state folder, else nobody."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest
from pydantic import SecretStr

from lineage_assets.lineage.receiver import Receiver, find_receiver
from lineage_assets.lineage.sender import Sender, sender_for
from lineage_assets.settings import Settings


def settings(home: Path, **named: object) -> Settings:
    return Settings.model_validate({"home": home, "openlineage_url": None, "openlineage_api_key": None, **named})


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
    assert find_receiver(settings(tmp_path)) == Receiver("http://127.0.0.1:5004")


def test_the_server_that_was_named_comes_first_and_alone_gets_the_key(tmp_path: Path) -> None:
    state_file(tmp_path)
    named = settings(tmp_path, openlineage_url="https://marquez.example.com/", openlineage_api_key="s3cret")
    assert find_receiver(named) == Receiver("https://marquez.example.com", SecretStr("s3cret"))
    assert find_receiver(settings(tmp_path, openlineage_api_key="s3cret")) == Receiver("http://127.0.0.1:5004")
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
