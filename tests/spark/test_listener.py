"""What only Spark knows comes home with the report; what Spark cannot tell never fails a program."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineage_assets.spark import jvm, listener
from lineage_assets.spark.report import Observed, Source, Transformation
from tests.support.spark import Lake, days_from, make_landing, make_program

pytestmark = pytest.mark.spark

DAYS = days_from("2021-06-01", 2)
WEEK = (("id", "int"), ("placed", "date"), ("amount", "int"), ("total", "int"))


def test_tables_and_the_sources_of_columns_are_named_as_they_are_declared(lake: Lake) -> None:
    pinned = lake.write("orders", DAYS)
    reads = lake.reads("orders", DAYS, days=2, snapshots=dict.fromkeys(DAYS, pinned))
    report = lake.run(make_program("week", DAYS, outputs=(lake.output("week", columns=WEEK),), tables=(reads,)))
    orders, week = lake.table("orders"), lake.table("week")
    identity, summed = (Transformation("DIRECT", "IDENTITY"),), (Transformation("DIRECT", "AGGREGATION"),)
    assert report.observed == Observed(
        inputs=(orders,),
        outputs=(week,),
        columns={
            week: {
                "amount": (Source(orders, "amount", identity),),
                "id": (Source(orders, "id", identity),),
                "total": (Source(orders, "amount", summed),),
            }
        },
        versions={orders: (pinned,)},
    )


def test_columns_that_decide_on_rows_are_told_with_what_they_did(lake: Lake) -> None:
    lake.write("orders", DAYS)
    outputs = (lake.output("large"), lake.output("small"))
    report = lake.run(make_program("two", DAYS, outputs=outputs, tables=(lake.reads("orders", DAYS),)))
    filtered = (Source(lake.table("orders"), "amount", (Transformation("INDIRECT", "FILTER"),)),)
    assert report.observed.row_sources == {lake.table("large"): filtered, lake.table("small"): filtered}


def test_landing_folders_are_inputs_by_the_name_the_program_has_for_them(lake: Lake, tmp_path: Path) -> None:
    landing = make_landing(tmp_path / "in", dict.fromkeys(DAYS, "id,amount\n1,1\n"))
    report = lake.run(make_program("load", DAYS, outputs=(lake.output("orders"),), landings=(landing,)))
    assert report.observed.inputs == (str(tmp_path / "in"),)
    assert report.observed.columns[lake.table("orders")]["id"] == (
        Source(str(tmp_path / "in"), "id", (Transformation("DIRECT", "IDENTITY"),)),
    )


def test_each_program_of_a_warm_session_has_its_own_name_and_run_in_its_events(lake: Lake) -> None:
    lake.write("orders", DAYS)
    for name in ("first", "second"):
        program = make_program("copy", DAYS, outputs=(lake.output(name),), tables=(lake.reads("orders", DAYS),))
        program = replace(program, lineage=replace(program.lineage, job=name))
        observed = lake.run(program).observed
        lines = (lake.folder / f"{program.lineage.run_id}.ndjson").read_text("utf-8").splitlines()
        parents = [json.loads(line)["run"]["facets"]["parent"] for line in lines]
        assert {(parent["job"]["name"], parent["run"]["runId"]) for parent in parents} == {
            (name, program.lineage.run_id)
        }
        assert observed.outputs == (lake.table(name),)


def test_two_outputs_are_observed_in_one_program(lake: Lake) -> None:
    lake.write("orders", DAYS)
    outputs = (lake.output("large"), lake.output("small"))
    report = lake.run(make_program("two", DAYS, outputs=outputs, tables=(lake.reads("orders", DAYS),)))
    assert report.observed.outputs == (lake.table("large"), lake.table("small"))


def test_without_the_listener_the_program_runs_and_says_that_nothing_was_observed(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def without_its_jar(spark: SparkSession) -> object:
        return jvm.packages(spark).no.such.package

    monkeypatch.setattr(listener, "packages", without_its_jar)
    lake.write("orders", DAYS)
    with caplog.at_level(logging.WARNING):
        report = lake.run(make_program("copy", DAYS, outputs=(lake.output("c"),), tables=(lake.reads("orders", DAYS),)))
    assert all(one.published for one in report.outputs["c"].partitions.values())
    assert report.observed.inputs == ()
    assert report.observed.problem is not None
    assert "is its jar in spark.jars?" in report.observed.problem
    assert "Nothing is observed of this program" in caplog.text


def test_what_a_job_reads_and_writes_while_it_is_called_is_observed(lake: Lake, tmp_path: Path) -> None:
    for name in ("orders", "menus", "rates"):
        lake.write(name, DAYS)
    lake.spark.conf.set("test.counted", lake.table("menus"))
    lake.spark.conf.set("test.collected", lake.table("rates"))
    lake.spark.conf.set("test.written", str(tmp_path / "aside"))
    report = lake.run(
        make_program("curious", DAYS, outputs=(lake.output("copy"),), tables=(lake.reads("orders", DAYS),))
    )
    assert report.observed.inputs == (lake.table("menus"), lake.table("orders"), lake.table("rates"))
    assert report.observed.outputs == (str(tmp_path / "aside"), lake.table("copy"))


def test_the_conf_that_the_listener_is_shown_is_put_back(lake: Lake) -> None:
    lake.write("orders", DAYS)
    lake.run(make_program("copy", DAYS, outputs=(lake.output("copy"),), tables=(lake.reads("orders", DAYS),)))
    assert lake.spark.conf.get("spark.sql.catalog.lake.type") == "jdbc"
