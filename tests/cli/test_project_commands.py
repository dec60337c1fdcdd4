"""The commands plan, graph and backfill as a person gives them: what is printed, what is changed, how they end."""

from __future__ import annotations

import json
import os
import signal
from io import StringIO
from pathlib import Path

import pytest

from lineage_assets.backfill.plan import plan_from_text
from lineage_assets.settings import load_settings
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Report
from tests.support import recording
from tests.support.small_project import isolate, run_command, write_project
from tests.support.small_shop import feed

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_project(tmp_path / "project")
    isolate(monkeypatch, folder)
    # The small shop's launcher needs neither Java nor jars.
    monkeypatch.setattr("lineage_assets.cli.ready.ready_for_spark", lambda _settings: None)
    return folder


@pytest.mark.usefixtures("project")
def test_plan_prints_the_grid_the_reasons_and_the_totals(capfd: Captured) -> None:
    assert run_command("plan", "orders", "--from", "2021-06-04", "--to", "2021-06-06") == 0
    said = capfd.readouterr().out
    assert "orders 2021-06-04..2021-06-06 and all that reads it." in said
    assert "   2 weekly   o  o  o  o  o\n" in said
    assert "weekly 2021-06-04..2021-06-08: reads orders 2021-06-04..2021-06-06" in said
    assert "18 partitions of 4 assets in 3 runs, 3 waves." in said


@pytest.mark.usefixtures("project")
def test_plan_as_json_is_the_plan(capfd: Captured) -> None:
    assert run_command("plan", "orders", "--from", "2021-06-04", "--without-root", "--json") == 0
    plan = plan_from_text(capfd.readouterr().out)
    assert [str(unit) for unit in plan.units] == ["weekly 2021-06-04..2021-06-06", "best, worst 2021-06-04..2021-06-06"]


@pytest.mark.usefixtures("project")
def test_plan_changes_nothing(own_home: Path) -> None:
    assert run_command("plan", "orders", "--from", "2021-06-04") == 0
    assert not own_home.exists()


@pytest.mark.usefixtures("project")
def test_graph_lists_assets_jobs_and_windows(capfd: Captured) -> None:
    assert run_command("graph") == 0
    said = capfd.readouterr().out
    assert "example.weekly" in said
    assert "4 assets, made by 3 jobs." in said


@pytest.mark.usefixtures("project")
def test_backfill_shows_the_plan_and_runs_it(capfd: Captured) -> None:
    feed(load_settings(), *range(1, 13))
    assert run_command("backfill", "orders", "--from", "2021-06-01", "--to", "2021-06-12", "--yes") == 0
    said = capfd.readouterr().out
    assert "48 partitions of 4 assets in 3 runs, 3 waves." in said
    assert "  best, worst 2021-06-01..2021-06-12: 24 done (" in said
    assert "48 done of 48 partitions, in " in said
    assert "Traceback" not in said


@pytest.mark.usefixtures("project")
def test_after_a_backfill_the_plan_knows_how_its_partitions_stand(capfd: Captured) -> None:
    feed(load_settings(), *range(1, 12))
    assert run_command("backfill", "orders", "--from", "2021-06-01", "--to", "2021-06-12", "--yes") == 1
    capfd.readouterr()
    assert run_command("plan", "orders", "--from", "2021-06-11", "--to", "2021-06-12") == 0
    said = capfd.readouterr().out
    assert "   1 orders   o  F\n" in said
    assert "   2 weekly   o  b\n" in said


@pytest.mark.usefixtures("project")
def test_a_backfill_with_a_bad_day_says_what_is_missing_why_and_what_mends_it(capfd: Captured) -> None:
    feed(load_settings(), *range(1, 13))
    feed(load_settings(), 5, header="identity")
    assert run_command("backfill", "orders", "--from", "2021-06-01", "--to", "2021-06-12", "--yes") == 1
    ended = capfd.readouterr()
    said = ended.out
    assert "38 done, 1 failed, 9 blocked of 48 partitions, in " in said
    assert "failed   orders 2021-06-05: schema change: " in said
    assert "blocked  weekly 2021-06-05..2021-06-07" in said
    assert "  When the cause is gone: lineage-assets backfill orders --from 2021-06-05 --to 2021-06-05\n" in said
    assert "Traceback" not in said + ended.err


