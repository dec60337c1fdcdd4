"""Whether anybody still wants the program that runs: its driver says so on the program's own session.

Spark's own cancel ends the Spark jobs of a moment, not what a program does between and after them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineage_assets.spark.refusal import RefusedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CANCELLED_KEY = "spark.lineage_assets.cancelled"


class CancelledError(RefusedError):
    """Nobody wants this program any more."""

    def __init__(self) -> None:
        super().__init__("The program was cancelled; it goes no further.")


def cancel(spark: SparkSession, group: str) -> None:
    """End the Spark jobs of a group that run now, and let the program whose session this is go no further."""
    spark.conf.set(CANCELLED_KEY, "true")
    spark.sparkContext.cancelJobGroup(group)


def stop_if_cancelled(spark: SparkSession) -> None:
    """Raise when nobody wants the program any more; to be asked before anything is published."""
    if is_cancelled(spark):
        raise CancelledError


def is_cancelled(spark: SparkSession) -> bool:
    return spark.conf.get(CANCELLED_KEY, None) is not None
