"""The Spark session: the one place that makes one, and what must hold in every session that runs a program.

Everything else is conf that the launcher gives. What the runner needs of it:

- `spark.jars`: the Iceberg runtime, and the OpenLineage listener's jar (not `spark.extraListeners`: the runner
  makes one listener a program); the driver of the catalog's database, when it has one
- `spark.sql.extensions`: `org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions`
- `spark.sql.catalog.<name>`: `org.apache.iceberg.spark.SparkCatalog`, with `.type`, `.uri`, `.warehouse` as the
  catalog wants them, and `.cache-enabled=false`: a warm session must see what others publish
- for a catalog in SQLite: `.type=jdbc`, `.jdbc.schema-version=V1`,
  `.uri=jdbc:sqlite:file:<path>?busy_timeout=30000&journal_mode=WAL`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

HOLDS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Above this many files Spark lists them by a job of its own, which Spark's listener takes for one of ours.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # A count that Iceberg answers from its metadata is a read that the listener does not see.
    "spark.sql.iceberg.aggregate-push-down.enabled": "false",
}
"""What no conf can change: results depend on it."""

DEFAULTS = {
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def session(conf: Mapping[str, str]) -> SparkSession:
    """The session of this process with this conf, made when there is none."""
    builder = SparkSession.builder
    for key, value in {**DEFAULTS, **conf, **HOLDS}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    if str(spark.sparkContext.master).startswith("local"):
        # Else Python workers are whatever `python3` is on PATH. On a cluster the launcher says which Python.
        spark.sparkContext.pythonExec = sys.executable
    return spark


def hold(spark: SparkSession) -> None:
    """Make a session fit for a program, wherever it came from."""
    for key, value in HOLDS.items():
        spark.conf.set(key, value)
