"""Signals are heard whatever handler they meet, and cannot cut short what must be written."""

import os
import signal
import threading

import pytest

from lineage_assets.backfill.interrupts import hearing_signals, not_interrupted

PID = os.getpid()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_a_handler_swallows_is_heard_once(
    ending: signal.Signals,
) -> None:
    before = signal.signal(ending, lambda _number, _frame: None)
    try:
        with hearing_signals() as heard:
            assert not heard.interrupted()
            os.kill(PID, ending)
            assert heard.interrupted()
            assert not heard.interrupted()
    finally:
        signal.signal(ending, before)


def test_other_signals_are_no_interrupt() -> None:
    before = signal.signal(signal.SIGUSR1, lambda _number, _frame: None)
    try:
        with hearing_signals() as heard:
            os.kill(PID, signal.SIGUSR1)
            assert not heard.interrupted()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_ctrl_c_does_not_cut_short_what_must_be_written() -> None:
    with not_interrupted():
        os.kill(PID, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        os.kill(PID, signal.SIGINT)


def test_outside_the_main_thread_there_is_nothing_to_hear_and_nothing_breaks() -> None:
    heard_in_thread: list[bool] = []

    def listen() -> None:
        with hearing_signals() as heard, not_interrupted():
            heard_in_thread.append(heard.interrupted())

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert heard_in_thread == [False]
