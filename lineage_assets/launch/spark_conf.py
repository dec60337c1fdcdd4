"""The Spark settings of a machine's own warehouse, and how settings are read from where Dagster people put them.

Decides no result: what results depend on is held by the session itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lineage_assets.settings import Settings

if TYPE_CHECKING:
    # Its import costs half a second; who has one has paid.
    from dagster_pyspark import LazyPySparkResource

CATALOG = "lake"
MOST_CORES = 4
JARS = "spark.jars"


def local_spark_conf(settings: Settings, jars: Sequence[Path] = ()) -> dict[str, str]:
    """Spark on this machine, and the Iceberg catalog `lake` of the state folder.

    Without jars it can be made before they are there: a launcher adds those that it finds.
    """
    catalog = f"spark.sql.catalog.{CATALOG}"
    database = quote(str(settings.home / "catalog.db"))
    conf = {
        "spark.master": f"local[{min(MOST_CORES, os.cpu_count() or 1)}]",
        "spark.app.name": "lineage_assets",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.warehouse.dir": str(settings.home / "driver" / "spark-warehouse"),
        # A worker that is used again would hold the job modules of an earlier program.
        "spark.python.worker.reuse": "false",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "jdbc",
        f"{catalog}.uri": f"jdbc:sqlite:file:{database}?busy_timeout=30000&journal_mode=WAL",
        f"{catalog}.jdbc.schema-version": "V1",
        # A plain path: Hadoop takes `%20` in an address for part of the name.
        f"{catalog}.warehouse": str(settings.home / "warehouse"),
        # A warm session must see what others publish.
        f"{catalog}.cache-enabled": "false",
    }
    return with_jars(conf, jars)


def with_jars(conf: Mapping[str, str], jars: Sequence[Path]) -> dict[str, str]:
    """These settings with these jars before the user's own; one of the same file name is the user's."""
    own = [jar for jar in conf.get(JARS, "").split(",") if jar]
    named = {jar.rpartition("/")[2] for jar in own}
    all_jars = [*(str(jar) for jar in jars if jar.name not in named), *own]
    return {**conf, JARS: ",".join(all_jars)} if all_jars else dict(conf)


def conf_of(resource: LazyPySparkResource) -> dict[str, str]:
    """The settings of dagster-pyspark's resource, as Spark takes them; Spark itself is not started."""
    from dagster_spark.utils import flatten_dict  # noqa: PLC0415 - as above

    settings = flatten_dict(resource.spark_config)  # type: ignore[no-untyped-call]
    return {key: _as_spark_says(value) for key, value in settings}


def _as_spark_says(value: Any) -> str:  # noqa: ANN401 - the resource takes any
    return str(value).lower() if isinstance(value, bool) else str(value)
