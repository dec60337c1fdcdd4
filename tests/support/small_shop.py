"""A small pipeline whose launcher only keeps programs: a source, a three-day window over it, a job of two outputs."""

from __future__ import annotations

from datetime import date

from dagster import Definitions
from pyspark.sql import DataFrame

from lineage_assets.assets.declaration import Pipeline, landing, table
from lineage_assets.assets.definitions import build_definitions
from lineage_assets.launch.launcher import Launcher
from lineage_assets.partitions import Daily, trailing_days
from lineage_assets.settings import Settings

DAYS = Daily(date(2021, 6, 1), date(2021, 6, 12))


def orders(landing: DataFrame) -> DataFrame:
    return landing


def weekly(orders: DataFrame) -> DataFrame:
    return orders


def two(weekly: DataFrame) -> dict[str, DataFrame]:
    return {"best": weekly, "worst": weekly}


PIPELINE = Pipeline("shop", DAYS, owners=("team:shop",))
JOBS = (
    PIPELINE.job(
        orders,
        "example.orders",
        table("orders", "public.orders", "id INTEGER"),
        reads={"landing": landing("orders", "id INTEGER")},
    ),
    PIPELINE.job(
        weekly, "example.weekly", table("weekly", "public.weekly", "id INTEGER"), reads={"orders": trailing_days(3)}
    ),
    PIPELINE.job(
        two, "example.two", (table("best", "public.best", "id INTEGER"), table("worst", "public.worst", "id INTEGER"))
    ),
)


def definitions_of(launcher: Launcher, settings: Settings) -> Definitions:
    return build_definitions(JOBS, launcher=launcher, settings=settings)


def feed(settings: Settings, *days: int, header: str = "id", row: str = "1") -> None:
    """Drop the landing files of days of June 2021; another header than `id` is a schema change."""
    for day in days:
        folder = settings.home / "landing" / "orders" / f"ds=2021-06-{day:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "orders.csv").write_text(f"{header}\n{row}\n", encoding="utf-8")
