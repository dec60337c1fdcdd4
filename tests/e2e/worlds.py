"""Worlds to tell the story in: each a state folder with the sample pipeline, its Dagster log and its own Spark driver.

A world's settings are in the environment only while something happens in it; what is left can be looked at afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from dagster import DagsterInstance
from pyspark.sql import SparkSession
from rich.console import Console

from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.cli.project import load_project, open_instance, shown_plan
from lineage_assets.cli.stage import Stage
from lineage_assets.cli.story import RunResult, Story
from lineage_assets.cli.telling import Teller
from lineage_assets.dagster_private import PartitionBackfill
from lineage_assets.graph import AssetKey
from lineage_assets.launch.driver_process import driver_processes
from lineage_assets.launch.spark_conf import local_spark_conf
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.settings import load_settings
from lineage_assets.spark.session import hold

ROOT = Path(__file__).parents[2]
REPAIR = Ask("orders", "2021-06-04", "2021-06-06")

TABLES = (
    "menus",
    "categories",
    "menu_items",
    "customers",
    "drivers",
    "restaurants",
    "orders",
    "order_status",
    "orders_7_days",
    "deliveries",
    "top_delivery_times",
    "discounts",
    "popular_orders_day_of_week",
)
ASSETS = (*TABLES, "email_discounts")

Verdicts = Mapping[AssetKey, Mapping[str, PartitionRecord]]


@dataclass(frozen=True, slots=True)
class WatchedStory(Story):
    """The story, which keeps what is soon over: its runs, and how things stood when the feed was repaired."""

    runs: list[RunResult] = field(default_factory=list)
    """The history's, then one a day."""
    drivers: list[Mapping[str, Any]] = field(default_factory=list)
    """What each Spark driver said of itself after the history."""
    before: dict[AssetKey, Mapping[str, PartitionRecord]] = field(default_factory=dict)
    """The verdicts that the bad days left."""

    def run(self, first: date, last: date) -> RunResult:
        self.runs.append(Story.run(self, first, last))
        if len(self.runs) == 1:
            self.drivers.extend(drivers_of(self.landing.parent))
        return self.runs[-1]

    def repair_feed(self) -> None:
        self.before.update(self.verdicts())
        Story.repair_feed(self)


@dataclass(frozen=True)
class Told:
    """The story when it is over."""

    home: Path
    story: WatchedStory
    is_whole: bool
    text: str
    """What the demo has printed, its progress display left out."""
    plan: BackfillPlan
    backfill: PartitionBackfill
    """Dagster's record of the one there was."""
    after: Verdicts
    drivers: tuple[Mapping[str, Any], ...]
    """What each Spark driver said of itself at the end."""
    seconds: float

    @property
    def instance(self) -> DagsterInstance:
        return self.story.instance

    def cost(self) -> tuple[str, ...]:
        """For the summary of the suite."""
        made = sum(run.count(State.GOOD) for run in self.story.runs)
        first = sum(run.seconds for run in self.story.runs)
        again, ended = self.plan.partition_count, self.backfill.backfill_end_timestamp
        repair = 0.0 if ended is None else ended - self.backfill.backfill_timestamp
        programs, jvms = sum(said["programs"] for said in self.drivers), len(self.drivers)
        return (
            f"the whole story: {self.seconds:.0f} s, {programs} Spark programs",
            f"history and nine days: {first:.0f} s for {made} asset-days, {first / made:.2f} s each, lineage included",
            f"backfill: {repair:.0f} s for {again} asset-days, {repair / again:.2f} s each",
            f"started: {jvms} JVM under {jvms} warm driver; all Dagster runs were in the process of the suite",
        )


@dataclass(frozen=True)
class NeverBad:
    """What is left of a world whose feed was always right."""

    home: Path
    verdicts: Verdicts


@contextmanager
def living_in(home: Path, *, lineage_url: str | None = None, **more: str) -> Iterator[None]:
    """Make this folder the state folder of the process; without an address no lineage server is known."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("FOOD_DELIVERY_FIRST", "FOOD_DELIVERY_LAST", "OPENLINEAGE_URL"):
            environment.delenv(name, raising=False)
        environment.setenv("LINEAGE_ASSETS_HOME", str(home))
        environment.setenv("DAGSTER_HOME", str(home / "dagster"))
        if lineage_url is not None:
            environment.setenv("OPENLINEAGE_URL", lineage_url)
        for name, value in more.items():
            environment.setenv(name, value)
        yield


@contextmanager
def world(home: Path) -> Iterator[WatchedStory]:
    """The pipeline of the state folder that we live in."""
    with open_instance(load_settings()) as instance:
        yield WatchedStory(load_project(ROOT), instance, home / "landing")


def tell(home: Path, story: WatchedStory, lineage_url: str) -> Told:
    """The whole story, once, as the demo tells it."""
    began = monotonic()
    settings = load_settings()
    console = Console(width=120, highlight=False, record=True)
    try:
        is_whole = Teller(console, Stage(settings, story, lineage_url)).tell()
        drivers = tuple(drivers_of(home))
    finally:
        stop_drivers(home)
    (backfill,) = story.instance.get_backfills()
    return Told(
        home=home,
        story=story,
        is_whole=is_whole,
        text=console.export_text(),
        plan=shown_plan(story.project, REPAIR, settings),
        backfill=backfill,
        after=story.verdicts(),
        drivers=drivers,
        seconds=monotonic() - began,
    )


def drivers_of(home: Path) -> list[Mapping[str, Any]]:
    said = (driver.status() for driver in driver_processes(home))
    return [one for one in said if one is not None]


def stop_drivers(home: Path) -> None:
    for driver in driver_processes(home):
        driver.stop(now=True)


def reader_of(spark: SparkSession, home: Path) -> SparkSession:
    """A session of the suite's JVM that reads the tables of this state folder."""
    session = spark.newSession()
    hold(session)
    for key, value in local_spark_conf(load_settings().model_copy(update={"home": home})).items():
        if key.startswith("spark.sql.catalog."):
            session.conf.set(key, value)
    return session


def days(first: int, last: int, month: int = 6) -> list[str]:
    """Partitions of 2021, from one day of a month to another."""
    return [f"2021-{month:02}-{day:02}" for day in range(first, last + 1)]
