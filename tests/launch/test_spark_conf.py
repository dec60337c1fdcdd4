"""The Spark settings of this machine, and how those of dagster-pyspark's resource are read."""

from pathlib import Path

from dagster_pyspark import LazyPySparkResource

from lineage_assets.launch.spark_conf import conf_of, local_spark_conf, with_jars
from lineage_assets.settings import load_settings


def test_the_catalog_and_the_warehouse_lie_in_the_state_folder_and_nothing_listens_beyond_this_machine(
    own_home: Path,
) -> None:
    conf = local_spark_conf(load_settings())
    assert conf["spark.sql.catalog.lake.warehouse"] == str(own_home / "warehouse")
    assert conf["spark.sql.catalog.lake.uri"].startswith(f"jdbc:sqlite:file:{own_home}/catalog.db?busy_timeout=30000")
    assert conf["spark.sql.catalog.lake.cache-enabled"] == "false"
    assert {conf[name] for name in ("spark.driver.host", "spark.driver.bindAddress")} == {"127.0.0.1"}
    assert conf["spark.master"] in {f"local[{cores}]" for cores in range(1, 5)}
    assert "spark.extraListeners" not in conf
    assert "spark.jars" not in conf


def test_jars_come_before_the_users_own_and_one_of_the_same_name_is_the_users() -> None:
    ours = [Path("/c/iceberg-1.jar"), Path("/c/a.jar")]
    conf = with_jars({"spark.jars": "/own/iceberg-1.jar,s3://mine/udf.jar"}, ours)
    assert conf == {"spark.jars": "/c/a.jar,/own/iceberg-1.jar,s3://mine/udf.jar"}
    assert with_jars({}, []) == {}


def test_settings_of_the_resource_may_be_nested_and_of_any_type() -> None:
    resource = LazyPySparkResource(
        spark_config={"spark": {"ui": {"enabled": False}, "executor": {"cores": 2}}, "spark.master": "local[1]"}
    )
    assert conf_of(resource) == {
        "spark.ui.enabled": "false",
        "spark.executor.cores": "2",
        "spark.master": "local[1]",
    }