@pytest.mark.usefixtures("project")
def test_a_backfill_says_at_its_end_that_its_events_did_not_arrive_and_what_sends_them(
    monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    feed(load_settings(), 12)
    said = "Lineage of 3 runs: 3 not all sent. Events go to nobody: no lineage server is up; "
    assert run_command("backfill", "orders", "--from", "2021-06-12", "--yes") == 1
    ending = capfd.readouterr().out
    assert said in ending
    assert "`lineage-assets lineage flush` sends what is left.\n" in ending
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    run_command("backfill", "orders", "--from", "2021-06-12", "--yes")
    assert "Lineage of" not in capfd.readouterr().out


@pytest.mark.usefixtures("project")
def test_what_runs_print_goes_to_a_log_in_the_state_folder(own_home: Path, capfd: Captured) -> None:
    feed(load_settings(), 12)
    run_command("backfill", "orders", "--from", "2021-06-12", "--yes")
    (log,) = (own_home / "logs").iterdir()
    assert log.name.startswith("backfill-")
    assert "RUN_START" not in capfd.readouterr().err


@pytest.mark.usefixtures("project")
def test_ctrl_c_ends_with_what_was_done_and_how_to_go_on(monkeypatch: pytest.MonkeyPatch, capfd: Captured) -> None:
    def interrupted(_self: recording.RecordingLauncher, _context: object, program: Program) -> Report:
        os.kill(os.getpid(), signal.SIGINT)
        return recording.report_of(program)

    feed(load_settings(), *range(1, 13))
    monkeypatch.setattr(recording.RecordingLauncher, "launch", interrupted)
    assert run_command("backfill", "orders", "--from", "2021-06-01", "--to", "2021-06-12", "--yes") == 130
    said = capfd.readouterr().out
    assert "Stopped. 48 not run of 48 partitions" in said
    assert "To run what is left, give the same command again." in said


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_run(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured, answer: str
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(answer))
    assert run_command("backfill", "orders", "--from", "2021-06-04") == 1
    assert "Run it? [y/N]" in capfd.readouterr().out
    assert not own_home.exists()


@pytest.mark.usefixtures("project")
def test_a_backfill_of_nothing_ends_well_and_opens_nothing(own_home: Path, capfd: Captured) -> None:
    assert run_command("backfill", "best", "--from", "2021-06-04", "--without-root", "--yes") == 0
    assert "nothing is to be redone" in capfd.readouterr().out
    assert not own_home.exists()


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("command", ["plan", "backfill"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ordres", "--from", "2021-06-04"], 'No asset "ordres" in the graph. Did you mean "orders"?'),
        (["orders", "--from", "2021-06-06", "--to", "2021-06-04"], "swap the two: --from 2021-06-04 --to 2021-06-06"),
        (["orders", "--from", "2031-06-04"], 'The partitions 2031-06-04 of "orders" do not exist'),
        (["orders", "--from", "2021-06-31"], 'The partition "2021-06-31" is not valid'),
    ],
)
def test_bad_words_are_one_paragraph_and_change_nothing(
    own_home: Path, capfd: Captured, command: str, arguments: list[str], said: str
) -> None:
    assert run_command(command, *arguments) == 2
    ended = capfd.readouterr()
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
    assert ended.out == ""
    assert not own_home.exists()


BROKEN = {
    "syntax": ("def f(:\n", "SyntaxError in"),
    "name": ("nothing_there\n", "NameError in"),
    "none": ("x = 1\n", "it has 0 objects of Dagster's class Definitions"),
    "two": ("import dagster as dg\na = dg.Definitions()\nb = dg.Definitions()\n", "it has 2 objects"),
    "strangers": ("import dagster as dg\ndefs = dg.Definitions()\n", "definitions.py holds no asset of ours"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_project_that_cannot_be_loaded_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured, kind: str
) -> None:
    code, reason = BROKEN[kind]
    isolate(monkeypatch, write_project(tmp_path / "project", code))
    assert run_command("graph") == 2
    said = capfd.readouterr().err
    assert reason in said
    assert "Traceback" not in said


def test_outside_a_project_a_command_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command("graph") == 2
    assert "there is no workspace.yaml in it or above it" in capfd.readouterr().err


@pytest.mark.usefixtures("project")
def test_json_of_a_plan_is_one_object_and_nothing_else(capfd: Captured) -> None:
    assert run_command("plan", "orders", "--from", "2021-06-04", "--json") == 0
    ended = capfd.readouterr()
    assert json.loads(ended.out)["version"] == 1
    assert ended.err == ""
