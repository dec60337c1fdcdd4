"""Both launchers, from a real Dagster run to a real table and back: the protocol is one."""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from dagster import (
    AssetExecutionContext,
    DagsterInstance,
    ExecuteInProcessResult,
    MaterializeResult,
    asset,
    materialize,
)
from dagster_pyspark import LazyPySparkResource
from pydantic import SecretStr

from lineage_assets.launch.driver_process import driver_processes
from lineage_assets.launch.launcher import Launcher, ProgramFailedError, ProgramLostError
from lineage_assets.launch.spark_conf import local_spark_conf
from lineage_assets.launch.submit import SparkSubmit
from lineage_assets.launch.table_history import table_ancestry
from lineage_assets.launch.warm import Terms, WarmDriver
from lineage_assets.settings import Settings, load_settings
from lineage_assets.spark.code import source_hash
from lineage_assets.spark.landing import landing_files, landing_version
from lineage_assets.spark.program import LandingInput, Lineage, Output, Program
from lineage_assets.spark.report import OutputReport, Report
from tests.launch.driven import STUB, until
from tests.support.raw_events import RawEvents, raw_receiver

pytestmark = [pytest.mark.spark, pytest.mark.slow]

JOBS = "tests.launch.shop_jobs"
KEY = "planted-key-7301"
DAYS = {"2021-06-04": "id,amount\n1,10\n2,20\n", "2021-06-05": "id,amount\n3,30\n"}
COLUMNS = (("id", "int"), ("amount", "int"))


@pytest.fixture(scope="module")
def raw() -> Iterator[RawEvents]:
    """Who gets Spark's own events of all programs here."""
    with raw_receiver() as kept:
        yield kept


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, raw: RawEvents) -> Settings:
    """One state folder for both launchers; its name has what trips up careless quoting."""
    return load_settings().model_copy(
        update={
            "home": tmp_path_factory.mktemp("state") / "a home%20 of ours",
            "driver_owner": os.getpid(),
            "spark_events": "direct",
            "openlineage_url": raw.url,
            "openlineage_api_key": SecretStr(KEY),
        }
    )


@pytest.fixture(scope="module")
def warm(settings: Settings) -> Iterator[WarmDriver]:
    spark = LazyPySparkResource(spark_config=local_spark_conf(settings))
    yield WarmDriver.from_resource(spark, settings)
    for process in driver_processes(settings.home):
        process.stop(now=True)


@pytest.fixture(scope="module")
def submit(settings: Settings) -> SparkSubmit:
    return SparkSubmit.from_resource(LazyPySparkResource(spark_config=local_spark_conf(settings)), settings)


def make_program(settings: Settings, job: str = "orders") -> Program:
    root = settings.home / "landing" / "orders"
    for day, content in DAYS.items():
        folder = root / f"ds={day}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "orders.csv").write_text(content, encoding="utf-8")
    files = {day: landing_files(root, day) for day in DAYS}
    versions = {day: landing_version(root, names) for day, names in files.items()}
    code = source_hash(JOBS)
    assert code is not None
    return Program(
        function=f"{JOBS}:{job}",
        code={JOBS: code},
        token=str(uuid4()),
        targets=tuple(DAYS),
        lineage=Lineage("food_delivery", "example.etl_orders", str(uuid4())),
        outputs=(Output(asset="orders", columns=COLUMNS, table="lake.food_delivery.orders", min_rows=2),),
        landings=(LandingInput("landing", "csv", COLUMNS, str(root), files, versions),),
    )


@dataclass
class Run:
    """A Dagster run of one asset that launches one program."""

    result: ExecuteInProcessResult
    reports: list[Report] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    log: list[str] = field(default_factory=list)


def launched(launcher: Launcher, program: Program) -> Run:
    reports: list[Report] = []
    errors: list[Exception] = []

    @asset
    def orders(context: AssetExecutionContext) -> MaterializeResult[None]:
        try:
            reports.append(launcher.launch(context, program))
        except Exception as error:
            errors.append(error)
            raise
        return MaterializeResult(metadata={"rows": 3})

    with DagsterInstance.ephemeral() as instance:
        result = materialize([orders], instance=instance, raise_on_error=False)
        log = [entry.user_message for entry in instance.all_logs(result.run_id)]
    return Run(result, reports, errors, log)


def told(report: Report) -> Report:
    """A report without what differs from run to run."""
    (output,) = report.outputs.values()
    partitions = {
        day: replace(one, message=one.message and one.message.partition("; kept on the branch ")[0])
        for day, one in output.partitions.items()
    }
    same = OutputReport(partitions, None, output.location)
    return replace(report, outputs={"orders": same}, application_id="", seconds={})


