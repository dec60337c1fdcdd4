"""The code location: which pipelines there are, and on what they run. Nothing but composition."""

from dagster_pyspark import LazyPySparkResource

from lineage_assets.assets.definitions import build_definitions
from lineage_assets.launch.spark_conf import local_spark_conf
from lineage_assets.launch.submit import SparkSubmit
from lineage_assets.launch.warm import WarmDriver
from lineage_assets.pipelines.food_delivery.assets import JOBS
from lineage_assets.settings import load_settings

settings = load_settings()
spark = LazyPySparkResource(spark_config=local_spark_conf(settings))
launcher = SparkSubmit if settings.launcher == "submit" else WarmDriver

defs = build_definitions(JOBS, launcher=launcher.from_resource(spark, settings), settings=settings)
