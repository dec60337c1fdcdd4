"""The commands why, impact and history on a small shop's own Dagster instance, as a person gives them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from dagster import AssetKey as DagsterAssetKey
from dagster import AssetMaterialization, DagsterEventType, DagsterInstance, EventRecordsFilter

from lineage_assets.cli.project import load_project, open_instance
from lineage_assets.cli.story import Story
from lineage_assets.dagster_private import BulkActionStatus, PartitionBackfill
from lineage_assets.graph import AssetKey, LineageJob
from lineage_assets.ledger.dagster_log import attempt_event, closing_event, records_of_run
from lineage_assets.ledger.partition_log import PartitionLogs
from lineage_assets.ledger.record import Cause, Closing, State
from lineage_assets.lineage.ids import lineage_run_id
from lineage_assets.partitions import set_of
from lineage_assets.settings import load_settings
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Report
from tests.support import recording
from tests.support.records import make_attempt
from tests.support.small_project import isolate, run_command, write_project
from tests.support.small_shop import feed

Captured = pytest.CaptureFixture[str]
DAYS = (date(2021, 6, 1), date(2021, 6, 6))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_project(tmp_path / "project")
    isolate(monkeypatch, folder)
    return folder


def run_shop(first: date, last: date, only: AssetKey | None = None) -> str:
    """One Dagster run over the shop; its id."""
    settings = load_settings()
    with open_instance(settings) as instance:
        return Story(load_project(), instance, settings.home / "landing").run(first, last, only=only).run_id


@pytest.fixture(scope="module")
def ran_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A state folder after six days in one run; the feed of the fifth has a column of another name, so what reads it
    is blocked. And the id of the run.
    """
    root = tmp_path_factory.mktemp("questions")
    with pytest.MonkeyPatch.context() as environment:
        isolate(environment, write_project(root / "project"))
        environment.setenv("LINEAGE_ASSETS_HOME", str(root / "home"))
        environment.delenv("DAGSTER_HOME", raising=False)
        feed(load_settings(), *range(1, 7))
        feed(load_settings(), 5, header="identity")
        return root / "home", run_shop(*DAYS)


@pytest.fixture
def shop(project: Path, own_home: Path, ran_once: tuple[Path, str]) -> str:
    """The run behind a copy of that folder."""
    assert project.is_dir()
    home, run_id = ran_once
    shutil.copytree(home, own_home)
    return run_id


def answer(capfd: Captured, *arguments: str) -> Mapping[str, Any]:
    capfd.readouterr()
    assert run_command(*arguments, "--json") == 0
    ended = capfd.readouterr()
    assert ended.err == ""
    said: Mapping[str, Any] = json.loads(ended.out)
    assert said["version"] == 1
    return said


def printed(capfd: Captured, *arguments: str) -> str:
    capfd.readouterr()
    assert run_command(*arguments) == 0
    ended = capfd.readouterr()
    assert "Traceback" not in ended.out + ended.err
    return ended.out


def test_why_tells_the_run_the_code_and_the_tree_of_inputs(shop: str, capfd: Captured) -> None:
    said = printed(capfd, "why", "best", "2021-06-04")
    assert "No run is on record" not in said
    assert "best 2021-06-04: good\n" in said
    assert f"by run {shop}, attempt 1" in said
    assert f"  └─ weekly 2021-06-04  run {shop[:8]}, commit " in said
    assert f"     └─ orders 2021-06-02..2021-06-04  run {shop[:8]}, commit " in said
    assert "3 versions, 21 rows in all, landing files in 3 versions" in said


def test_why_as_json_names_each_version_once_and_refers_to_it(shop: str, capfd: Captured) -> None:
    said = answer(capfd, "why", "best", "2021-06-04")
    versions = {one["id"]: one for one in said["versions"]}
    assert len(versions) == len(said["versions"]) == 5
    best = versions[said["data"]]
    assert (best["run"], best["rows"], best["state"], best["attempt"]) == (shop, 7, "good", 1)
    weekly = versions[best["reads"][0]["id"]]
    assert weekly["source"]["path"] == "tests/support/small_shop.py"
    assert [read["partition"] for read in weekly["reads"]] == ["2021-06-02", "2021-06-03", "2021-06-04"]
    assert all(versions[read["id"]]["landing_version"] for read in weekly["reads"])


def test_the_lineage_run_that_why_names_is_the_one_whose_events_were_made(shop: str, capfd: Captured) -> None:
    of_day = lineage_run_id(shop, LineageJob("shop", "example.two"), set_of(["2021-06-04"]), 1)
    assert answer(capfd, "why", "best", "2021-06-04")["versions"][0]["lineage_run"] == str(of_day)


