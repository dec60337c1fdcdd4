"""What Dagster's backfill daemon does with a record of ours: the undocumented behaviour that the driver stands on.

Its own iteration, one tick a call. When one of these fails, read `_core/execution/asset_backfill.py` of the new
Dagster before anything else.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from dagster import AssetKey, DagsterInstance, DagsterRun, DagsterRunStatus, Definitions, instance_for_test
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.test_utils import create_test_daemon_workspace_context
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceLoadTarget
from dagster._daemon.backfill import execute_backfill_iteration

from lineage_assets.assets.definitions import graph_of
from lineage_assets.backfill.job import JOB_NAME
from lineage_assets.backfill.lane import ROLE_TAG, UNIT_ROLE
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.backfill.submit import Label, open_record
from lineage_assets.dagster_private import BACKFILL_TAG, BulkActionStatus
from lineage_assets.settings import load_settings
from tests.support.graphs import NOW, days
from tests.support.recording import RecordingLauncher
from tests.support.small_shop import definitions_of, feed

LOCATION = """
from lineage_assets.settings import load_settings
from tests.support.recording import RecordingLauncher
from tests.support.small_shop import definitions_of

defs = definitions_of(RecordingLauncher(), load_settings())
"""


@dataclass(frozen=True)
class InThisProcess(WorkspaceLoadTarget):
    file: Path

    def create_origins(self) -> list[InProcessCodeLocationOrigin]:
        return [InProcessCodeLocationOrigin(LoadableTargetOrigin(python_file=str(self.file)), location_name="shop")]


@dataclass
class Daemon:
    """The daemon's ticks on one record, and what it could see beside it."""

    instance: DagsterInstance
    workspace: WorkspaceProcessContext
    definitions: Definitions
    plan: BackfillPlan

    def tick(self, times: int = 1) -> BulkActionStatus:
        for _ in range(times):
            assert [
                error for error in execute_backfill_iteration(self.workspace, logging.getLogger("daemon")) if error
            ] == []
        return self.status

    @property
    def status(self) -> BulkActionStatus:
        record = self.instance.get_backfill("abcdefgh")
        assert record is not None
        return record.status

    def open(self, *, with_anchor: bool) -> DagsterRun | None:
        anchor = None
        if with_anchor:
            anchor = self.instance.create_run_for_job(
                self.definitions.resolve_job_def(JOB_NAME),
                run_config={"ops": {"drive": {"config": {"asset": "orders", "from": "2021-06-04"}}}},
                tags={BACKFILL_TAG: "abcdefgh"},
                status=DagsterRunStatus.STARTED,
            )
        open_record(self.instance, self.definitions, "abcdefgh", self.plan, Label("canary", "", "", {}))
        return anchor

    def run_unit(self, name: str, first: str, last: str) -> None:
        self.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=self.instance,
            asset_selection=[AssetKey(name)],
            raise_on_error=False,
            tags={
                "dagster/asset_partition_range_start": first,
                "dagster/asset_partition_range_end": last,
                BACKFILL_TAG: "abcdefgh",
                ROLE_TAG: UNIT_ROLE,
            },
        )

    def counted(self) -> int:
        record = self.instance.get_backfill("abcdefgh")
        assert record is not None
        data = record.get_asset_backfill_data(self.definitions.resolve_asset_graph())
        return data.materialized_subset.num_partitions_and_non_partitioned_assets


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    location = tmp_path / "location.py"
    location.write_text(LOCATION, encoding="utf-8")
    settings = load_settings()
    definitions = definitions_of(RecordingLauncher(), settings)
    feed(settings, *range(1, 13))
    request = BackfillRequest.downstream_of(("orders",), days("2021-06-04", "2021-06-05"))
    plan = plan_backfill(graph_of(definitions), request, now=NOW)
    with (
        instance_for_test(temp_dir=str(tmp_path)) as instance,
        create_test_daemon_workspace_context(InThisProcess(location), instance) as workspace,
    ):
        yield Daemon(instance, workspace, definitions, plan)


def test_the_daemon_launches_nothing_for_a_record_marked_as_requested(daemon: Daemon) -> None:
    anchor = daemon.open(with_anchor=True)
    assert anchor is not None
    daemon.tick(3)
    assert [run.run_id for run in daemon.instance.get_runs()] == [anchor.run_id]


def test_an_anchor_that_goes_on_holds_the_record_open_while_nothing_moves(daemon: Daemon) -> None:
    daemon.open(with_anchor=True)
    assert daemon.tick(3) is BulkActionStatus.REQUESTED


def test_without_an_anchor_the_daemon_ends_a_record_in_which_nothing_moves(daemon: Daemon) -> None:
    """Why the anchor run is there. If this fails the rule is gone, and the anchor might go too."""
    daemon.open(with_anchor=False)
    assert daemon.tick(3) is BulkActionStatus.COMPLETED_FAILED


def test_the_daemon_counts_what_our_units_materialize(daemon: Daemon) -> None:
    daemon.open(with_anchor=True)
    daemon.run_unit("orders", "2021-06-04", "2021-06-05")
    daemon.tick(2)
    assert daemon.counted() == 2
    assert daemon.status is BulkActionStatus.REQUESTED


def test_a_cancelled_record_waits_for_the_anchor_to_end(daemon: Daemon) -> None:
    anchor = daemon.open(with_anchor=True)
    assert anchor is not None
    record = daemon.instance.get_backfill("abcdefgh")
    assert record is not None
    daemon.instance.update_backfill(record.with_status(BulkActionStatus.CANCELING))
    assert daemon.tick(2) is BulkActionStatus.CANCELING
    daemon.instance.report_run_canceled(daemon.instance.get_run_by_id(anchor.run_id) or anchor)
    assert daemon.tick(2) is BulkActionStatus.CANCELED
