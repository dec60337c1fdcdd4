"""One OpenLineage listener for one program, in a session that may be warm.

Watches only what is done inside `listening`. Whatever is wrong with it, the program goes on: then nothing was observed,
and the reason is said. Refuses to know what the events mean.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lineage_assets.spark.jvm import java_context, java_session, packages
from lineage_assets.spark.program import Lineage

_log = logging.getLogger(__name__)

_DRAIN_MILLISECONDS = 60_000
_READS = tuple(
    f"org.apache.spark.sql.catalyst.plans.logical.{node}" for node in ("Aggregate", "Project", "Repartition")
)
"""What a job that only looks at a table ends with, and the listener leaves out unless it is told otherwise."""
_JDBC_CATALOG = re.compile(r"^spark\.sql\.catalog\.([^.=]+)\.type=jdbc$", re.MULTILINE)


@dataclass
class Heard:
    """What a listener wrote; complete once `listening` has ended."""

    events: list[dict[str, Any]] = field(default_factory=list)
    problem: str | None = None
    """Why there are no events."""
    seconds: float = 0.0
    """What attaching, draining and reading took."""


@contextmanager
def listening(spark: SparkSession, lineage: Lineage, events_file: Path) -> Iterator[Heard]:
    """Listen to what Spark does until the end of the block; programs are served one at a time, so it is ours."""
    heard = Heard()
    began = time.perf_counter()
    start = events_file.stat().st_size if events_file.exists() else 0
    listener = _attached(spark, _conf(lineage, events_file), heard)
    heard.seconds = time.perf_counter() - began
    try:
        with _jdbc_catalogs_hidden(spark):
            try:
                yield heard
            finally:
                ended = time.perf_counter()
                _detach(spark, listener, heard)
    finally:
        _read(events_file, start, heard)
        heard.seconds += time.perf_counter() - ended


def _conf(lineage: Lineage, events_file: Path) -> dict[str, str]:
    above = {"parent": lineage.parent, "rootParent": lineage.root if lineage.root is not None else lineage.parent}
    named = {
        f"spark.openlineage.{kind}{part}": value
        for kind, run in above.items()
        if run is not None
        for part, value in (("JobNamespace", run.namespace), ("JobName", run.job), ("RunId", run.run_id))
    }
    return {
        **named,
        "spark.openlineage.namespace": lineage.namespace,
        "spark.openlineage.appName": lineage.job,
        "spark.openlineage.applicationRunId": lineage.run_id,
        "spark.openlineage.columnLineage.datasetLineageEnabled": "true",
        "spark.openlineage.filter.allowedSparkNodes": f"[{';'.join(_READS)}]",
        "spark.openlineage.facets.spark_properties.disabled": "true",
        "spark.openlineage.facets.environment-properties.disabled": "true",
        "spark.openlineage.transport.type": "file",
        "spark.openlineage.transport.location": str(events_file),
    }


def _attached(spark: SparkSession, conf: dict[str, str], heard: Heard) -> Any:  # noqa: ANN401 - Java has no types here
    context = java_context(spark)
    copied = context.getConf()
    for key, value in conf.items():
        copied.set(key, value)
    try:
        # What is still on its way belongs to what ran before.
        context.listenerBus().waitUntilEmpty(_DRAIN_MILLISECONDS)
        listener = packages(spark).io.openlineage.spark.agent.OpenLineageSparkListener(copied)
        context.addSparkListener(listener)
    except (Py4JError, TypeError) as error:
        # A class that is not there is a package to py4j, and calling a package is a TypeError.
        _give_up(heard, f"the OpenLineage listener did not start, is its jar in spark.jars? {error}")
        return None
    return listener


def _detach(spark: SparkSession, listener: Any, heard: Heard) -> None:  # noqa: ANN401
    if listener is None:
        return
    context = java_context(spark)
    try:
        context.listenerBus().waitUntilEmpty(_DRAIN_MILLISECONDS)
    except Py4JError as error:
        _give_up(heard, f"Spark's listener bus was not empty after {_DRAIN_MILLISECONDS // 1000} s: {error}")
    finally:
        context.removeSparkListener(listener)


@contextmanager
def _jdbc_catalogs_hidden(spark: SparkSession) -> Iterator[None]:
    """Show the listener JDBC catalogs as Hadoop ones while it listens.

    OpenLineage 1.53 takes a JDBC catalog for Hive, fails on its address and leaves its tables out of every event
    (https://github.com/OpenLineage/OpenLineage/issues/4677). It reads the session's conf; Spark reads that when it
    makes the catalog, which is done first, so nothing else sees the change.
    """
    # As one text: to ask Java for each setting takes longer than all else that is done here.
    catalogs = sorted(set(_JDBC_CATALOG.findall(java_context(spark).getConf().toDebugString())))
    hidden = [key for name in catalogs if _is_jdbc(spark, key := f"spark.sql.catalog.{name}.type", name)]
    for key in hidden:
        spark.conf.set(key, "hadoop")
    try:
        yield
    finally:
        for key in hidden:
            spark.conf.set(key, "jdbc")


def _is_jdbc(spark: SparkSession, key: str, catalog: str) -> bool:
    if spark.conf.get(key, None) != "jdbc":
        return False
    try:
        java_session(spark).sessionState().catalogManager().catalog(catalog)
    except Py4JError as error:
        _log.warning("The catalog %s cannot be opened, so that nothing is observed of it: %s", catalog, error)
        return False
    return True


def _read(events_file: Path, start: int, heard: Heard) -> None:
    if events_file.exists():
        with events_file.open("rb") as lines:
            lines.seek(start)
            heard.events.extend(json.loads(line) for line in lines if line.endswith(b"\n"))
    if not heard.events and heard.problem is None:
        _give_up(heard, f"the OpenLineage listener wrote no events to {events_file}")


def _give_up(heard: Heard, problem: str) -> None:
    heard.problem = problem
    _log.warning("Nothing is observed of this program: %s", problem)
