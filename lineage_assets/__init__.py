"""Daily PySpark jobs as Dagster assets, their lineage in Marquez, and exact repair of what broke.

What an author of pipelines needs is offered here by name and imported on first use:
shipping ``lineage_assets.spark`` and a ``jobs.py`` to a cluster must not drag Dagster along.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # What `__getattr__` gives, said to type checkers.
    from lineage_assets.assets.declaration import Pipeline, external, landing, outbox, table
    from lineage_assets.assets.definitions import build_definitions
    from lineage_assets.datasets import Checks
    from lineage_assets.launch.spark_conf import local_spark_conf
    from lineage_assets.launch.submit import SparkSubmit
    from lineage_assets.launch.warm import WarmDriver
    from lineage_assets.partitions import Daily, trailing_days
    from lineage_assets.settings import load_settings

_HOMES = {
    "Checks": "lineage_assets.datasets",
    "Daily": "lineage_assets.partitions",
    "Pipeline": "lineage_assets.assets.declaration",
    "SparkSubmit": "lineage_assets.launch.submit",
    "WarmDriver": "lineage_assets.launch.warm",
    "build_definitions": "lineage_assets.assets.definitions",
    "external": "lineage_assets.assets.declaration",
    "landing": "lineage_assets.assets.declaration",
    "load_settings": "lineage_assets.settings",
    "local_spark_conf": "lineage_assets.launch.spark_conf",
    "outbox": "lineage_assets.assets.declaration",
    "table": "lineage_assets.assets.declaration",
    "trailing_days": "lineage_assets.partitions",
}
"""Public name -> the module that defines it."""

__all__ = [
    "Checks",
    "Daily",
    "Pipeline",
    "SparkSubmit",
    "WarmDriver",
    "build_definitions",
    "external",
    "landing",
    "load_settings",
    "local_spark_conf",
    "outbox",
    "table",
    "trailing_days",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the type of the name asked for
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(home), name)
