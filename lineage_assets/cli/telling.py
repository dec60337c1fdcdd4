"""Tells the story of the bad days on a terminal: acts through the story, prints what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from rich.console import Console

from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.explain import PlanView
from lineage_assets.cli.project import shown_plan
from lineage_assets.cli.running import INTERRUPTED, exit_code, run_backfill
from lineage_assets.cli.stage import Stage
from lineage_assets.cli.story import BAD_FIRST, BAD_LAST, FIRST, LAST, RunResult, days_of
from lineage_assets.cli.tables import causes_table, jobs_table, runs_table, states_table
from lineage_assets.graph import name_of
from lineage_assets.ledger.record import State
from lineage_assets.marquez.client import marquez_at
from lineage_assets.marquez.shapes import downstream_jobs, job_node_id

_NAMESPACE = "food_delivery"
_ORDERS_JOB = "example.etl_orders"


@dataclass
class Teller:
    """One telling; counts what it cost."""

    console: Console
    stage: Stage
    made: int = 0
    seconds: float = 0.0
    started: float = field(default_factory=monotonic)

    def tell(self) -> bool:
        """The whole story; whether every partition is good in the end.

        :raises KeyboardInterrupt: somebody wants to hear no more of it
        """
        story = self.stage.story
        self._title("1. The feed has dropped its files; on three days those of `orders` are bad")
        story.drop_feed()
        self._title("2. History in one range, then nine days as a scheduler would run them")
        self._ran(story.history())
        for result in story.days():
            self._ran(result)
        self._title("3. What is bad, and what waits for it")
        self._show_states()
        self.console.print(causes_table(story.verdicts()))
        self._title("4. The feed is repaired; the plan")
        story.repair_feed()
        ask = Ask("orders", BAD_FIRST.isoformat(), BAD_LAST.isoformat(), reason="the feed was repaired")
        plan = shown_plan(story.project, ask, self.stage.settings)
        self.console.print(PlanView(plan))
        self._title("5. One backfill")
        code = exit_code(run_backfill(story.project, ask, self.stage.settings))
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        self._show_states()
        self._title("6. What the lineage server holds")
        self._show_lineage({name_of(planned.asset) for planned in plan.assets})
        self._show_cost()
        return code == 0 and self._is_whole()

    def _title(self, text: str) -> None:
        self.console.print(f"\n[bold]{text}[/bold]")

    def _ran(self, result: RunResult) -> None:
        days = str(result.first) if result.first == result.last else f"{result.first}..{result.last}"
        counted = ", ".join(f"{result.count(state)} {state.value}" for state in State if result.count(state))
        self.console.print(f"  {days}: {counted}, in {result.seconds:.1f} s")
        self.made += result.count(State.GOOD)
        self.seconds += result.seconds

    def _show_states(self) -> None:
        self.console.print(states_table(self.stage.story.verdicts(), days_of(FIRST, LAST)))

    def _show_lineage(self, planned: set[str]) -> None:
        with marquez_at(self.stage.lineage_url, api_key=self.stage.settings.lineage_key) as marquez:
            self.console.print(jobs_table(marquez.jobs(_NAMESPACE)))
            self.console.print(runs_table(_ORDERS_JOB, marquez.runs(_NAMESPACE, _ORDERS_JOB)))
            node = job_node_id(_NAMESPACE, _ORDERS_JOB)
            below = downstream_jobs(marquez.lineage(node), node)
        graph = self.stage.story.project.graph
        jobs = {graph.nodes[key].job.name for key in graph.nodes if name_of(key) in planned} - {_ORDERS_JOB}
        found = sorted(node_id.rpartition(":")[2] for node_id in below)
        self.console.print(f"Downstream of {_ORDERS_JOB} by the lineage server's graph: {', '.join(found)}.")
        agree = "They are the jobs of the plan." if set(found) == jobs else f"The plan has {', '.join(sorted(jobs))}."
        self.console.print(agree)

    def _show_cost(self) -> None:
        drivers = self.stage.drivers()
        programs = sum(count for count, _ in drivers)
        self._title("What it cost")
        self.console.print(
            f"  {monotonic() - self.started:.0f} s in all; the first runs took {self.seconds:.0f} s for {self.made} "
            f"partitions, {self.seconds / max(self.made, 1):.2f} s each, lineage included.\n"
            f"  {programs} Spark programs on {len(drivers)} warm {'driver' if len(drivers) == 1 else 'drivers'}, "
            "one JVM each."
        )

    def _is_whole(self) -> bool:
        days = len(days_of(FIRST, LAST))
        return all(
            len(by_day) == days and not any(record.state.is_bad for record in by_day.values())
            for by_day in self.stage.story.verdicts().values()
        )
