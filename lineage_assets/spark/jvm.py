"""The doors into Spark's JVM, which PySpark keeps private: looked at here and nowhere else.

Tried with PySpark 3.5; `tests/spark/test_jvm.py` fails when one of them goes.
"""

from __future__ import annotations

from typing import Any, cast

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession


def packages(spark: SparkSession) -> Any:  # noqa: ANN401 - Java has no types here
    """The root of Java's packages."""
    return spark._jvm  # noqa: SLF001 - there is no public way


def java_session(spark: SparkSession) -> Any:  # noqa: ANN401
    return spark._jsparkSession  # noqa: SLF001


def java_context(spark: SparkSession) -> Any:  # noqa: ANN401
    """Scala's SparkContext."""
    return spark.sparkContext._jsc.sc()  # noqa: SLF001


def make_active(spark: SparkSession) -> None:
    """Make it what `SparkSession.getActiveSession` gives, and Java's of this thread: `newSession` does not."""
    packages(spark).SparkSession.setActiveSession(java_session(spark))
    SparkSession._activeSession = spark  # noqa: SLF001


def running_tasks(spark: SparkSession) -> int:
    """How many there are, those included that were cancelled and do not heed it."""
    return sum(int(one.numRunningTasks()) for one in java_context(spark).statusTracker().getExecutorInfos())


def process(spark: SparkSession) -> Any:  # noqa: ANN401 - a Popen, which PySpark hangs onto py4j's gateway
    """The JVM as a child process; there is none when this process was started by spark-submit."""
    return cast("Any", spark.sparkContext._gateway).proc  # noqa: SLF001


def is_a(error: Py4JJavaError, java_class: str) -> bool:
    """Whether Java threw this, by the simple name of its class."""
    return str(error.java_exception.getClass().getSimpleName()) == java_class


def said(error: Py4JJavaError) -> str:
    """The first line of what Java said."""
    message = error.java_exception.getMessage()
    return str(message).splitlines()[0] if message else str(error.java_exception.getClass().getName())