def test_why_not_names_where_the_badness_began_and_the_command(shop: str, capfd: Captured) -> None:
    said = printed(capfd, "why", "best", "2021-06-06")
    assert "best 2021-06-06: blocked\n" in said
    assert "began at     orders 2021-06-05: failed, schema change: " in said
    assert f"in run {shop}\n" in said
    assert "  lineage-assets backfill orders --from 2021-06-05 --to 2021-06-05\n" in said


@pytest.mark.usefixtures("shop")
def test_why_of_what_nobody_asked_for_says_so(capfd: Captured) -> None:
    said = answer(capfd, "why", "orders", "2021-06-11")
    assert (said["standing"], said["next"]) == (
        "never asked for",
        ["lineage-assets backfill orders --from 2021-06-11 --to 2021-06-11"],
    )


@pytest.mark.usefixtures("project")
def test_a_question_before_anything_ran_is_answered_and_makes_nothing(own_home: Path, capfd: Captured) -> None:
    assert answer(capfd, "why", "weekly", "2021-06-04")["standing"] == "never asked for"
    assert answer(capfd, "history", "weekly", "2021-06-04")["attempts"] == []
    assert {one["effect"] for one in answer(capfd, "impact", "orders", "2021-06-04")["readers"]} == {"never made"}
    note = f"No run is on record in the state folder {own_home}; LINEAGE_ASSETS_HOME names another.\n"
    for ask in ("why", "history", "impact"):
        assert printed(capfd, ask, "orders", "2021-06-04").startswith(note)
    assert not own_home.exists()


@pytest.mark.usefixtures("project")
def test_a_state_folder_without_a_run_names_the_demo_s_beside_it(own_home: Path, capfd: Captured) -> None:
    with open_instance(load_settings()):
        (own_home / "demo" / "dagster").mkdir(parents=True)
    said = printed(capfd, "why", "orders", "2021-06-04").splitlines()
    assert said[0].endswith(f"LINEAGE_ASSETS_HOME names another. The demo's state is in {own_home / 'demo'}.")


@pytest.mark.usefixtures("project")
def test_a_dagster_home_of_one_s_own_without_a_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    (tmp_path / "theirs").mkdir()
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "theirs"))
    note = f"No run is on record in {tmp_path / 'theirs'}; DAGSTER_HOME names another place.\n"
    assert printed(capfd, "why", "orders", "2021-06-04").startswith(note)


@pytest.mark.usefixtures("shop")
def test_the_reason_of_a_backfill_is_that_of_dagster_s_own_record() -> None:
    with open_instance(load_settings()) as instance:
        assert PartitionLogs(instance).reason_of("nobody's") is None
        asked = PartitionBackfill(
            backfill_id="sohmxomj",
            status=BulkActionStatus.COMPLETED,
            from_failure=False,
            tags={},
            backfill_timestamp=1.0,
            description="late file of the 6th",
        )
        instance.add_backfill(asked)
        assert PartitionLogs(instance).reason_of("sohmxomj") == "late file of the 6th"


