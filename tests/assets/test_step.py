"""The way of one partition through a real Dagster run: every partition gets its verdict, and the right ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from dagster import (
    AssetKey,
    BackfillPolicy,
    DagsterInstance,
    DailyPartitionsDefinition,
    Definitions,
    ExecuteInProcessResult,
    asset,
)

from lineage_assets.assets.declaration import table
from lineage_assets.assets.definitions import build_definitions, graph_of
from lineage_assets.errors import BadDeclarationError, LineageAssetsError
from lineage_assets.launch.launcher import ProgramFailedError, ProgramLostError
from lineage_assets.ledger.dagster_log import read_history
from lineage_assets.ledger.record import Cause, PartitionRef, State
from lineage_assets.partitions import trailing_days
from lineage_assets.settings import Settings, load_settings
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Observed, Report
from tests.support.recording import RecordingLauncher, report_of
from tests.support.small_shop import JOBS, PIPELINE


@asset(
    partitions_def=DailyPartitionsDefinition("2021-06-01", end_date="2021-06-13"),
    backfill_policy=BackfillPolicy.single_run(),
    deps=["orders"],
)
def strangers() -> None:
    """A plain asset of somebody else's in the same run."""


@dataclass
class World:
    """A code location with a feed, an instance and a launcher that keeps its programs."""

    settings: Settings
    instance: DagsterInstance
    launcher: RecordingLauncher

    @property
    def definitions(self) -> Definitions:
        ours = build_definitions(JOBS, launcher=self.launcher, settings=self.settings)
        return Definitions.merge(ours, Definitions(assets=[strangers]))

    def feed(self, *days: str, header: str = "id") -> None:
        for day in days:
            folder = self.settings.home / "landing" / "orders" / f"ds={day}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "orders.csv").write_text(f"{header}\n1\n", encoding="utf-8")

    def run(self, first: str, last: str, *, select: Sequence[str] = (), **tags: str) -> ExecuteInProcessResult:
        job = self.definitions.resolve_implicit_global_asset_job_def()
        keys = select or ("orders", "weekly", "best", "worst")
        return job.execute_in_process(
            instance=self.instance,
            asset_selection=[AssetKey(name) for name in keys],
            raise_on_error=False,
            tags={
                "dagster/asset_partition_range_start": first,
                "dagster/asset_partition_range_end": last,
                **{f"lineage_assets/{name}": value for name, value in tags.items()},
            },
        )

    def states(self, name: str) -> dict[str, str]:
        verdicts = read_history(self.instance, (name,)).verdicts
        return {day[-2:]: record.state.value for day, record in sorted(verdicts.items())}

    def audits(self) -> list[tuple[str | None, bool]]:
        return [
            (event.partition, event.passed)
            for run in reversed(self.instance.get_runs())
            for record in self.instance.all_logs(run.run_id)
            if record.dagster_event is not None
            and record.dagster_event.event_type_value == "ASSET_CHECK_EVALUATION"
            and (event := record.dagster_event.asset_check_evaluation_data).check_name == "audit"
        ]

    def materialized(self, name: str) -> list[str]:
        return sorted(day[-2:] for day in self.instance.get_materialized_partitions(AssetKey(name)))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    settings = load_settings().model_copy(update={"home": tmp_path, "openlineage_url": None})
    with DagsterInstance.ephemeral() as instance:
        yield World(settings, instance, RecordingLauncher())


def days(first: int, last: int) -> list[str]:
    return [f"2021-06-{day:02}" for day in range(first, last + 1)]


def test_a_good_range_is_one_program_a_job_and_every_partition_is_recorded(world: World) -> None:
    world.feed(*days(1, 5))
    result = world.run("2021-06-01", "2021-06-05")
    assert result.success
    assert [program.function.rsplit(":", 1)[1] for program in world.launcher.programs] == ["orders", "weekly", "two"]
    assert world.states("worst") == dict.fromkeys(["01", "02", "03", "04", "05"], "good")
    record = read_history(world.instance, ("weekly",)).verdicts["2021-06-05"]
    assert list(record.inputs["orders",]) == ["2021-06-03", "2021-06-04", "2021-06-05"]
    assert record.made_by == result.run_id


