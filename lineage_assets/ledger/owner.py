"""The process behind an attempt: its name in the record, and whether it still lives."""

from __future__ import annotations

import os
import socket
from multiprocessing import parent_process
from pathlib import Path

import psutil

OWNER_TAG = "lineage_assets/owner"
"""On a run: the process without which it cannot go on."""


_PROCESSES = Path("/proc/self/ns/pid")
"""Which numbering of processes this one is in; containers with one host name between them have each their own."""


def owner() -> str:
    """This process as `host/numbering:pid:start`, or without the numbering where the system tells none."""
    return _named(os.getpid())


def starter() -> str | None:
    """The process that started this one by `multiprocessing`, as Dagster's executor of that name does each step."""
    parent = parent_process()
    try:
        return None if parent is None or parent.pid is None else _named(parent.pid)
    except psutil.NoSuchProcess:
        return None


def is_dead(process: str) -> bool:
    """Whether a process of this host is gone; of another host, or container, nothing is known, so it is not."""
    place, pid, started = process.rsplit(":", 2)
    if place not in (_place(), socket.gethostname()):  # the record may be of a version that named the host alone
        return False
    try:
        found = psutil.Process(int(pid))
        # One that ended and that its parent has not asked after yet still has its number.
        return bool(abs(found.create_time() - float(started)) > 1) or found.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _named(pid: int) -> str:
    return f"{_place()}:{pid}:{psutil.Process(pid).create_time():.0f}"


def _place() -> str:
    """Where the number of a process means that process."""
    try:
        return f"{socket.gethostname()}/{_PROCESSES.stat().st_ino}"
    except OSError:
        return socket.gethostname()
