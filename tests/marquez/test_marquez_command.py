"""``lineage-assets marquez`` as a person types it."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage_assets.marquez.process import status

Typed = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def no_given_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENLINEAGE_URL", raising=False)


def test_up_says_where_status_that_it_answers_and_down_that_it_is_gone(typed: Typed, own_home: Path) -> None:
    assert "No lineage server is up" in typed("status")[1]
    code, said = typed("up")
    server = status(own_home)
    assert server is not None
    assert (code, said) == (
        0,
        f"The embedded lineage server (not Marquez) is up: {server.url}, process {server.pid}.\n",
    )
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
    assert f"The lineage server of OPENLINEAGE_URL is used: {url}." in said
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
    assert (code, "It answers, with 1 namespaces." in said) == (0, True)
