"""Canaries: what PySpark keeps private and we stand on is still there, and behaves as we take it to."""

from __future__ import annotations

import sys

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from lineage_assets.spark.jvm import is_a, java_context, java_session, packages, said
from lineage_assets.spark.session import HOLDS, hold

pytestmark = pytest.mark.spark


def test_the_doors_into_the_jvm_are_there(spark: SparkSession) -> None:
    assert packages(spark).java.lang.Math.max(1, 2) == 2
    assert java_session(spark).version() == spark.version
    assert java_context(spark).applicationId() == spark.sparkContext.applicationId


def test_the_conf_of_the_context_is_given_as_a_copy(spark: SparkSession) -> None:
    java_context(spark).getConf().set("spark.openlineage.appName", "another")
    assert spark.sparkContext.getConf().get("spark.openlineage.appName") is None


def test_an_error_of_java_is_known_by_its_class_and_its_first_line(spark: SparkSession) -> None:
    with pytest.raises(Py4JJavaError) as raised:
        packages(spark).java.lang.Class.forName("no.such.Thing")
    assert is_a(raised.value, "ClassNotFoundException")
    assert said(raised.value) == "no.such.Thing"


def test_a_class_that_is_not_there_cannot_be_called(spark: SparkSession) -> None:
    with pytest.raises(TypeError):
        packages(spark).no.such.Thing()


def test_a_session_from_elsewhere_is_made_to_hold_what_results_depend_on(spark: SparkSession) -> None:
    other = spark.newSession()
    other.conf.set("spark.sql.session.timeZone", "Europe/Vienna")
    other.conf.set("spark.sql.ansi.enabled", "false")
    hold(other)
    assert {key: other.conf.get(key) for key in HOLDS} == HOLDS


def test_python_workers_are_this_python(spark: SparkSession) -> None:
    assert spark.sparkContext.pythonExec == sys.executable
