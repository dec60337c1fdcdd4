"""One tiny job for both launchers."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def orders(landing: DataFrame) -> DataFrame:
    return landing.select("id", (F.col("amount") * 2).alias("amount"), "ds")


def broken(landing: DataFrame) -> DataFrame:
    said = F.lit("no such menu, asked with planted-key-7301")
    return landing.select("id", F.raise_error(said).cast("int").alias("amount"), "ds")
