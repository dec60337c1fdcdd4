from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

TINY = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # Compiling the code of a query takes longer than running it on a handful of rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="session")
def spark(spark: SparkSession) -> SparkSession:
    """A session of our own in the suite's JVM, set up for tiny frames."""
    tiny = spark.newSession()
    for key, value in TINY.items():
        tiny.conf.set(key, value)
    return tiny
