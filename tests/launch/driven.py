"""A driver in its own state folder, and clients that talk to it without Dagster."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from dagster_pipes import encode_param

from lineage_assets.launch.driver_process import DriverProcess, answers, driver_process
from lineage_assets.launch.spark_child import SparkChild, project_path, spark_environment
from lineage_assets.settings import Settings, load_settings
from lineage_assets.spark.program import Lineage, Output, Program
from lineage_assets.spark.report import Report

HERE = Path(__file__).parent
STUB = (sys.executable, str(HERE / "stub_driver.py"))
CONF = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
DEADLINE_SECONDS = 60.0


def until(holds: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"not in {DEADLINE_SECONDS:g} s: {what}"
        time.sleep(0.02)


def is_up(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def make_program(function: str, *, asset: str = "orders", folder: Path | None = None) -> Program:
    module = function.partition(":")[0]
    places = (Path(entry) / f"{module}.py" for entry in [*sys.path, str(HERE)])
    source = next(place for place in places if place.is_file())
    return Program(
        function=function,
        code={module: hashlib.sha256(source.read_bytes()).hexdigest()},
        token=str(folder),
        targets=("2021-06-04", "2021-06-05"),
        lineage=Lineage("food_delivery", f"example.{asset}", "01f0c000-0000-7000-8000-000000000001"),
        outputs=(Output(asset=asset, columns=(("id", "bigint"),), table=f"lake.food_delivery.{asset}"),),
    )


@dataclass
class Conversation:
    """What one client was told, in order, and what came home for it."""

    said: list[Mapping[str, Any]] = field(default_factory=list)
    messages: Path = Path()

    @property
    def kinds(self) -> list[str]:
        return [answer["kind"] for answer in self.said]

    @property
    def report(self) -> Report:
        lines = [json.loads(line) for line in self.messages.read_text("utf-8").splitlines()]
        payloads = [line["params"]["payload"] for line in lines if line["method"] == "report_custom_message"]
        return Report.from_json(payloads[0]["report"])


@dataclass
class Driven:
    """A driver that runs stub jobs."""

    process: DriverProcess
    child: SparkChild
    folder: Path
    terms: tuple[str, ...] = ()
    asked: int = 0

    def start(self) -> bool:
        return self.process.start(self.child, STUB, *self.terms)

    def status(self) -> Mapping[str, Any]:
        said = self.process.status()
        assert said is not None
        return said

    def request(self, function: str, who: str) -> tuple[dict[str, Any], Path]:
        self.asked += 1
        mine = self.folder / f"client-{self.asked}"
        mine.mkdir(parents=True)
        (mine / "context").write_text(json.dumps({"extras": {}}))
        pipes = {
            "DAGSTER_PIPES_CONTEXT": encode_param({"path": str(mine / "context")}),
            "DAGSTER_PIPES_MESSAGES": encode_param({"path": str(mine / "messages")}),
        }
        program = make_program(f"stub_jobs:{function}" if ":" not in function else function, folder=mine)
        request = {"kind": "run", "program": program.to_json(), "pipes": pipes, "path": project_path(), "who": who}
        return request, mine

    def run(self, function: str, who: str = "somebody") -> Conversation:
        request, mine = self.request(function, who)
        with self.process.connection() as lines:
            assert lines is not None
            return Conversation(list(answers(lines, request)), mine / "messages")

    @contextmanager
    def running(self, function: str, who: str) -> Iterator[tuple[socket.socket, Path]]:
        """A client whose program has begun, and that program's folder; at the end of the block it is gone."""
        request, mine = self.request(function, who)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(self.process.note.read_text("utf-8"))
            client.sendall(json.dumps(request).encode() + b"\n")
            until((mine / "begun").exists, f"{function} begins")
            yield client, mine

    def in_background(self, function: str, who: str) -> Future[Conversation]:
        """A client that waits for its answer elsewhere; returns when the driver knows of it."""
        answer = ThreadPoolExecutor(1).submit(self.run, function, who)
        until(lambda: who in [self.status()["busy_with"], *self.status()["waiting"]], f"{who} is in the line")
        return answer


def make_driven(home: Path, *terms: str, conf: Mapping[str, str] = CONF) -> Driven:
    settings: Settings = load_settings()
    child = SparkChild(conf, spark_environment(settings))
    owner = ("--owner", str(os.getpid()))
    return Driven(driver_process(home, child), child, home / "clients", (*owner, *terms))