def test_bad_days_fail_with_their_cause_and_block_exactly_what_reads_them(world: World) -> None:
    world.feed(*days(1, 3), *days(6, 9))
    world.feed("2021-06-04", header="identity")
    result = world.run("2021-06-01", "2021-06-09")
    assert not result.success
    causes = {
        day[-2:]: record.cause.kind
        for day, record in read_history(world.instance, ("orders",)).verdicts.items()
        if record.cause is not None
    }
    assert causes == {"04": "schema change", "05": "freshness"}
    blocked = ["04", "05", "06", "07"]
    for name in ("weekly", "best", "worst"):
        assert [day for day, state in world.states(name).items() if state == "blocked"] == blocked
        assert world.materialized(name) == ["01", "02", "03", "08", "09"]
    assert world.materialized("orders") == ["01", "02", "03", "06", "07", "08", "09"]
    root = read_history(world.instance, ("best",)).verdicts["2021-06-07"]
    assert root.blocked_by == (PartitionRef(("orders",), "2021-06-05"),)


def test_dagsters_own_status_page_agrees(world: World) -> None:
    world.feed(*days(1, 3), "2021-06-05")
    world.run("2021-06-01", "2021-06-05")
    definition = DailyPartitionsDefinition("2021-06-01", end_date="2021-06-13")
    status = world.instance.get_status_by_partition(AssetKey("orders"), days(1, 5), definition)
    assert status is not None
    assert [state.value for state in status.values() if state is not None] == [
        "MATERIALIZED",
        "MATERIALIZED",
        "MATERIALIZED",
        "FAILED",
        "MATERIALIZED",
    ]


def test_the_failure_names_what_is_missing_and_the_command_that_mends_it(world: World) -> None:
    world.feed(*days(1, 3))
    result = world.run("2021-06-01", "2021-06-04")
    messages = [
        str(event.step_failure_data.user_failure_data.description)
        for event in result.all_events
        if event.is_step_failure and event.step_failure_data.user_failure_data is not None
    ]
    assert any(
        "weekly: 1 of 4 partitions were not produced: 2021-06-04 blocked" in message
        and "lineage-assets backfill orders --from 2021-06-04 --to 2021-06-04" in message
        for message in messages
    )


def test_without_its_complete_check_the_step_itself_fails(world: World) -> None:
    job = world.definitions.resolve_implicit_global_asset_job_def()
    subset = job.get_subset(asset_selection={AssetKey("orders")}, asset_check_selection=set())
    result = subset.execute_in_process(
        instance=world.instance,
        raise_on_error=False,
        tags={
            "dagster/asset_partition_range_start": "2021-06-01",
            "dagster/asset_partition_range_end": "2021-06-01",
        },
    )
    assert [event.step_key for event in result.all_events if event.is_step_failure] == ["example__orders"]


def test_a_quarantined_partition_shows_in_the_check_audit_until_it_passes(world: World) -> None:
    world.feed(*days(1, 2))
    world.launcher.answer = lambda program: report_of(program, bad={("orders", "2021-06-02"): "incomplete data"})
    world.run("2021-06-01", "2021-06-02", select=["orders"])
    assert world.states("orders") == {"01": "good", "02": "failed"}
    world.launcher.answer = report_of
    world.run("2021-06-02", "2021-06-02", select=["orders"])
    assert world.audits() == [("2021-06-02", False), ("2021-06-02", True)]


def test_old_data_of_a_failed_partition_does_not_leak(world: World) -> None:
    world.feed(*days(1, 3))
    assert world.run("2021-06-01", "2021-06-03").success
    world.launcher.answer = lambda program: report_of(program, bad={("orders", "2021-06-03"): "incomplete data"})
    world.run("2021-06-03", "2021-06-03", select=["orders"])
    world.launcher.answer = report_of
    world.run("2021-06-03", "2021-06-03", select=["best"])
    assert world.states("best")["03"] == "blocked"


def test_a_refused_program_fails_all_its_partitions_and_is_not_tried_again(world: World) -> None:
    world.feed(*days(1, 2))

    def refuse(_program: Program) -> Report:
        raise ProgramFailedError("refused", "the snapshot is gone")

    world.launcher.answer = refuse
    assert not world.run("2021-06-01", "2021-06-02", select=["orders"]).success
    records = read_history(world.instance, ("orders",)).verdicts.values()
    assert [(record.state, record.cause.kind) for record in records if record.cause] == [
        (State.FAILED, "refused"),
        (State.FAILED, "refused"),
    ]
    assert len(world.launcher.programs) == 1


