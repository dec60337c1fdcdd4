"""The job's code: refused when it is not the bytes that the program was made from, then found by name.

Refuses to know what a job computes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from lineage_assets.spark.program import Program
from lineage_assets.spark.refusal import CodeMismatchError, NoSuchJobError

_ran: WeakKeyDictionary[ModuleType, str] = WeakKeyDictionary()
"""Loaded module to the hash under which it first ran: a file may change under a module that stays loaded."""


def load_job(program: Program) -> Callable[..., Any]:
    """The job's function, from the very bytes that the program names."""
    verify(program.code)
    module_name, _, name = program.function.partition(":")
    try:
        function: Callable[..., Any] = getattr(import_module(module_name), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise NoSuchJobError(program.function) from error
    return function


def verify(code: Mapping[str, str]) -> None:
    """Refuse a module whose source is not the bytes that the program names, or was not when it was loaded."""
    for name, wanted in sorted(code.items()):
        found = source_hash(name)
        if found == wanted:
            found = _ran.setdefault(import_module(name), wanted)
        if found != wanted:
            raise CodeMismatchError(name, wanted=wanted, found=found)


def source_hash(module: str) -> str | None:
    """SHA-256 of the module's source as this process would import it, from a folder or an archive."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return None
    if spec is None or spec.origin is None:
        return None
    read = getattr(spec.loader, "get_data", None)
    return None if read is None else hashlib.sha256(read(spec.origin)).hexdigest()
