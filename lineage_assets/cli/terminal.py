"""What a command prints on, kept apart from what runs inside the process write wherever they like.

Dagster and Spark write to the process's output by file descriptor, and Dagster copies what steps print back to it:
all of that goes to a file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

from rich.console import Console

_UNWRAPPED = 10_000


def console_on(output: TextIO | None = None, *, soft_wrap: bool = False) -> Console:
    """A console on standard output or another; where that is no terminal no line is broken, and no name in it."""
    is_seen = (sys.stdout if output is None else output).isatty()
    return Console(file=output, highlight=False, soft_wrap=soft_wrap, width=None if is_seen else _UNWRAPPED)


@contextmanager
def own_terminal(log: Path) -> Iterator[Console]:
    """A console on what was standard output; standard output and error themselves go to `log` meanwhile."""
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    with ExitStack() as left:
        terminal = left.enter_context(os.fdopen(os.dup(1), "w", encoding="utf-8"))
        kept = left.enter_context(log.open("a", encoding="utf-8"))
        for descriptor in (1, 2):
            before = os.dup(descriptor)
            left.callback(_put_back, before, descriptor)
            os.dup2(kept.fileno(), descriptor)
        yield console_on(terminal)
        sys.stdout.flush()
        sys.stderr.flush()


def _put_back(before: int, descriptor: int) -> None:
    os.dup2(before, descriptor)
    os.close(before)
