"""What a job reads and writes beside what it declares is found on real Spark and named, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lineage_assets.assets.drift import drift_of
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Observed, OutputReport, Pinned, Report
from tests.support.spark import Lake, days_from, make_landing, make_program

DAYS = days_from("2021-06-01", 2)


def make_report(program: Program, **observed: object) -> Report:
    return Report({output.asset: OutputReport({}) for output in program.outputs}, observed=Observed(**observed))


@pytest.mark.spark
def test_a_table_read_by_name_and_an_input_that_is_not_read_are_found(lake: Lake) -> None:
    for name in ("orders", "menus", "rates"):
        lake.write(name, DAYS)
    lake.spark.conf.set("test.joined", lake.table("rates"))
    reads = (lake.reads("orders", DAYS), lake.reads("menus", DAYS))
    program = make_program("joining", DAYS, outputs=(lake.output("copy"),), tables=reads)
    report = lake.run(program)
    assert drift_of(program, report, {lake.table("rates"): "rates"}) == (
        "reads rates, which is not declared: declare rates in reads=…",
        "declares menus, which it does not read: drop the parameter menus",
    )
    assert drift_of(program, report, {})[0] == (
        f"reads {lake.table('rates')}, which is not declared: declare it in reads=…, "
        "files as landing(…), a table by the asset that makes it"
    )


@pytest.mark.spark
def test_what_is_read_past_its_parameter_and_written_beside_the_outputs_is_found(lake: Lake, tmp_path: Path) -> None:
    before = lake.write("orders", DAYS)
    lake.write("menus", DAYS)
    now = lake.write("orders", DAYS, amount=20)
    for key, place in (("counted", "orders"), ("collected", "menus")):
        lake.spark.conf.set(f"test.{key}", lake.table(place))
    aside = tmp_path / "aside"
    lake.spark.conf.set("test.written", str(aside))
    reads = lake.reads("orders", DAYS, snapshots=dict.fromkeys(DAYS, before))
    program = make_program("curious", DAYS, outputs=(lake.output("copy"),), tables=(reads,))
    assert drift_of(program, lake.run(program), {lake.table("menus"): "menus"}) == (
        "reads menus, which is not declared: declare menus in reads=…",
        f"writes {aside}, which is none of its outputs: return it as a declared output, or take the write out",
        f"reads orders at the snapshot {now} too: read it through the parameter orders only",
    )


@pytest.mark.spark
def test_branches_snapshots_outboxes_and_landing_files_are_no_drift(lake: Lake, tmp_path: Path) -> None:
    named = lake.write("orders", DAYS[:1])
    lake.write("orders", DAYS[:1], amount=90)
    newest = lake.write("orders", DAYS[1:])
    reads = lake.reads("orders", DAYS, days=2, snapshots={DAYS[0]: named, DAYS[1]: newest})
    outbox = replace(lake.output("mails"), table=None, outbox=str(tmp_path / "out"))
    copied = make_program("copy", DAYS, outputs=(outbox,), tables=(reads,))
    report = lake.run(copied)
    assert report.snapshots == {"orders": Pinned(newest, {DAYS[0]: named})}
    assert report.observed.versions == {lake.table("orders"): tuple(sorted((named, newest)))}
    assert drift_of(copied, report, {}) == ()
    landing = make_landing(tmp_path / "in", dict.fromkeys(DAYS, "id,amount\n1,1\n"))
    loaded = make_program("load", DAYS, outputs=(lake.output("loaded"),), landings=(landing,))
    assert drift_of(loaded, lake.run(loaded), {}) == ()


def small(**said: object) -> Program:
    lake = Lake(None, Path(), "lake.shop")  # type: ignore[arg-type]
    made = {"outputs": (lake.output("copy"),), "tables": (lake.reads("orders", DAYS),)}
    return make_program("copy", DAYS, **{**made, **said})


def test_without_sparks_events_and_in_an_adoption_there_is_no_drift() -> None:
    program = small()
    assert drift_of(program, make_report(program, problem="no jar"), {}) == ()
    adoption = replace(program, existing=True)
    assert drift_of(adoption, make_report(adoption), {}) == ()


def test_of_a_job_that_did_a_part_of_its_work_nothing_is_said_to_be_unread() -> None:
    program = small()
    written = {"outputs": ("lake.shop.copy",)}
    assert len(drift_of(program, make_report(program, **written), {})) == 1
    assert drift_of(program, make_report(program), {}) == ()
    one_of_two = replace(program, is_whole=False)
    assert drift_of(one_of_two, make_report(one_of_two, **written), {}) == ()


def test_an_input_without_a_partition_to_read_is_not_missed() -> None:
    program = small()
    program = replace(program, tables=(replace(program.tables[0], window={}),))
    assert drift_of(program, make_report(program, outputs=("lake.shop.copy",)), {}) == ()


def test_files_of_partitions_are_named_by_their_folder() -> None:
    program = small(tables=())
    files = tuple(f"/feed/rates/ds={day}/a.csv" for day in DAYS)
    found = drift_of(program, make_report(program, inputs=(*files, "jdbc:postgresql://db/rates")), {})
    assert [sentence.partition(",")[0] for sentence in found] == [
        "reads /feed/rates",
        "reads jdbc:postgresql://db/rates",
    ]
