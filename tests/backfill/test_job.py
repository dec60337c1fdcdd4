"""A backfill through real Dagster runs, on a launcher that only keeps programs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from dagster import AssetKey, DagsterInstance, DagsterRun, DagsterRunStatus, Definitions, ExecuteInProcessResult

from lineage_assets.assets.definitions import graph_of
from lineage_assets.backfill.account import told_of
from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.driver import Ran, Step
from lineage_assets.backfill.job import JOB_NAME, OP_NAME, WATCHER_KEY
from lineage_assets.backfill.lane import quiet
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.backfill.tally import Tally
from lineage_assets.dagster_private import BulkActionStatus
from lineage_assets.graph import AssetGraph, LineageJob
from lineage_assets.ledger.dagster_log import facts_of_run, read_history
from lineage_assets.ledger.record import Attempt
from lineage_assets.lineage.ids import backfill_lineage_run_id
from lineage_assets.settings import Settings, load_settings
from lineage_assets.spark.program import NamedRun, Program
from lineage_assets.spark.report import Report
from tests.support.graphs import make_node
from tests.support.recording import RecordingLauncher, report_of
from tests.support.small_shop import definitions_of, feed


class DriverDiedError(Exception):
    """Anything that goes wrong in the driver's own process."""


@dataclass
class KeptWatcher:
    """Keeps what the driver tells; `on_step` may act while it goes."""

    on_step: Callable[[Step], None] = lambda _step: None
    steps: list[Step] = field(default_factory=list)
    tally: Tally | None = None
    backfill_id: str = ""
    plan: BackfillPlan | None = None

    def opened(self, backfill_id: str, plan: BackfillPlan) -> None:
        self.plan = plan
        self.backfill_id = backfill_id

    def saw(self, step: Step) -> None:
        self.steps.append(step)
        self.on_step(step)

    def closed(self, tally: Tally) -> None:
        self.tally = tally

    @property
    def units(self) -> list[str]:
        return [str(step.unit) for step in self.steps if isinstance(step, Ran)]


@dataclass
class Shop:
    """The small shop on an instance, and one backfill after the other in it."""

    settings: Settings
    instance: DagsterInstance
    launcher: RecordingLauncher
    definitions: Definitions
    watcher: KeptWatcher = field(default_factory=KeptWatcher)

    def backfill(self, ask: Ask) -> ExecuteInProcessResult:
        job = self.definitions.resolve_job_def(JOB_NAME)
        return job.execute_in_process(
            run_config={"ops": {OP_NAME: {"config": ask.to_config()}}, **quiet(job)},
            instance=self.instance,
            resources={WATCHER_KEY: self.watcher},
            raise_on_error=False,
        )

    def states(self, name: str) -> dict[str, str]:
        verdicts = read_history(self.instance, (name,)).verdicts
        return {day[-2:]: record.state.value for day, record in sorted(verdicts.items())}

    @property
    def record_status(self) -> BulkActionStatus:
        record = self.instance.get_backfill(self.watcher.backfill_id)
        assert record is not None
        return record.status

    def run_of(self, name: str) -> DagsterRun:
        (run,) = [run for run in self.instance.get_runs() if AssetKey(name) in (run.asset_selection or ())]
        return run

    @property
    def anchor(self) -> DagsterRun:
        return next(run for run in self.instance.get_runs() if run.job_name == JOB_NAME)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    # No table is ever written: the snapshot in each record counts as held.
    monkeypatch.setattr("lineage_assets.assets.platform.table_ancestry", lambda _catalog, _table: frozenset({1}))
    settings = load_settings().model_copy(update={"home": tmp_path, "openlineage_url": None})
    launcher = RecordingLauncher()
    with DagsterInstance.ephemeral() as instance:
        yield Shop(settings, instance, launcher, definitions_of(launcher, settings))


def test_the_plan_runs_one_run_a_unit_in_its_order(shop: Shop) -> None:
    feed(shop.settings, *range(1, 7))
    assert shop.backfill(Ask("orders", "2021-06-01", "2021-06-06")).success is False
    assert shop.watcher.units == [
        "orders 2021-06-01..2021-06-06",
        "weekly 2021-06-01..2021-06-08",
        "best, worst 2021-06-01..2021-06-08",
    ]
    assert [program.function.rsplit(":", 1)[1] for program in shop.launcher.programs] == ["orders", "weekly", "two"]


