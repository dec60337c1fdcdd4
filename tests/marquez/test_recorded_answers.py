"""The embedded server is held to answers recorded from a real Marquez 0.50."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest

from lineage_assets.marquez import embedded
from tests.contract import recorded

DIFFERENCES = Path(embedded.__file__).with_name("differences.json")
CHECKER = Path(recorded.__file__).with_name("check_contract.py")
SCENARIOS = sorted(path.parent.name for path in recorded.SCENARIOS.glob("*/steps.json"))
NAMESPACES = {"do": "GET", "path": "/api/v1/namespaces/nowhere"}
NOT_FOUND = {"code": 404, "message": "Namespace 'nowhere' not found."}


def listed(scenario: str) -> list[recorded.Accepted]:
    return [entry for entry in recorded.read_accepted(DIFFERENCES) if entry.scenario == scenario]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_answer_is_as_recorded_or_a_listed_difference(server: httpx.Client, scenario: str) -> None:
    found = [str(fault) for fault in recorded.replay(server, recorded.steps_of(scenario), listed(scenario))]
    assert found == []


def test_the_day_of_all_jobs_needs_no_difference_and_the_bad_days_need_one() -> None:
    assert [entry.step for entry in listed("food_delivery_day")] == []
    assert [entry.step for entry in listed("bad_days")] == [140]


def test_every_listed_difference_names_a_recorded_step_and_a_reason() -> None:
    steps = {scenario: len(recorded.steps_of(scenario)) for scenario in SCENARIOS}
    for entry in recorded.read_accepted(DIFFERENCES):
        assert 1 <= entry.step <= steps[entry.scenario]
        assert entry.reason


def replayed(server: httpx.Client, expect: dict[str, object], *accepted: recorded.Accepted) -> list[str]:
    return [str(fault) for fault in recorded.replay(server, [{**NAMESPACES, "expect": expect}], accepted)]


def accept(ours: object, where: str | None = None) -> recorded.Accepted:
    return recorded.Accepted("any", 1, ours, "told so", where)


def test_a_listed_difference_is_accepted(server: httpx.Client) -> None:
    wrong = {"status": 404, "body": {**NOT_FOUND, "code": 500}}
    assert len(replayed(server, wrong)) == 1
    assert replayed(server, wrong, accept({"status": 404})) == []
    assert replayed(server, wrong, accept(404, "$.body.code")) == []


def test_a_difference_elsewhere_in_the_step_is_not_accepted(server: httpx.Client) -> None:
    wrong = {"status": 500, "body": {**NOT_FOUND, "code": 500}}
    (left,) = replayed(server, wrong, accept(404, "$.body.code"))
    assert "$.status" in left


def test_a_listed_difference_with_another_answer_is_two_faults(server: httpx.Client) -> None:
    wrong = {"status": 500, "body": NOT_FOUND}
    difference, unneeded = replayed(server, wrong, accept({"status": 403}))
    assert "$.status" in difference
    assert unneeded == "step 1: listed as a difference, but not seen as listed\n    told so"


def test_a_listed_difference_that_is_not_needed_is_a_fault(server: httpx.Client) -> None:
    (unneeded,) = replayed(server, {"status": 404, "body": NOT_FOUND}, accept({"status": 404}))
    assert unneeded.startswith("step 1: listed as a difference")


def checked(server: httpx.Client, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(CHECKER), str(server.base_url), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_the_command_accepts_a_server_with_its_list_and_not_without_it(
    serve: Callable[[Path], AbstractContextManager[httpx.Client]], tmp_path: Path
) -> None:
    with serve(tmp_path / "with.db") as server:
        assert checked(server, "bad_days", "--differences", str(DIFFERENCES)) == (
            0,
            "bad_days: 142 steps, 0 differences\n",
        )
        code, said = checked(server, "bad_days")
        assert (code, "is not empty" in said) == (2, True)
    with serve(tmp_path / "without.db") as server:
        code, said = checked(server, "bad_days")
        assert (code, "step 140:" in said) == (1, True)
