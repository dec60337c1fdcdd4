"""The process behind an attempt: its name in the record, and whether it still lives."""

from __future__ import annotations

import os
import socket

import psutil

OWNER_TAG = "lineage_assets/owner"
"""On a run all of whose steps run in one process: that process."""


def owner() -> str:
    """This process as `host:pid:start`."""
    return f"{socket.gethostname()}:{os.getpid()}:{psutil.Process().create_time():.0f}"


def is_dead(process: str) -> bool:
    """Whether a process of this host is gone; of another host nothing is known, so it is not."""
    host, pid, started = process.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        return bool(abs(psutil.Process(int(pid)).create_time() - float(started)) > 1)
    except psutil.NoSuchProcess:
        return True
