"""Ctrl-C and SIGTERM while runs go on inside this process: none is missed, and the end is not cut short.

Knows signals only. Dagster turns an interrupt into an exception while a step of a run computes, holds it back between
steps, and forgets it where the run ends before the next step; a run that was interrupted ends as failed, and the
program around it goes on. The wake-up descriptor hears every signal, whatever the handler does with it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_ENDING = frozenset({signal.SIGINT, signal.SIGTERM})


@dataclass(frozen=True, slots=True)
class Heard:
    """The signals that this process has been sent."""

    _descriptor: int | None

    def interrupted(self) -> bool:
        """Whether one of them asked the process to end, since the last time this was asked."""
        if self._descriptor is None:
            return False
        with suppress(BlockingIOError):
            return bool(_ENDING.intersection(os.read(self._descriptor, 1024)))
        return False


@contextmanager
def hearing_signals() -> Iterator[Heard]:
    """Listen; outside the main thread, where Python handles no signals, there is nothing to hear."""
    if threading.current_thread() is not threading.main_thread():
        yield Heard(None)
        return
    ear, mouth = os.pipe()
    os.set_blocking(ear, False)
    os.set_blocking(mouth, False)
    before = signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    try:
        yield Heard(ear)
    finally:
        signal.set_wakeup_fd(before)
        os.close(ear)
        os.close(mouth)


@contextmanager
def not_interrupted() -> Iterator[None]:
    """Let nobody cut short what must be written; a second Ctrl-C is as common as the first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {ending: signal.signal(ending, signal.SIG_IGN) for ending in _ENDING}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)
