"""Real Spark for tests: one session for the suite, with a warehouse of its own, and small programs to run in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineage_assets.launch.jars import find_jars
from lineage_assets.launch.java import find_java
from lineage_assets.launch.spark_conf import local_spark_conf
from lineage_assets.settings import load_settings
from lineage_assets.spark.code import source_hash
from lineage_assets.spark.landing import landing_files, landing_version
from lineage_assets.spark.program import LandingInput, Lineage, Output, Program, TableInput
from lineage_assets.spark.report import Report
from lineage_assets.spark.runner import run
from lineage_assets.spark.session import session

JOBS = "tests.support.spark_jobs"
ORDERS = (("id", "int"), ("amount", "int"))

SMALL = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}

Rows = list[tuple[Any, ...]]


def spark_conf(home: Path) -> dict[str, str]:
    """A small local Spark with the catalog `lake` in this state folder."""
    settings = load_settings()
    here = settings.model_copy(update={"home": home})
    return {**local_spark_conf(here, find_jars(settings)), "spark.master": "local[2]", **SMALL}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            # PySpark leaves it to the garbage collector to close the sockets that results come through.
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lake")


@pytest.fixture(scope="session")
def spark(warehouse: Path) -> Iterator[SparkSession]:
    """The session of the whole suite: a JVM costs seconds."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", str(find_java(load_settings()).path))
        made = session(spark_conf(warehouse))
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@dataclass(frozen=True)
class Lake:
    """A namespace of tables that only one test knows, and programs over them."""

    spark: SparkSession
    folder: Path
    namespace: str

    def table(self, name: str) -> str:
        return f"{self.namespace}.{name}"

    def write(self, name: str, days: Iterable[str], *, rows: int = 3, amount: int = 10) -> int:
        """Days of the table `name`, each with these rows, as another than the runner would; the new snapshot."""
        table = self.table(name)
        wanted = sorted(days)
        listed = ", ".join(f"date'{day}'" for day in wanted)
        frame = (
            self.spark.sql(f"select explode(array({listed})) as ds")
            .crossJoin(self.spark.range(rows))
            .select(
                (F.unix_date("ds") * 100 + F.col("id")).cast("int").alias("id"),
                (F.lit(amount) + F.col("id") * 30).cast("int").alias("amount"),
                "ds",
            )
        )
        self.spark.sql(f"create namespace if not exists {self.namespace}")
        self.spark.sql(
            f"create table if not exists {table} (id int, amount int, ds date) using iceberg partitioned by (ds)"
        )
        frame.writeTo(table).overwrite(F.col("ds").isin([date.fromisoformat(day) for day in wanted]))
        return self.snapshot(name)

    def snapshot(self, name: str) -> int:
        newest = self.spark.table(f"{self.table(name)}.refs").where("name = 'main'").first()
        assert newest is not None
        return int(newest["snapshot_id"])

    def clear(self, name: str, day: str) -> None:
        """Take all rows of a day away."""
        empty = self.spark.table(self.table(name)).limit(0)
        empty.writeTo(self.table(name)).overwrite(F.col("ds") == F.lit(date.fromisoformat(day)))

    def rows(self, name: str) -> Rows:
        return sorted(
            tuple(row)
            for row in self.spark.table(self.table(name)).withColumn("ds", F.col("ds").cast("string")).collect()
        )

    def branches(self, name: str) -> list[str]:
        refs = self.spark.table(f"{self.table(name)}.refs").where("type = 'BRANCH' and name != 'main'").collect()
        return sorted(row["name"] for row in refs)

    def run(self, program: Program) -> Report:
        return run(self.spark, program, events_file=self.folder / f"{program.lineage.run_id}.ndjson")

    def output(self, name: str, **said: object) -> Output:
        return Output(**{"asset": name, "columns": ORDERS, "table": self.table(name), **said})

    def reads(self, name: str, targets: Iterable[str], *, days: int = 1, **said: object) -> TableInput:
        """The input `name` through the window of the `days` days that end with each target."""
        window = {target: (shifted(target, 1 - days), target) for target in targets}
        return TableInput(**{"parameter": name, "asset": name, "table": self.table(name), "window": window, **said})


def make_program(job: str, targets: Iterable[str], **said: object) -> Program:
    """A program of a job in `spark_jobs`, with the token of nobody else unless one is said."""
    made: dict[str, Any] = {
        "function": f"{JOBS}:{job}",
        "code": {JOBS: source_hash(JOBS)},
        "token": fresh_token(),
        "targets": tuple(sorted(targets)),
        "lineage": Lineage("test", f"test.{job}", str(uuid4())),
        "outputs": (),
    }
    return Program(**{**made, **said})


def fresh_token() -> str:
    return f"run-{uuid4()}"


def make_landing(root: Path, files: dict[str, str], **said: object) -> LandingInput:
    """Landing files with these contents by day, written below the root and listed."""
    for day, content in files.items():
        folder = root / f"ds={day}"
        folder.mkdir(parents=True)
        (folder / "part.txt").write_text(content, encoding="utf-8")
    listed = {day: landing_files(root, day) for day in files}
    made: dict[str, Any] = {
        "parameter": "landing",
        "format": "csv",
        "columns": ORDERS,
        "root": str(root),
        "files": listed,
        "versions": {day: landing_version(root, names) for day, names in listed.items()},
    }
    return LandingInput(**{**made, **said})


def shifted(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def days_from(first: str, count: int) -> list[str]:
    return [shifted(first, place) for place in range(count)]


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    return Lake(spark, tmp_path, f"lake.t{os.getpid()}_{uuid4().hex[:12]}")
