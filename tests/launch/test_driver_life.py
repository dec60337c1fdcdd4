"""How a warm driver comes to be and ends; each test starts a JVM, so each tells a whole life."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from lineage_assets.cli.driver import driver
from lineage_assets.launch.driver_process import DriverNotStartedError, SocketFolderError
from lineage_assets.launch.spark_child import SparkChild
from tests.launch.driven import CONF, Driven, is_up, make_driven, until

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def home(own_home: Path) -> Path:
    """The state folder that the settings name."""
    return own_home


def ends(driven: Driven, pid: int) -> None:
    until(lambda: not is_up(pid), "the driver has ended")
    assert driven.process.status() is None


def log_of(driven: Driven) -> str:
    return driven.process.log.read_text("utf-8")


def test_two_starts_at_once_give_one_driver_and_it_and_its_jvm_end_together(home: Path) -> None:
    driven = make_driven(home)
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda _: driven.start(), range(2))) == [False, True]
    with driven.running("wait_in_spark", "the victim") as (client, _):
        jvm, pid = driven.status()["jvm_pid"], driven.status()["pid"]
        assert is_up(jvm)
        os.kill(pid, signal.SIGKILL)
        said = client.makefile().readlines()
    assert said == ['{"kind": "started"}\n']
    until(lambda: not is_up(jvm), "the JVM has ended")
    assert driven.process.status() is None
    # What it left behind is in nobody's way.
    assert driven.start()
    assert driven.run("count").kinds == ["started", "done"]
    pid = driven.status()["pid"]
    assert driven.run("kill_jvm").said[-1] == {"kind": "lost", "reason": "the JVM of the Spark driver ended"}
    ends(driven, pid)


def test_an_idle_driver_ends_by_itself(home: Path) -> None:
    driven = make_driven(home, "--idle-seconds", "1")
    driven.start()
    assert driven.run("count").kinds == ["started", "done"]
    pid, jvm = driven.status()["pid"], driven.status()["jvm_pid"]
    ends(driven, pid)
    assert not is_up(jvm)
    assert "idle for 1 s" in log_of(driven)


def test_a_driver_ends_after_its_share_of_programs_and_sends_who_waits_elsewhere(home: Path) -> None:
    driven = make_driven(home, "--most-programs", "1")
    driven.start()
    pid = driven.status()["pid"]
    with driven.running("wait_in_python", "the last one"):
        waiting = driven.in_background("count", "too late")
    assert waiting.result().kinds == ["waiting", "refused"]
    ends(driven, pid)


def test_a_stop_lets_the_program_end_first_and_refuses_new_ones(home: Path) -> None:
    driven = make_driven(home)
    driven.start()
    pid = driven.status()["pid"]
    shown = CliRunner().invoke(driver, ["status"], catch_exceptions=False).output
    assert f"process {pid}" in shown
    with driven.running("wait_in_spark", "orders of Monday"), ThreadPoolExecutor(1) as pool:
        shown = CliRunner().invoke(driver, ["status"], catch_exceptions=False).output
        assert "busy with orders of Monday" in shown
        stopping = pool.submit(driven.process.stop, now=False)
        until(lambda: driven.process.status() is None, "it listens no more")
        assert is_up(pid)
        assert not stopping.done()
        assert driven.process.stop(now=True) is None
        os.kill(pid, signal.SIGTERM)
        assert stopping.result() == pid
    ends(driven, pid)
    assert CliRunner().invoke(driver, ["stop"], catch_exceptions=False).output == "No Spark driver is up.\n"


@pytest.mark.parametrize("function", ["ignore_everything", "burn"])
def test_a_driver_that_cannot_cancel_ends_with_the_program(home: Path, function: str) -> None:
    driven = make_driven(home, "--cancel-seconds", "2")
    driven.start()
    driven.run("count")
    with driven.running(function, "nobody"):
        pid, jvm = driven.status()["pid"], driven.status()["jvm_pid"]
    ends(driven, pid)
    until(lambda: not is_up(jvm), "the JVM has ended")
    assert "could not be cancelled in 2 s" in log_of(driven)


def test_a_driver_with_an_owner_ends_with_the_owner(home: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as owner:
        driven = make_driven(home)
        driven.terms = ("--owner", str(owner.pid))
        driven.start()
        pid = driven.status()["pid"]
    ends(driven, pid)


def test_settings_that_spark_does_not_start_with_are_a_failure_not_a_loss(home: Path) -> None:
    driven = make_driven(home, conf={**CONF, "spark.master": "lokal"})
    driven.start()
    said = driven.run("count").said[-1]
    assert (said["kind"], said["failure"]["kind"]) == ("failed", "spark did not start")
    assert "Master must either be yarn or start with" in log_of(driven)


def test_a_driver_that_cannot_begin_to_listen_is_told_with_the_end_of_its_log(home: Path) -> None:
    driven = make_driven(home)
    with pytest.raises(DriverNotStartedError, match="unrecognized arguments: --haste") as caught:
        driven.process.start(driven.child, (sys.executable, "-m", "lineage_assets.spark.driver", "--haste"))
    assert caught.value.log == driven.process.log


def test_a_socket_folder_of_others_or_with_too_long_a_path_is_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = make_driven(home)
    long = tmp_path / ("d" * 90)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with pytest.raises(SocketFolderError, match="too long"):
        driven.start()
    open_to_all = tmp_path / f"lineage_assets-{os.getuid()}"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SocketFolderError, match="others than you"):
        driven.start()


@pytest.mark.parametrize("changed", [{"spark.master": "local[3]"}, {"spark.jars": __file__}])
def test_other_settings_or_jars_are_another_driver(home: Path, changed: dict[str, str]) -> None:
    same, other = make_driven(home), make_driven(home, conf={**CONF, **changed})
    assert same.process == make_driven(home).process
    assert same.process != other.process
    assert isinstance(other.child, SparkChild)