def test_both_launchers_bring_home_the_same_report(settings: Settings, warm: WarmDriver, submit: SparkSubmit) -> None:
    first, second = launched(warm, make_program(settings)), launched(warm, make_program(settings))
    alone = launched(submit, make_program(settings))
    assert [run.result.success for run in (first, second, alone)] == [True, True, True]

    partitions = first.reports[0].outputs["orders"].partitions
    assert {day: (one.published, one.cause, one.rows) for day, one in partitions.items()} == {
        "2021-06-04": (True, None, 2),
        "2021-06-05": (False, "incomplete data", 1),
    }
    assert told(first.reports[0]) == told(second.reports[0]) == told(alone.reports[0])
    assert first.reports[0].observed.problem is None

    assert first.reports[0].application_id == second.reports[0].application_id
    assert alone.reports[0].application_id != first.reports[0].application_id
    assert sum("Started a Spark driver in" in line for line in first.log) == 1
    assert sum("Started a Spark driver in" in line for line in second.log) == 0
    snapshots = [run.reports[0].outputs["orders"].snapshot for run in (first, second, alone)]
    assert set(snapshots) <= table_ancestry(settings.home / "catalog.db", "lake.food_delivery.orders")
    # Nothing of the warehouse has strayed to a folder of another spelling.
    assert [one.name for one in settings.home.parent.iterdir()] == ["a home%20 of ours"]
    assert list((settings.home / "warehouse").rglob("*.parquet")) != []


def test_in_direct_mode_raw_events_arrive_from_both_and_the_key_lies_nowhere(
    settings: Settings, raw: RawEvents, warm: WarmDriver, submit: SparkSubmit
) -> None:
    for launcher in (warm, submit):
        program = make_program(settings)
        assert launched(launcher, program).result.success
        until(partial(ended_runs, raw, program), "the end of Spark's run")
    assert raw.keys == {f"Bearer {KEY}"}
    assert raw.paths == {"/api/v1/lineage"}
    assert KEY not in "".join(raw.bodies)
    files = [path for path in settings.home.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def ended_runs(raw: RawEvents, program: Program) -> list[str]:
    application = [event for event in raw.events if program.lineage.run_id in json.dumps(event["run"])]
    return [event["run"]["runId"] for event in application if event["eventType"] == "COMPLETE"]


@pytest.mark.parametrize("which", ["warm", "submit"])
def test_a_failing_job_is_a_failure_with_its_cause_and_where_the_log_is(
    which: str, settings: Settings, request: pytest.FixtureRequest
) -> None:
    run = launched(request.getfixturevalue(which), make_program(settings, "broken"))
    (error,) = run.errors
    assert isinstance(error, ProgramFailedError)
    assert error.cause == "job failed"
    assert "no such menu, asked with ***" in error.message
    assert error.log is not None
    assert error.log.is_file()
    assert not run.result.success


def test_a_job_of_other_bytes_is_refused(settings: Settings, warm: WarmDriver) -> None:
    (error,) = launched(warm, replace(make_program(settings), code={JOBS: "0" * 64})).errors
    assert isinstance(error, ProgramFailedError)
    assert (error.cause, JOBS in error.message) == ("refused", True)


@pytest.fixture(scope="module")
def stub(settings: Settings) -> WarmDriver:
    """For programs that wait as long as a test needs."""
    return WarmDriver(
        {**local_spark_conf(settings), "spark.app.name": "stub"}, settings, Terms(owner=os.getpid()), STUB
    )


def make_waiting(settings: Settings, folder: Path, name: str) -> Program:
    (folder / name).mkdir()
    return replace(make_program(settings), function="stub_jobs:wait_in_python", code={}, token=str(folder / name))


def busy(settings: Settings) -> Mapping[str, Any] | None:
    """What the driver says of itself that serves somebody."""
    said = (process.status() for process in driver_processes(settings.home))
    return next((one for one in said if one is not None and one["busy_with"]), None)


def test_a_killed_driver_is_a_loss_for_its_program_and_another_driver_for_those_that_wait(
    settings: Settings, stub: WarmDriver, tmp_path: Path
) -> None:
    one, two = (make_waiting(settings, tmp_path, name) for name in ("one", "two"))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(launched, stub, one)
        until((tmp_path / "one" / "begun").exists, "the first program runs")
        second = pool.submit(launched, stub, two)
        until(lambda: (said := busy(settings)) and said["waiting"], "the second waits")
        said = busy(settings)
        assert said is not None
        os.kill(said["pid"], signal.SIGKILL)
        (error,) = first.result().errors
        assert isinstance(error, ProgramLostError)
        (tmp_path / "two" / "end").touch()
        assert second.result().result.success
    (line,) = [line for line in second.result().log if line.startswith("Waits for")]
    assert line.startswith("Waits for the Spark driver, which is busy with orders 2021-06-04..2021-06-05 (run ")


def test_an_interrupted_run_cancels_its_program_and_leaves_the_driver_up(
    settings: Settings, stub: WarmDriver, tmp_path: Path
) -> None:
    program = make_waiting(settings, tmp_path, "one")

    def interrupt() -> int:
        until((tmp_path / "one" / "begun").exists, "the program runs")
        said = busy(settings)
        os.kill(os.getpid(), signal.SIGINT)
        assert said is not None
        return int(said["pid"])

    with ThreadPoolExecutor(1) as pool:
        interrupting = pool.submit(interrupt)
        run = launched(stub, program)
    assert (run.result.success, run.reports, run.errors) == (False, [], [])
    until(lambda: busy(settings) is None, "the program is over")
    assert interrupting.result() in {(process.status() or {}).get("pid") for process in driver_processes(settings.home)}
