"""Worlds to tell the story in: each a state folder with the sample pipeline, its Dagster log and its own Spark driver.

A world's settings are in the environment only while something happens in it; what is left can be looked at afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from dagster import DagsterInstance
from pyspark.sql import SparkSession

from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.cli.progress import ProgressDisplay
from lineage_assets.cli.project import load_project, open_instance, shown_plan
from lineage_assets.cli.running import run_backfill
from lineage_assets.cli.story import RunResult, Story
from lineage_assets.graph import AssetKey
from lineage_assets.launch.driver_process import driver_processes
from lineage_assets.launch.spark_conf import local_spark_conf
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.settings import load_settings
from lineage_assets.spark.session import hold

ROOT = Path(__file__).parents[2]
REPAIR = Ask("orders", "2021-06-04", "2021-06-06", reason="the feed was repaired", requested_by="ann")

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


@dataclass(frozen=True)
class Told:
    """The story when it is over, and how things stood before its repair."""

    home: Path
    story: Story
    runs: tuple[RunResult, ...]
    """The history's, then one a day."""
    before: Verdicts
    """As the bad days left them."""
    plan: BackfillPlan
    backfill: ProgressDisplay
    after: Verdicts
    drivers: tuple[Mapping[str, Any], ...]
    """What the Spark drivers of the state folder said of themselves after the history, and at the end."""
    seconds: float
    backfill_seconds: float

    @property
    def instance(self) -> DagsterInstance:
        return self.story.instance

    @property
    def backfill_id(self) -> str:
        assert self.backfill.backfill_id is not None
        return self.backfill.backfill_id

    def cost(self) -> tuple[str, ...]:
        """For the summary of the suite."""
        made = sum(run.count(State.GOOD) for run in self.runs)
        first = sum(run.seconds for run in self.runs)
        again, repair = self.plan.partition_count, self.backfill_seconds
        jvms = len({said["jvm_pid"] for said in self.drivers})
        return (
            f"the whole story: {self.seconds:.0f} s, {self.drivers[-1]['programs']} Spark programs",
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
def world(home: Path) -> Iterator[Story]:
    """The pipeline of the state folder that we live in; the Spark driver that it starts ends with it."""
    with open_instance(load_settings()) as instance:
        yield Story(load_project(ROOT), instance, home / "landing")


def tell(home: Path, story: Story) -> Told:
    """The whole story, once."""
    began = monotonic()
    settings = load_settings()
    try:
        story.drop_feed()
        history = story.history()
        first = drivers_of(home)
        runs = (history, *story.days())
        before = story.verdicts()
        story.repair_feed()
        plan = shown_plan(story.project, REPAIR, settings)
        repair_began = monotonic()
        backfill = run_backfill(story.project, REPAIR, settings)
        ended = monotonic()
        return Told(
            home=home,
            story=story,
            runs=runs,
            before=before,
            plan=plan,
            backfill=backfill,
            after=story.verdicts(),
            drivers=(*first, *drivers_of(home)),
            seconds=ended - began,
            backfill_seconds=ended - repair_began,
        )
    finally:
        stop_drivers(home)


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
