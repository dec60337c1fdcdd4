"""The job `lineage_assets_backfill`: its run is the anchor that holds a backfill open, its op drives the plan.

The command line, the launchpad and sensors all start this job: one code path. It reaches the assets it runs through a
function given when it is built, since the definitions it belongs to do not exist yet by then.
"""

from collections.abc import Callable
from typing import Protocol

from dagster import (
    DagsterExecutionInterruptedError,
    Definitions,
    Failure,
    Field,
    JobDefinition,
    OpExecutionContext,
    in_process_executor,
    job,
    op,
)

from lineage_assets.backfill.account import ESTIMATE_TAG, JOB_TAG, job_tag
from lineage_assets.backfill.ask import Ask, ask_from_config
from lineage_assets.backfill.driver import Begun, Ran, Step, Stopped, drive
from lineage_assets.backfill.ending import ending_lines
from lineage_assets.backfill.estimate import estimate_seconds
from lineage_assets.backfill.explain import request_text
from lineage_assets.backfill.interrupts import hearing_signals, not_interrupted
from lineage_assets.backfill.lane import NO_RETRIES, PLAN_TAG, ROLE_TAG, InProcessLane
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.backfill.submit import Label, close_record, open_record
from lineage_assets.backfill.tally import Tally
from lineage_assets.backfill.telling import Told
from lineage_assets.clock import utc_now
from lineage_assets.dagster_private import BACKFILL_TAG, make_new_backfill_id
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.dagster_log import read_histories
from lineage_assets.ledger.owner import OWNER_TAG, owner
from lineage_assets.ledger.record import PartitionRecord
from lineage_assets.settings import Settings

JOB_NAME = "lineage_assets_backfill"
OP_NAME = "drive"
WATCHER_KEY = "watcher"

_INTERRUPTS = (KeyboardInterrupt, DagsterExecutionInterruptedError)
_CONFIG = {
    "asset": Field(str, description="The asset to redo, with everything that reads it."),
    "from": Field(str, description="First partition, as YYYY-MM-DD."),
    "to": Field(str, is_required=False, description="Last partition; without it, the first alone."),
    "include_root": Field(bool, default_value=True, description="False leaves the asset itself as it is."),
    "reason": Field(str, default_value="", description="Why, for the record."),
    "requested_by": Field(str, default_value="", description="Who asks."),
    "plan": Field(str, default_value="", description="Fingerprint of the plan that was looked at, if one was."),
}


class Watcher(Protocol):
    """Who is told how a backfill goes; a command line draws it."""

    def opened(self, backfill_id: str, plan: BackfillPlan) -> None: ...

    def saw(self, step: Step) -> None: ...

    def closed(self, tally: Tally) -> None: ...


class Unwatched:
    """Nobody looks; the log has it all."""

    def opened(self, backfill_id: str, plan: BackfillPlan) -> None:
        pass

    def saw(self, step: Step) -> None:
        pass

    def closed(self, tally: Tally) -> None:
        pass


def build_backfill_job(graph: AssetGraph, definitions: Callable[[], Definitions], settings: Settings) -> JobDefinition:
    """The job that redoes partitions of `graph`, whose assets are in `definitions`."""

    @op(
        name=OP_NAME,
        config_schema=_CONFIG,
        required_resource_keys={WATCHER_KEY},
        description="Drives a backfill: plans it, opens its record, runs its units in order, closes its record.",
    )
    def drive_backfill(context: OpExecutionContext) -> None:
        Backfill(context, graph, definitions, settings).run(ask_from_config(context.op_config))

    @job(
        name=JOB_NAME,
        description="Redo a range of an asset and everything that reads it, in order.",
        resource_defs={WATCHER_KEY: Unwatched()},
        executor_def=in_process_executor,
        tags={ROLE_TAG: "driver", **NO_RETRIES},
    )
    def lineage_assets_backfill() -> None:
        drive_backfill()

    return lineage_assets_backfill


