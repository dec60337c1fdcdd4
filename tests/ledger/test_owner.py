"""Owners: only of what shares our numbering of processes can be told that it is gone."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from lineage_assets.ledger import owner as owners
from lineage_assets.ledger.owner import is_dead, owner


@pytest.fixture
def ended() -> tuple[int, float]:
    """The number and the start of a process that is gone."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = psutil.Process(process.pid).create_time()
    process.communicate(b"\n")
    return process.pid, started


def test_a_process_of_this_host_is_dead_when_it_is_gone(ended: tuple[int, float]) -> None:
    pid, started = ended
    place = owner().rsplit(":", 2)[0]
    assert not is_dead(owner())
    assert is_dead(f"{place}:{pid}:{started:.0f}")
    assert not is_dead(f"elsewhere:{pid}:{started:.0f}")


def test_of_another_container_with_the_same_host_name_nothing_is_known(
    ended: tuple[int, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid, started = ended
    there = tmp_path / "pid"
    there.touch()
    monkeypatch.setattr(owners, "_PROCESSES", there)
    other = f"{owner().rsplit(':', 2)[0]}:{pid}:{started:.0f}"
    assert is_dead(other)
    monkeypatch.undo()
    assert not is_dead(other)


def test_a_record_that_names_the_host_alone_is_still_understood(
    ended: tuple[int, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid, started = ended
    assert is_dead(f"{socket.gethostname()}:{pid}:{started:.0f}")
    monkeypatch.setattr(owners, "_PROCESSES", tmp_path / "none")
    assert owner().startswith(f"{socket.gethostname()}:")
    assert not is_dead(owner())
