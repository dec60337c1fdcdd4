"""What a warm driver promises its clients, by one driver process with real Spark for all tests of this file."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.launch.driven import Driven, is_up, make_driven, until

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driven]:
    driven = make_driven(tmp_path_factory.mktemp("home"))
    assert driven.start()
    yield driven
    jvm = driven.status()["jvm_pid"]
    pid = driven.process.stop(now=True)
    assert pid is not None
    until(lambda: not is_up(pid), "the process is gone")
    assert not is_up(jvm)
    assert not Path(driven.process.note.read_text("utf-8")).exists()


def test_programs_one_after_the_other_are_served_by_one_jvm(driven: Driven) -> None:
    first, second = driven.run("count"), driven.run("count")
    assert (first.kinds, second.kinds) == (["started", "done"], ["started", "done"])
    assert first.report.application_id == second.report.application_id
    assert driven.status()["jvm_starts"] == 1
    # Its only child, that is: Spark starts a shell now and then to ask for a page's size.
    driver = psutil.Process(driven.status()["pid"])
    assert [child.pid for child in driver.children()] == [driven.status()["jvm_pid"]]


def test_a_second_client_waits_and_is_told_for_whom(driven: Driven) -> None:
    with driven.running("wait_in_spark", "orders of Monday"):
        waiting = driven.in_background("count", "menus of Tuesday")
        assert driven.status()["busy_with"] == "orders of Monday"
        assert driven.status()["waiting"] == ["menus of Tuesday"]
        assert not waiting.done()
    assert waiting.result().said == [
        {"kind": "waiting", "for": "orders of Monday"},
        {"kind": "started"},
        {"kind": "done"},
    ]


def test_clients_are_served_in_the_order_in_which_they_came(driven: Driven) -> None:
    with driven.running("wait_in_spark", "zero"):
        waiting = [driven.in_background("count", who) for who in ("one", "two", "three")]
        assert driven.status()["waiting"] == ["one", "two", "three"]
    served = [float(one.result().messages.stat().st_mtime_ns) for one in waiting]
    assert served == sorted(served)


@pytest.mark.parametrize("function", ["wait_in_spark", "wait_in_python"])
def test_a_client_that_is_gone_has_its_program_cancelled_and_the_next_is_served(driven: Driven, function: str) -> None:
    jvm = driven.status()["jvm_pid"]
    with driven.running(function, "a client that leaves") as (_, folder):
        pass
    assert driven.run("count").kinds[-1] == "done"
    assert not (folder / "went on").exists()
    failure = json.loads((folder / "messages").read_text("utf-8").splitlines()[1])["params"]["payload"]["failure"]
    assert failure["kind"] == "cancelled"
    assert driven.status()["jvm_pid"] == jvm


def test_a_client_that_leaves_the_line_is_not_served(driven: Driven) -> None:
    with driven.running("wait_in_spark", "the one before"):
        served = driven.status()["programs"]
        request, folder = driven.request("count", "impatient")
        with driven.process.connection() as lines:
            assert lines is not None
            lines.write(json.dumps(request) + "\n")
            lines.flush()
            until(lambda: driven.status()["waiting"] == ["impatient"], "it is in the line")
        until(lambda: driven.status()["waiting"] == [], "it has left the line")
    until(lambda: driven.status()["busy_with"] is None, "the one before is over")
    assert driven.status()["programs"] == served
    assert not (folder / "messages").exists()


def test_a_program_that_fails_is_told_with_cause_and_leaves_the_driver_in_service(driven: Driven) -> None:
    said = driven.run("fail").said[-1]
    assert (said["kind"], said["failure"]["kind"]) == ("failed", "job failed")
    assert "no such menu" in said["failure"]["message"]
    assert "\n" not in said["failure"]["message"]
    assert "stub_jobs.py" in said["failure"]["stack"]
    assert driven.run("count").kinds == ["started", "done"]


def test_a_job_that_exits_does_not_take_the_driver_along(driven: Driven) -> None:
    assert driven.run("leave").said[-1]["failure"]["kind"] == "job failed"
    assert driven.run("count").kinds == ["started", "done"]


def test_a_program_without_pipes_is_told_so(driven: Driven) -> None:
    request, folder = driven.request("count", "no home")
    (folder / "context").unlink()
    with driven.process.connection() as lines:
        assert lines is not None
        lines.write(json.dumps(request) + "\n")
        lines.flush()
        answers = [json.loads(line) for line in lines]
    assert answers[-1]["kind"] == "failed"
    assert "context" in answers[-1]["failure"]["message"]


def test_each_program_has_a_session_of_its_own_and_it_is_the_active_one(driven: Driven) -> None:
    driven.run("look_at_session")
    assert driven.run("look_at_session").report.seconds == {"views": 0.0, "own": 1.0}


def test_new_code_of_a_job_needs_no_new_driver(driven: Driven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    told = []
    for answer in (1, 2):
        # Same size, and mostly the same second: compiled code must not be taken for that of the new source.
        (tmp_path / "changing_job.py").write_text(
            "from stub_jobs import report_of\n"
            "def tell(spark, program):\n"
            f"    return report_of(program, spark, answer={answer}.0)\n"
        )
        told.append(driven.run("changing_job:tell").report.seconds["answer"])
    assert told == [1.0, 2.0]
    assert driven.status()["jvm_starts"] == 1


def test_a_request_that_is_none_hurts_nobody(driven: Driven) -> None:
    for line in ("no json\n", "[1]\n", '{"kind": "dance"}\n', ""):
        with driven.process.connection() as lines:
            assert lines is not None
            lines.write(line)
            lines.flush()
    assert driven.run("count").kinds == ["started", "done"]


def test_only_its_user_can_reach_a_driver(driven: Driven) -> None:
    path = Path(driven.process.note.read_text("utf-8"))
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert path.stat().st_uid == os.getuid()
    assert (driven.process.folder / f"{driven.process.name}.conf.json").stat().st_mode & 0o777 == 0o600