def test_from_a_wrong_number_to_what_caused_it_in_three_commands(
    shop: str, capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The feed sent other rows for 06-02 later on; weekly of 06-04 was not made again."""

    def other_content(_self: recording.RecordingLauncher, _context: object, program: Program) -> Report:
        return recording.report_of(program, content="other")

    feed(load_settings(), 2, row="2")
    monkeypatch.setattr(recording.RecordingLauncher, "launch", other_content)
    again = run_shop(date(2021, 6, 2), date(2021, 6, 2), only=("orders",))
    said = printed(capfd, "why", "weekly", "2021-06-04")
    assert "weekly 2021-06-04: stale\n" in said
    assert f"now, by run {again}; " in said
    assert "PUBLISHED AGAIN SINCE in another version\n" in said
    history = answer(capfd, "history", "orders", "2021-06-02")
    assert [one["verdict"]["run"] for one in history["attempts"]] == [shop, again]
    assert [each["what"] for each in history["comparisons"][0]["changed"]] == ["data version", "landing version"]
    impact = answer(capfd, "impact", "orders", "2021-06-02")
    effects = {(one["asset"], one["partition"]): one["effect"] for one in impact["readers"]}
    assert effects["weekly", "2021-06-04"] == "stale"
    assert effects["best", "2021-06-04"] == "reads what is stale"


def test_as_of_a_time_the_answer_is_that_of_then(shop: str, capfd: Captured) -> None:
    with open_instance(load_settings()) as instance:
        (first,) = (one for one in instance.get_run_records() if one.dagster_run.run_id == shop)
    before = datetime.fromtimestamp(first.create_timestamp.timestamp(), timezone.utc) - timedelta(seconds=1)
    assert answer(capfd, "why", "best", "2021-06-04", "--at", before.isoformat())["standing"] == "never asked for"
    assert answer(capfd, "history", "best", "2021-06-04", "--at", before.isoformat())["attempts"] == []


def test_history_lists_the_attempts_and_what_changed(shop: str, capfd: Captured) -> None:
    feed(load_settings(), 5)
    again = run_shop(date(2021, 6, 5), date(2021, 6, 5), only=("orders",))
    said = printed(capfd, "history", "orders", "2021-06-05")
    assert "orders 2021-06-05: 2 attempts\n" in said
    assert "     schema change: " in said
    assert f"     run {shop}, attempt 1\n" in said
    assert f"     run {again}, attempt 1\n" in said
    assert "From 1 to 2\n  state: failed -> good\n" in said
    assert "  lineage-assets impact orders 2021-06-05\n" in said
    first, second = re.findall(r"^ +\d\. (.+? UTC)  ", said, re.MULTILINE)
    assert "failed" in printed(capfd, "why", "orders", "2021-06-05", "--at", first).splitlines()[0]
    assert "good" in printed(capfd, "why", "orders", "2021-06-05", "--at", second).splitlines()[0]
    compared = answer(capfd, "history", "orders", "2021-06-05", "--compare", "2", "1")["comparisons"]
    assert [(one["before"], one["after"]) for one in compared] == [(2, 1)]


@pytest.mark.usefixtures("shop")
def test_impact_says_in_one_line_that_no_lineage_server_is_up(capfd: Captured) -> None:
    said = printed(capfd, "impact", "orders", "2021-06-04")
    assert "weekly\n    current  2021-06-04\n" in said
    assert "Jobs of others are not known: no lineage server is up. `lineage-assets marquez up` starts one.\n" in said


@pytest.mark.usefixtures("shop")
def test_impact_says_that_events_go_to_whom_nobody_can_ask(
    capfd: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "to_file.yml").write_text(f"transport: {{type: file, log_file_path: {tmp_path / 'events'}}}\n")
    monkeypatch.setenv("OPENLINEAGE_CONFIG", str(tmp_path / "to_file.yml"))
    said = printed(capfd, "impact", "orders", "2021-06-04")
    (line,) = (line for line in said.splitlines() if line.startswith("Jobs of others are not known: "))
    assert str(tmp_path / "to_file.yml") in line
    assert line.endswith("which answers no questions. OPENLINEAGE_URL names who is asked.")


@pytest.mark.usefixtures("shop")
def test_impact_says_in_one_line_that_the_lineage_server_does_not_answer(
    capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:9")
    assert "Jobs of others are not known: No lineage server answers at " in printed(
        capfd, "impact", "orders", "2021-06-04"
    )
    assert answer(capfd, "impact", "orders", "2021-06-04")["foreign_jobs"] is None


@pytest.mark.usefixtures("shop")
def test_impact_asks_the_lineage_server_for_jobs_of_others(
    capfd: Captured, monkeypatch: pytest.MonkeyPatch, lineage_url: str
) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", lineage_url)
    assert answer(capfd, "impact", "best", "2021-06-04")["foreign_jobs"] == []
    assert "The lineage server knows no job of others downstream.\n" in printed(capfd, "impact", "best", "2021-06-04")


def planned_run(instance: DagsterInstance) -> str:
    """A run that was to make orders of 06-11 and has not begun."""
    job = load_project().definitions.resolve_implicit_global_asset_job_def()
    run = instance.create_run_for_job(
        job,
        asset_selection=frozenset({DagsterAssetKey("orders")}),
        tags={
            "dagster/asset_partition_range_start": "2021-06-11",
            "dagster/asset_partition_range_end": "2021-06-12",
        },
    )
    wanted = EventRecordsFilter(DagsterEventType.ASSET_MATERIALIZATION_PLANNED, DagsterAssetKey("orders"))
    planned = instance.event_log_storage.get_event_records(wanted)
    assert run.run_id in {record.event_log_entry.run_id for record in planned}, "Dagster no longer plans by partition"
    return run.run_id


@pytest.mark.usefixtures("project")
def test_a_run_that_is_to_make_a_partition_is_named_while_it_goes_on_and_when_it_ended_without_a_verdict(
    capfd: Captured,
) -> None:
    with open_instance(load_settings()) as instance:
        run_id = planned_run(instance)
    live = answer(capfd, "why", "orders", "2021-06-11")
    assert (live["standing"], live["runs_without_verdict"][0]["run"], live["next"]) == ("being made", run_id, [])
    assert f"run {run_id} is to make it (not_started)" in printed(capfd, "why", "orders", "2021-06-11")
    with open_instance(load_settings()) as instance:
        run = instance.get_run_by_id(run_id)
        assert run is not None
        instance.report_run_canceled(run)
    dead = answer(capfd, "why", "orders", "2021-06-11")
    assert (dead["standing"], dead["runs_without_verdict"][0]["status"]) == ("no verdict", "canceled")
    assert [
        one["run_without_verdict"]["run"] for one in answer(capfd, "history", "orders", "2021-06-11")["attempts"]
    ] == [run_id]


@pytest.mark.usefixtures("shop")
def test_what_was_materialized_by_hand_is_to_be_adopted(capfd: Captured) -> None:
    with open_instance(load_settings()) as instance:
        instance.report_runless_asset_event(AssetMaterialization("orders", partition="2021-06-04"))
    said = printed(capfd, "why", "orders", "2021-06-04")
    assert "orders 2021-06-04: not adopted\n" in said
    assert "  lineage-assets adopt orders --from 2021-06-04 --to 2021-06-04\n" in said
    assert "materialized by hand, without a record of ours\n" in printed(capfd, "history", "orders", "2021-06-04")


@pytest.mark.parametrize("command", ["why", "impact", "history"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ordres", "2021-06-04"], 'No asset "ordres" in the graph. Did you mean "orders"?'),
        (["orders", "2031-06-04"], 'The partitions 2031-06-04 of "orders" do not exist'),
        (["orders", "2021-06-31"], 'The partition "2021-06-31" is not valid'),
        (["orders", "2021-06-04", "--at", "noon"], 'The time "noon" is not valid'),
        (["orders", "2021-06-04", "--at", "2999-01-01"], "nothing is known of the future"),
    ],
)
@pytest.mark.usefixtures("project")
def test_bad_words_are_one_paragraph(capfd: Captured, command: str, arguments: list[str], said: str) -> None:
    assert run_command(command, *arguments) == 2
    ended = capfd.readouterr()
    assert said in ended.err
    assert (len(ended.err.splitlines()), ended.out) == (1, "")


def test_every_record_of_a_run_is_found_again_by_its_partition(shop: str, capfd: Captured) -> None:
    with open_instance(load_settings()) as instance:
        records = records_of_run(instance, shop)
    assert {record.state for record in records if record.asset == ("best",)} == {State.GOOD, State.BLOCKED}
    for record in records:
        if record.asset == ("best",):
            (one,) = answer(capfd, "history", record.asset[0], record.partition)["attempts"]
            assert (one["verdict"]["state"], one["verdict"]["run"]) == (record.state.value, shop)


@pytest.mark.usefixtures("project")
def test_a_closing_says_why_a_run_gave_no_verdict(capfd: Captured) -> None:
    with open_instance(load_settings()) as instance:
        run_id = planned_run(instance)
        attempt = make_attempt("2021-06-11", run_id=run_id)
        cause = Cause("interrupted", "the machine went away")
        closing = Closing(("orders",), run_id, 1, set_of(["2021-06-11"]), attempt.started, cause)
        for event in (attempt_event(attempt), closing_event(closing)):
            instance.report_runless_asset_event(event)
    said = answer(capfd, "why", "orders", "2021-06-11")
    assert (said["standing"], said["runs_without_verdict"][0]["cause"]["message"]) == (
        "no verdict",
        "the machine went away",
    )


def documented(title: str) -> set[str]:
    """The keys that the page names in the table under a title."""
    page = (Path(__file__).parents[2] / "docs" / "questions.md").read_text("utf-8")
    section = page.split(f"## {title}\n")[1].split("\n## ")[0]
    cells = (line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
    return {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}


@pytest.mark.usefixtures("shop")
def test_the_page_documents_every_key(capfd: Captured) -> None:
    shared = documented("In every answer")
    why = answer(capfd, "why", "best", "2021-06-06")
    assert set(why) == shared | documented("`why`")
    assert set(why["newest_verdict"]) == documented("A verdict")
    assert set(answer(capfd, "impact", "orders", "2021-06-04")) == shared | documented("`impact`")
    assert set(answer(capfd, "history", "best", "2021-06-06")) == shared | documented("`history`")
