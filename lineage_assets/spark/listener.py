"""One OpenLineage listener for one program, in a session that may be warm.

Watches only what is done inside `listening`. Whatever is wrong with it, the program goes on: then nothing was observed,
and the reason is said. Refuses to know what the events mean.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lineage_assets.spark.jvm import java_context, packages
from lineage_assets.spark.program import Lineage

_log = logging.getLogger(__name__)

_DRAIN_MILLISECONDS = 60_000


@dataclass
class Heard:
    """What a listener wrote; complete once `listening` has ended."""

    events: list[dict[str, Any]] = field(default_factory=list)
    problem: str | None = None
    """Why there are no events."""
    seconds: float = 0.0
    """What attaching, draining and reading took."""


@contextmanager
def listening(spark: SparkSession, lineage: Lineage, events_file: Path, catalogs: Iterable[str]) -> Iterator[Heard]:
    """Listen to what Spark does until the end of the block; programs are served one at a time, so it is ours."""
    heard = Heard()
    began = time.perf_counter()
    start = events_file.stat().st_size if events_file.exists() else 0
    listener = _attached(spark, _conf(lineage, events_file), heard)
    heard.seconds = time.perf_counter() - began
    try:
        with _jdbc_catalogs_hidden(spark, catalogs):
            try:
                yield heard
            finally:
                ended = time.perf_counter()
                _detach(spark, listener, heard)
    finally:
        _read(events_file, start, heard)
        heard.seconds += time.perf_counter() - ended


def _conf(lineage: Lineage, events_file: Path) -> dict[str, str]:
    return {
        "spark.openlineage.namespace": lineage.namespace,
        "spark.openlineage.appName": lineage.job,
        "spark.openlineage.applicationRunId": lineage.run_id,
        "spark.openlineage.columnLineage.datasetLineageEnabled": "true",
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
def _jdbc_catalogs_hidden(spark: SparkSession, catalogs: Iterable[str]) -> Iterator[None]:
    """Show the listener JDBC catalogs as Hadoop ones while it listens.

    OpenLineage 1.53 takes a JDBC catalog for Hive, fails on its address and leaves its tables out of every event
    (https://github.com/OpenLineage/OpenLineage/issues/4677). It reads the session's conf; Spark read it when it made
    the catalog, which is done by now, so nothing else sees the change.
    """
    keys = [f"spark.sql.catalog.{catalog}.type" for catalog in sorted(set(catalogs))]
    hidden = [key for key in keys if spark.conf.get(key, None) == "jdbc"]
    for key in hidden:
        spark.conf.set(key, "hadoop")
    try:
        yield
    finally:
        for key in hidden:
            spark.conf.set(key, "jdbc")


def _read(events_file: Path, start: int, heard: Heard) -> None:
    if not events_file.exists():
        if heard.problem is None:
            _give_up(heard, f"the OpenLineage listener wrote no events to {events_file}")
        return
    with events_file.open("rb") as lines:
        lines.seek(start)
        heard.events.extend(json.loads(line) for line in lines if line.endswith(b"\n"))


def _give_up(heard: Heard, problem: str) -> None:
    heard.problem = problem
    _log.warning("Nothing is observed of this program: %s", problem)
