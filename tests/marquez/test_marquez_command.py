"""``lineage-assets marquez`` as a person types it."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage_assets.lineage.sender import NOBODY_THERE
from lineage_assets.marquez.process import status

Typed = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def no_given_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENLINEAGE_URL", raising=False)


def test_up_says_where_status_that_it_answers_and_down_that_it_is_gone(typed: Typed, own_home: Path) -> None:
    code, said = typed("status")
    assert (code, said.splitlines()) == (
        0,
        [f"Events go to nobody: {NOBODY_THERE}.", f"No lineage server of {own_home} is up."],
    )
    code, said = typed("up")
    server = status(own_home)
    assert server is not None
    up_at = f"The embedded lineage server (not Marquez) is up: {server.url}, process {server.pid}."
    assert (code, said.splitlines()) == (0, [up_at, f"Events go to {server.url}."])
    assert "was up already" in typed("up")[1]
    assert f"answers at {server.url}; process {server.pid}, 0 jobs." in typed("status")[1]
    assert typed("down") == (0, f"Stopped process {server.pid} at {server.url}.\n")
    assert typed("down") == (0, "No embedded lineage server was up.\n")


def test_a_taken_port_is_one_paragraph_and_exit_code_2(typed: Typed) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = typed("up", "--port", str(port))
    assert code == 2
    assert said.count("\n") == 1
    assert f"cannot listen on port {port}" in said


def test_with_a_given_server_no_other_is_needed(typed: Typed, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("OPENLINEAGE_URL", url)
    code, said = typed("up")
    assert (code, f"{url}. No other is needed." in said) == (0, True)
    assert status(own_home) is None
    code, said = typed("status")
    assert code == 2
    assert f"Events go to {url}." in said
    assert f"No lineage server answers at {url}" in said


@pytest.mark.usefixtures("own_home")
def test_the_password_of_a_given_server_is_not_shown(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", "http://me:hunter2@127.0.0.1:1")
    for command in ("up", "status"):
        _, said = typed(command)
        assert "http://***@127.0.0.1:1" in said
        assert "hunter2" not in said


def test_a_given_server_that_answers_is_said_to(typed: Typed, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed("up")
    server = status(own_home)
    assert server is not None
    monkeypatch.setenv("OPENLINEAGE_URL", server.url)
    code, said = typed("status")
    assert (code, "OPENLINEAGE_URL answers, with 1 namespace." in said) == (0, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("transport: {type: file, log_file_path: events.jsonl}", "Events go to file (the file {file})."),
        (
            "transport: {type: fil}",
            'Events go to nobody: transport.type="fil" in the file {file}: no such transport is known. Did you mean "f',
        ),
        ("transport: [", "Events go to nobody: the file {file}: no YAML, "),
    ],
)
def test_it_is_said_where_events_go_when_that_is_not_the_server_that_is_up(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    file = tmp_path / "openlineage.yml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("OPENLINEAGE_CONFIG", str(file))
    for command in ("up", "status"):
        code, shown = typed(command)
        assert (code, sum(line.startswith(said.format(file=file)) for line in shown.splitlines())) == (0, 1)
        assert "The embedded lineage server (not Marquez)" in shown
