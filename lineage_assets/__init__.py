"""Daily PySpark jobs as Dagster assets, their lineage in Marquez, and exact repair of what broke.

What an author of pipelines needs is offered here by name and imported on first use:
shipping ``lineage_assets.spark`` and a ``jobs.py`` to a cluster must not drag Dagster along.
"""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {}
"""Public name -> the module that defines it."""

__all__ = sorted(_HOMES)  # noqa: PLE0605 - one list of names, not two


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the type of the name asked for
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(home), name)