def test_no_secret_gets_into_a_record(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one that the environment names, nor one that looks like one."""
    monkeypatch.setenv("WAREHOUSE_PASSWORD", "correct horse battery")
    world.feed("2021-06-01")

    def leak(_program: Program) -> Report:
        raise ProgramFailedError(
            "job failed", "no route to jdbc:postgresql://ann:hunter2@db/shop, correct horse battery"
        )

    world.launcher.answer = leak
    world.run("2021-06-01", "2021-06-01", select=["orders"])
    record = read_history(world.instance, ("orders",)).verdicts["2021-06-01"]
    assert record.cause == Cause("job failed", "no route to jdbc:postgresql://***@db/shop, ***")


def test_no_secret_of_openlineages_configuration_gets_into_a_record_or_the_log(world: World, tmp_path: Path) -> None:
    """Neither by a cause, nor by a warning, nor by drift."""
    file = tmp_path / "openlineage.yml"
    file.write_text("transport: {type: noop, apiKey: swordfish-11}", encoding="utf-8")
    world.settings = world.settings.model_copy(update={"openlineage_config": file})
    world.feed("2021-06-01", "2021-06-02")

    def leak(program: Program) -> Report:
        bad = {("orders", "2021-06-01"): "job failed"}
        said = {"message": "swordfish-11 is no number", "warning": "said swordfish-11"}
        observed = Observed(inputs=("s3://swordfish-11/rates", "jdbc:mysql://ann:hunter2@db/rates"))
        made = report_of(program, bad=bad).outputs["orders"]
        days = {day: replace(one, **said) for day, one in made.partitions.items()}
        return Report({"orders": replace(made, partitions=days)}, observed=observed)

    world.launcher.answer = leak
    run = world.run("2021-06-01", "2021-06-02", select=["orders"])
    first, second = read_history(world.instance, ("orders",)).verdicts.values()
    assert first.cause is not None
    assert first.cause.message == "*** is no number"
    assert {first.warning, second.warning} == {"said ***"}
    read = [sentence.partition(",")[0] for sentence in second.drift]
    assert read == ["reads jdbc:mysql://***@db/rates", "reads s3://***/rates"]
    assert "swordfish-11" not in "".join(entry.user_message for entry in world.instance.all_logs(run.run_id))


def test_the_day_that_fails_a_range_is_found_and_the_others_are_made(world: World) -> None:
    world.feed(*days(1, 9))

    def choke(program: Program) -> Report:
        if "2021-06-04" in program.targets:
            raise ProgramFailedError("job failed", "NumberFormatException: a word where a number should be")
        return report_of(program)

    world.launcher.answer = choke
    assert not world.run("2021-06-01", "2021-06-09", select=["orders"]).success
    good = {f"{day:02}": "good" for day in range(1, 10)}
    assert world.states("orders") == {**good, "04": "failed"}
    assert sorted(len(program.targets) for program in world.launcher.programs) == [1, 1, 2, 2, 4, 5, 9]


def test_a_job_that_fails_on_every_day_is_given_up_after_a_few_programs(world: World) -> None:
    world.feed(*days(1, 12))

    def fail(_program: Program) -> Report:
        raise ProgramFailedError("job failed", "division by zero")

    world.launcher.answer = fail
    world.run("2021-06-01", "2021-06-12", select=["orders"])
    assert set(world.states("orders").values()) == {"failed"}
    assert len(world.states("orders")) == 12
    assert len(world.launcher.programs) <= 23


def test_what_could_not_be_launched_has_its_verdict_too(world: World) -> None:
    world.feed(*days(1, 2))

    def find_no_java(_program: Program) -> Report:
        raise LineageAssetsError("No Java 17 or 21 here.")

    world.launcher.answer = find_no_java
    assert not world.run("2021-06-01", "2021-06-02", select=["orders"]).success
    causes = {record.cause for record in read_history(world.instance, ("orders",)).verdicts.values()}
    assert causes == {Cause("not launched", "No Java 17 or 21 here.")}


def test_a_lost_driver_is_tried_again_and_the_number_of_the_try_is_recorded(world: World) -> None:
    world.feed("2021-06-01")

    def lose_once(program: Program) -> Report:
        if len(world.launcher.programs) == 1:
            raise ProgramLostError("the driver was killed")
        return report_of(program)

    world.launcher.answer = lose_once
    assert world.run("2021-06-01", "2021-06-01", select=["orders"]).success
    history = read_history(world.instance, ("orders",))
    assert (history.verdicts["2021-06-01"].state, history.verdicts["2021-06-01"].number) == (State.GOOD, 2)
    assert history.underway == ()
    assert len({program.token for program in world.launcher.programs}) == 1
    assert world.audits() == []


def test_days_that_another_published_meanwhile_are_tried_again_on_the_new_table(world: World) -> None:
    world.feed(*days(1, 2))
    outrun = {("orders", "2021-06-01"): "published by another", ("orders", "2021-06-02"): "published by another"}

    def lose_the_race_once(program: Program) -> Report:
        return report_of(program, bad=outrun if len(world.launcher.programs) == 1 else {})

    world.launcher.answer = lose_the_race_once
    assert world.run("2021-06-01", "2021-06-02", select=["orders"]).success
    assert world.states("orders") == {"01": "good", "02": "good"}
    assert [len(program.targets) for program in world.launcher.programs] == [2, 2]


def test_an_input_that_no_job_makes_is_refused_when_it_is_declared(world: World) -> None:
    job = PIPELINE.job(lambda ordres: ordres, "example.x", table("x", "public.x", "id INTEGER"))
    with pytest.raises(BadDeclarationError, match=r'input of "x" "ordres".*Did you mean "orders"'):
        build_definitions((*JOBS, job), launcher=world.launcher, settings=world.settings)


def test_what_is_unchanged_stands_when_nobody_named_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_assets.assets.platform.table_ancestry", lambda _catalog, _table: frozenset({1}))
    world.feed(*days(1, 3))
    first = world.run("2021-06-01", "2021-06-03")
    launched = len(world.launcher.programs)
    world.run("2021-06-01", "2021-06-03", select=["weekly"], reuse="true")
    record = read_history(world.instance, ("weekly",)).verdicts["2021-06-03"]
    assert (record.state, record.made_by) == (State.REUSED, first.run_id)
    assert len(world.launcher.programs) == launched
    world.run("2021-06-01", "2021-06-03", select=["weekly"], reuse="true", force="true")
    assert len(world.launcher.programs) == launched + 1


def test_another_input_version_or_a_lost_snapshot_is_computed_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = {1}
    monkeypatch.setattr("lineage_assets.assets.platform.table_ancestry", lambda _catalog, _table: frozenset(held))
    world.feed(*days(1, 3))
    world.run("2021-06-01", "2021-06-03")
    world.launcher.answer = lambda program: report_of(program, content="new")
    world.run("2021-06-03", "2021-06-03", select=["orders"])
    world.run("2021-06-01", "2021-06-03", select=["weekly"], reuse="true")
    assert world.states("weekly") == {"01": "reused", "02": "reused", "03": "good"}
    held.clear()
    world.run("2021-06-01", "2021-06-03", select=["weekly"], reuse="true")
    assert world.states("weekly") == {"01": "good", "02": "good", "03": "good"}


def test_one_of_two_outputs_can_be_asked_for_alone(world: World) -> None:
    world.feed("2021-06-01")
    world.run("2021-06-01", "2021-06-01", select=["orders", "weekly", "best"])
    assert [output.asset for output in world.launcher.programs[-1].outputs] == ["best"]
    assert world.states("worst") == {}


def test_a_strangers_asset_in_the_same_run_keeps_its_own_materializations(world: World) -> None:
    world.feed("2021-06-01")
    assert world.run("2021-06-01", "2021-06-01", select=["orders", "strangers"]).success
    assert world.materialized("strangers") == ["01"]


def test_a_run_warns_of_what_it_leaves_stale_before_it_writes(world: World) -> None:
    world.feed(*days(1, 5))
    world.run("2021-06-01", "2021-06-05")
    result = world.run("2021-06-03", "2021-06-03", select=["orders", "weekly"])
    told = [entry.user_message for entry in world.instance.all_logs(result.run_id)]
    warning = next(index for index, message in enumerate(told) if "may leave stale" in message)
    assert told[warning] == (
        "This run may leave stale what it does not select: weekly 2021-06-04..2021-06-05; "
        "best 2021-06-03..2021-06-05; worst 2021-06-03..2021-06-05. "
        "To redo that: lineage-assets backfill orders --from 2021-06-03 --to 2021-06-03 --without-root"
    )
    assert not any("ASSET_MATERIALIZATION" in message for message in told[:warning])
    assert sum("may leave stale" in message for message in told) == 1


def test_a_run_of_a_plan_is_not_warned(world: World) -> None:
    world.feed(*days(1, 5))
    world.run("2021-06-01", "2021-06-05")
    result = world.run("2021-06-03", "2021-06-03", select=["orders"], plan="0123456789abcdef")
    told = [entry.user_message for entry in world.instance.all_logs(result.run_id)]
    assert told
    assert not any("may leave stale" in message for message in told)


def test_the_graph_reads_back_from_the_definitions(world: World) -> None:
    graph = graph_of(world.definitions)
    assert graph.order == (("orders",), ("weekly",), ("best",), ("worst",))
    assert graph.nodes == {node.key: node for job in JOBS for node in job.nodes}
    assert replace(graph.nodes["weekly",]).inputs[0].window == trailing_days(3)