class Backfill:
    """One backfill, inside the op that drives it."""

    def __init__(
        self,
        context: OpExecutionContext,
        graph: AssetGraph,
        definitions: Callable[[], Definitions],
        settings: Settings,
    ) -> None:
        self.context = context
        self.graph = graph
        self.definitions = definitions
        self.settings = settings
        self.watcher: Watcher = getattr(context.resources, WATCHER_KEY)
        self.records: list[PartitionRecord] = []

    def run(self, ask: Ask) -> None:
        """Plan, open, drive, close; raises when anything planned is not there in the end."""
        plan = ask.plan_at(self.graph, utc_now())
        if not plan.assets:
            self.context.log.info("Nothing reads what was asked for: nothing is to be redone.")
            return
        backfill_id = make_new_backfill_id()
        with not_interrupted():
            told = self._open(ask, plan, backfill_id)
        tally = Tally(plan)
        try:
            with hearing_signals() as heard:
                lane = InProcessLane(
                    instance=self.context.instance,
                    definitions=self.definitions,
                    backfill_id=backfill_id,
                    plan=plan,
                    job=self._job(plan),
                    anchor=self.context.run_id,
                    heard=heard,
                )
                for step in drive(plan, self.graph, lane):
                    tally = self._after(step, tally)
        except _INTERRUPTS:
            tally = tally.cancelled()
        finally:
            with not_interrupted():
                self._close(backfill_id, tally, told)
        self._raise_for(tally)

    def _open(self, ask: Ask, plan: BackfillPlan, backfill_id: str) -> Told:
        self.context.log.info("Backfill %s, plan %s: %s.", backfill_id, plan.name, request_text(plan.request))
        tags = {PLAN_TAG: plan.name, OWNER_TAG: owner()}
        # The anchor first: the daemon may look at the record the moment it is there, and ends one without a run.
        self.context.instance.add_run_tags(self.context.run_id, {BACKFILL_TAG: backfill_id, **tags})
        estimate = estimate_seconds(plan, read_histories(self.context.instance, [one.asset for one in plan.assets]))
        known = {} if estimate is None else {ESTIMATE_TAG: str(estimate)}
        known[JOB_TAG] = self._job(plan)
        label = Label(request_text(plan.request), ask.reason, ask.requested_by, {**tags, **known})
        open_record(self.context.instance, self.definitions(), backfill_id, plan, label)
        self.watcher.opened(backfill_id, plan)
        assets = self.definitions().resolve_asset_graph()
        return Told.started(self.context.instance, backfill_id, assets, self.graph, self.settings)

    def _job(self, plan: BackfillPlan) -> str:
        return job_tag((planned.asset for planned in plan.assets), self.graph)

    def _after(self, step: Step, tally: Tally) -> Tally:
        self.watcher.saw(step)
        match step:
            case Begun(unit=unit):
                self.context.log.info("Running %s.", unit)
                return tally
            case Ran(unit=unit, run_id=run_id, records=records):
                self.records += records
                now = tally.with_records(records)
                self.context.log.info("%s ran as %s. So far: %s.", unit, run_id, now)
                return now
            case Stopped():
                self.context.log.info("Stopping: the end of the backfill was asked for.")
                return tally.cancelled()

    def _close(self, backfill_id: str, tally: Tally, told: Told) -> None:
        close_record(self.context.instance, self.definitions(), backfill_id, tally)
        self.context.log.info("%s. %s", tally, told.ended())
        self.watcher.closed(tally)

    def _raise_for(self, tally: Tally) -> None:
        if tally.is_cancelled:
            self.context.instance.report_run_canceling(self.context.run)
            raise DagsterExecutionInterruptedError
        if not tally.is_whole:
            said = [f"Not everything is there: {tally}.", *ending_lines(tally, self.records)]
            raise Failure("\n".join(said), allow_retries=False)