def test_the_lineage_job_of_a_backfill_is_settled_once_by_the_jobs_of_its_assets_alone(shop: Shop) -> None:
    """Whatever joins the graph later, a replay names it as its runs and its driver did."""
    feed(shop.settings, *range(1, 7))
    shop.backfill(Ask("orders", "2021-06-01", "2021-06-06"))
    id_ = shop.watcher.backfill_id
    record = shop.instance.get_backfill(id_)
    assert record is not None
    for program in shop.launcher.programs:
        assert program.lineage.root == NamedRun("shop", "example.backfill", str(backfill_lineage_run_id(id_)))
    for name in ("orders", "weekly", "best"):
        (attempt,) = (one for one in facts_of_run(shop.instance, shop.run_of(name).run_id)[:1])
        assert isinstance(attempt, Attempt)
        assert attempt.backfill_job == ("shop", "example.backfill")
    ours = graph_of(shop.definitions)
    wider = AssetGraph.of([*ours.nodes.values(), replace(make_node("contacts"), job=LineageJob("shop", "crm.load"))])
    assets = shop.definitions.resolve_asset_graph()
    of_dagsters = record._replace(tags={})
    fewer = AssetGraph.of([ours.nodes["orders",]])
    for graph, record_then in ((ours, record), (wider, record), (fewer, record), (wider, of_dagsters)):
        told = told_of(record_then, assets, graph)
        assert told is not None
        assert (told.job.namespace, told.job.name) == ("shop", "example.backfill")
    assert told_of(of_dagsters, assets, AssetGraph.of([])) is None


def test_a_whole_backfill_ends_as_success_everywhere(shop: Shop) -> None:
    feed(shop.settings, *range(1, 13))
    assert shop.backfill(Ask("orders", "2021-06-01", "2021-06-12")).success
    assert str(shop.watcher.tally) == "48 done of 48 partitions"
    assert shop.record_status is BulkActionStatus.COMPLETED_SUCCESS
    assert shop.anchor.status is DagsterRunStatus.SUCCESS


def test_bad_days_leave_the_rest_of_the_plan_running(shop: Shop) -> None:
    feed(shop.settings, *range(1, 13))
    feed(shop.settings, 5, header="identity")
    assert not shop.backfill(Ask("orders", "2021-06-01", "2021-06-12")).success
    blocked = dict.fromkeys(["05", "06", "07"], "blocked")
    good = dict.fromkeys(["01", "02", "03", "04", "08", "09", "10", "11", "12"], "good")
    assert shop.states("worst") == {**good, **blocked}
    assert str(shop.watcher.tally) == "38 done, 1 failed, 9 blocked of 48 partitions"
    assert shop.record_status is BulkActionStatus.COMPLETED_FAILED
    assert shop.anchor.status is DagsterRunStatus.FAILURE


def test_runs_are_grouped_under_the_backfill_and_say_what_they_are(shop: Shop) -> None:
    feed(shop.settings, *range(1, 13))
    shop.backfill(Ask("orders", "2021-06-12"))
    for run in shop.instance.get_runs():
        assert run.tags["dagster/backfill"] == shop.watcher.backfill_id
        assert run.tags["dagster/max_retries"] == "0"
    assert shop.anchor.tags["lineage_assets/role"] == "driver"
    assert shop.run_of("weekly").tags["lineage_assets/role"] == "unit"
    assert shop.run_of("weekly").tags["lineage_assets/plan"] == shop.anchor.tags["lineage_assets/plan"]


def test_what_a_person_names_runs_and_what_only_follows_may_stand(shop: Shop) -> None:
    feed(shop.settings, *range(1, 13))
    ask = Ask("orders", "2021-06-01", "2021-06-12")
    shop.backfill(ask)
    shop.launcher.programs.clear()
    assert shop.backfill(ask).success
    assert str(shop.watcher.tally) == "12 done, 36 reused of 48 partitions"
    assert [program.function.rsplit(":", 1)[1] for program in shop.launcher.programs] == ["orders"]


def test_without_the_root_it_is_not_run(shop: Shop) -> None:
    feed(shop.settings, *range(1, 13))
    shop.backfill(Ask("orders", "2021-06-01", "2021-06-12"))
    shop.watcher = KeptWatcher()
    shop.backfill(Ask("orders", "2021-06-12", include_root=False))
    assert shop.watcher.units == ["weekly 2021-06-12", "best, worst 2021-06-12"]


