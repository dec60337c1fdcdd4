"""A story of runs, bad days, blocks and backfills in the small shop, the same under the same run ids every time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from dagster import AssetKey

from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.submit import Label, close_record, open_record
from lineage_assets.backfill.tally import Tally
from lineage_assets.dagster_private import BACKFILL_TAG
from lineage_assets.ledger.dagster_log import records_of_run
from tests.support.recording import report_of
from tests.support.records import NOON
from tests.support.world import ASSETS, ShopWorld

_RUNS = UUID("5a5ff0ba-1111-4222-8333-444455556666")


def june(day: int) -> str:
    return f"2021-06-{day:02}"


@dataclass
class Story:
    """What happens in one shop; `between` is what a daemon's sensor would do after each run."""

    world: ShopWorld
    between: Callable[[], object]
    runs: list[str] = field(default_factory=list)

    def happen(self) -> None:
        world = self.world
        shutil.rmtree(world.settings.home / "landing", ignore_errors=True)
        world.feed(1, 3, 4)
        self.run(1, 4)
        world.feed(2)
        with self.backfill("repaired", 2, 2) as done:
            done(2, 2, ["orders"])
            world.launcher.answer = lambda program: report_of(program, bad={("weekly", june(3)): "checks"})
            done(2, 4, ["weekly"])
            world.launcher.answer = report_of
            done(2, 4, ["best", "worst"])
        self.cancelled_in_the_queue(5)
        world.feed(6)
        with self.backfill("stillbad", 5, 6) as done:
            done(5, 6, ["orders"])
        self.run(1, 1, ["orders"])

    def run(self, first: int, last: int, select: Sequence[str] = ASSETS, backfill: str | None = None) -> str:
        tags = {"dagster/asset_partition_range_start": june(first), "dagster/asset_partition_range_end": june(last)}
        run = self.world.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=self.world.instance,
            asset_selection=[AssetKey(name) for name in select],
            raise_on_error=False,
            run_id=self._next_id(),
            tags=tags if backfill is None else {**tags, BACKFILL_TAG: backfill},
        )
        self.between()
        return run.run_id

    def cancelled_in_the_queue(self, day: int) -> None:
        job = self.world.definitions.resolve_implicit_global_asset_job_def()
        selected = job.get_subset(asset_selection={AssetKey("orders"), AssetKey("weekly")})
        tags = {"dagster/partition": june(day)}
        run = self.world.instance.create_run_for_job(selected, run_id=self._next_id(), tags=tags)
        self.world.instance.report_run_canceled(run)
        self.between()

    @contextmanager
    def backfill(self, name: str, first: int, last: int) -> Iterator[Callable[[int, int, Sequence[str]], None]]:
        """A backfill of `orders` and all below it; it ends with the block, whatever was run of it."""
        world = self.world
        plan = Ask("orders", june(first), june(last)).plan_at(world.graph, NOON.replace(year=2022))
        open_record(world.instance, world.definitions, name, plan, Label(name, "the feed is back", "oncall", {}))
        tally = Tally(plan)

        def done(first: int, last: int, select: Sequence[str]) -> None:
            nonlocal tally
            run_id = self.run(first, last, select, name)
            tally = tally.with_records(records_of_run(world.instance, run_id))

        yield done
        close_record(world.instance, world.definitions, name, tally)
        self.between()

    def _next_id(self) -> str:
        self.runs.append(str(uuid5(_RUNS, str(len(self.runs)))))
        return self.runs[-1]
