"""Plain spark-submit as a launcher: one process and one JVM a program.

Needs nothing that outlives a program, and proves that a program asks nothing of the warm driver. Who launches and is
killed with -9 leaves its program to end by itself; who is cancelled takes it along.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext

from lineage_assets.launch.direct import receiver_of_raw_events
from lineage_assets.launch.homecoming import came_home, open_home
from lineage_assets.launch.launcher import ProgramLostError, failed
from lineage_assets.launch.spark_child import SparkChild, spark_child
from lineage_assets.launch.spark_conf import conf_of
from lineage_assets.settings import Settings
from lineage_assets.spark.execution import Failure
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Report

if TYPE_CHECKING:
    from dagster_pyspark import LazyPySparkResource

ENTRY = """\
from lineage_assets.spark.submit import main

raise SystemExit(main())
"""
"""Not the module itself: Python puts the folder of a script before all others, and ours holds names of its own."""

STOP_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class SparkSubmit:
    """Launches each program by a spark-submit of its own."""

    conf: Mapping[str, str]
    settings: Settings
    entry: str = ENTRY

    @classmethod
    def from_resource(cls, resource: LazyPySparkResource, settings: Settings) -> SparkSubmit:
        """With the Spark settings of dagster-pyspark's resource."""
        return cls(conf_of(resource), settings)

    def launch(self, context: AssetExecutionContext, program: Program) -> Report:
        child = spark_child(self.conf, self.settings, modules=program.code, say=context.log.info)
        log = self.settings.home / "driver" / "submit" / f"{program.lineage.run_id}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with open_home(context) as session, TemporaryDirectory(prefix="lineage_assets-") as folder:
            command = self._command(Path(folder), program, child)
            receiver = receiver_of_raw_events(self.settings, warn=context.log.warning)
            if receiver is not None:
                command += ["--receiver", str(_private_file(Path(folder) / "receiver.json", json.dumps(receiver)))]
            environment = {**child.environment, **session.get_bootstrap_env_vars()}
            with log.open("w", encoding="utf-8") as said, _running(command, environment, said.fileno()) as process:
                code = process.wait()
        came = came_home(session)
        if isinstance(came, Failure):
            raise failed(came, self.settings, log)
        if came is None:
            raise ProgramLostError(f"its spark-submit ended with {code} and no report came home", log)
        return came

    def _command(self, folder: Path, program: Program, child: SparkChild) -> list[str]:
        entry, file = folder / "entry.py", folder / "program.json"
        entry.write_text(self.entry, encoding="utf-8")
        file.write_text(program.to_json(), encoding="utf-8")
        # Settings may hold a password, and anybody sees a command line.
        settings = _private_file(folder / "spark.properties", "".join(_property(*one) for one in child.conf.items()))
        command = [str(_spark_submit()), "--properties-file", str(settings)]
        return [*command, str(entry), str(file), str(folder / "events.ndjson")]


def _private_file(path: Path, text: str) -> Path:
    """A file of this user alone."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path


def _property(name: str, value: str) -> str:
    """One line of a Java properties file, in which a backslash and the end of a line want escaping."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n")
    return f"{name} {escaped}\n"


@contextmanager
def _running(command: list[str], environment: Mapping[str, str], output: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended with all that it started when its caller leaves before it has."""
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _spark_submit() -> Path:
    spec = find_spec("pyspark")
    assert spec is not None  # noqa: S101 - a dependency of ours
    assert spec.origin is not None  # noqa: S101
    return Path(spec.origin).parent / "bin" / "spark-submit"