def test_a_click_on_cancel_ends_it_between_units(shop: Shop) -> None:
    def click(step: Step) -> None:
        record = shop.instance.get_backfill(shop.watcher.backfill_id)
        if isinstance(step, Ran) and record is not None:
            shop.instance.update_backfill(record.with_status(BulkActionStatus.CANCELING))

    feed(shop.settings, *range(1, 13))
    shop.watcher = KeptWatcher(click)
    shop.backfill(Ask("orders", "2021-06-01", "2021-06-12"))
    assert shop.watcher.units == ["orders 2021-06-01..2021-06-12"]
    assert str(shop.watcher.tally) == "12 done, 36 not run of 48 partitions"
    assert shop.record_status is BulkActionStatus.CANCELED
    assert shop.anchor.status is DagsterRunStatus.CANCELED


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_a_unit_computes_closes_all_that_is_open(shop: Shop, ending: signal.Signals) -> None:
    def interrupted(program: Program) -> Report:
        os.kill(os.getpid(), ending)
        return report_of(program)

    feed(shop.settings, *range(1, 13))
    shop.launcher.answer = interrupted
    shop.backfill(Ask("orders", "2021-06-01", "2021-06-12"))
    assert shop.watcher.units == ["orders 2021-06-01..2021-06-12"]
    assert shop.watcher.tally is not None
    assert shop.watcher.tally.is_cancelled
    assert shop.record_status is BulkActionStatus.CANCELED
    assert {run.status for run in shop.instance.get_runs()} == {DagsterRunStatus.CANCELED}


def test_an_interrupt_between_units_closes_all_that_is_open(shop: Shop) -> None:
    feed(shop.settings, *range(1, 13))
    shop.watcher = KeptWatcher(lambda _step: os.kill(os.getpid(), signal.SIGINT))
    shop.backfill(Ask("orders", "2021-06-01", "2021-06-12"))
    assert shop.watcher.units == []
    assert shop.record_status is BulkActionStatus.CANCELED
    assert shop.anchor.status is DagsterRunStatus.CANCELED


def test_what_was_done_before_an_interrupt_is_found_by_the_next_backfill(shop: Shop) -> None:
    feed(shop.settings, *range(1, 13))
    ask = Ask("orders", "2021-06-01", "2021-06-12")

    def interrupt_in_weekly(_step: Step) -> None:
        if len(shop.watcher.units) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    shop.watcher = KeptWatcher(interrupt_in_weekly)
    shop.backfill(ask)
    shop.watcher = KeptWatcher()
    assert shop.backfill(ask).success
    assert str(shop.watcher.tally) == "36 done, 12 reused of 48 partitions"


def test_a_failure_of_the_driver_itself_leaves_no_open_record(shop: Shop) -> None:
    def dies(step: Step) -> None:
        if isinstance(step, Ran):
            raise DriverDiedError

    feed(shop.settings, *range(1, 13))
    shop.watcher = KeptWatcher(dies)
    assert not shop.backfill(Ask("orders", "2021-06-01", "2021-06-12")).success
    assert shop.record_status is BulkActionStatus.COMPLETED_FAILED
    assert shop.anchor.status is DagsterRunStatus.FAILURE


@pytest.mark.parametrize("ask", [Ask("ordres", "2021-06-01"), Ask("orders", "2021-06-01", plan="ab" * 32)])
def test_what_is_refused_opens_no_record_and_runs_nothing(shop: Shop, ask: Ask) -> None:
    assert not shop.backfill(ask).success
    assert shop.instance.get_backfills() == []
    assert shop.launcher.programs == []
    assert [run.job_name for run in shop.instance.get_runs()] == [JOB_NAME]


def test_nothing_to_redo_is_a_success_without_a_record(shop: Shop) -> None:
    assert shop.backfill(Ask("best", "2021-06-01", include_root=False)).success
    assert shop.instance.get_backfills() == []


def test_the_launchpad_runs_it_with_nobody_watching(shop: Shop) -> None:
    feed(shop.settings, *range(1, 13))
    job = shop.definitions.resolve_job_def(JOB_NAME)
    config = {"asset": "orders", "from": "2021-06-12"}
    result = job.execute_in_process(
        run_config={"ops": {OP_NAME: {"config": config}}}, instance=shop.instance, raise_on_error=False
    )
    (record,) = shop.instance.get_backfills()
    assert not result.success
    assert record.status is BulkActionStatus.COMPLETED_FAILED
    failure = next(event for event in result.all_events if event.is_step_failure)
    assert "lineage-assets backfill orders --from 2021-06-10 --to 2021-06-11" in str(failure.step_failure_data.error)


def test_a_backfill_is_told_by_the_lineage_room_from_its_own_run(shop: Shop) -> None:
    feed(shop.settings, *range(1, 13))
    shop.backfill(Ask("orders", "2021-06-01", "2021-06-12"))
    told = [entry.user_message for entry in shop.instance.all_logs(shop.anchor.run_id)]
    assert any("48 done of 48 partitions. Lineage: " in message for message in told)
