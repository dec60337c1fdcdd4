"""A table of another producer, declared as an input: let through, read where it lies, and noticed when it changes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from dagster import AssetKey, DagsterInstance, ExecuteInProcessResult
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest
from pyspark.sql import DataFrame

from lineage_assets.assets.declaration import External, Pipeline, Read, external, table
from lineage_assets.assets.definitions import build_definitions, graph_of
from lineage_assets.errors import BadDeclarationError, LineageAssetsError
from lineage_assets.ledger.dagster_log import read_history
from lineage_assets.ledger.record import PartitionRecord
from lineage_assets.partitions import Window, trailing_days
from lineage_assets.settings import Settings, load_settings
from tests.support.recording import RecordingLauncher
from tests.support.small_shop import DAYS, JOBS

RATES, CITIES = ("rates",), ("cities",)
RATES_TABLE, CITIES_TABLE = "lake.finance.rates", "lake.geo.cities"


def priced(rates: DataFrame, cities: DataFrame) -> DataFrame:
    return rates.join(cities, "city", "inner")


def declared(**said: External | Window | Read) -> tuple[object, ...]:
    reads = {
        "rates": external(
            "warehouse", "public.rates", "city VARCHAR, rate DOUBLE", table=RATES_TABLE, window=trailing_days(3)
        ),
        "cities": external("warehouse", "public.cities", table=CITIES_TABLE),
        **said,
    }
    made = table("priced", "public.priced", "city VARCHAR, rate DOUBLE")
    return (Pipeline("shop", DAYS).job(priced, "example.priced", made, reads=reads),)


class World:
    def __init__(self, home: Path, instance: DagsterInstance) -> None:
        self.settings: Settings = load_settings().model_copy(update={"home": home, "openlineage_url": None})
        self.instance = instance
        self.launcher = RecordingLauncher()
        self.definitions = build_definitions(declared(), launcher=self.launcher, settings=self.settings)

    def commit(self, name: str, *snapshots: int) -> None:
        """Have a table's producer commit, as Iceberg's catalog and metadata then have it."""
        catalog, namespace, table = name.split(".")
        ids = [{"snapshot-id": one, "parent-snapshot-id": before} for before, one in zip((None, *snapshots), snapshots)]  # noqa: B905 - one is longer on purpose
        metadata = self.settings.home / f"{name}.json"
        metadata.write_text(json.dumps({"current-snapshot-id": snapshots[-1], "snapshots": ids}), encoding="utf-8")
        with closing(sqlite3.connect(self.settings.home / "catalog.db")) as connection, connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name, table_namespace, table_name,"
                " metadata_location, PRIMARY KEY (catalog_name, table_namespace, table_name))"
            )
            connection.execute(
                "INSERT OR REPLACE INTO iceberg_tables VALUES (?, ?, ?, ?)", (catalog, namespace, table, str(metadata))
            )

    def run(self, first: int, last: int, *, reuse: bool = False) -> ExecuteInProcessResult:
        return self.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=self.instance,
            asset_selection=[AssetKey("priced")],
            raise_on_error=False,
            tags={
                "dagster/asset_partition_range_start": f"2021-06-{first:02}",
                "dagster/asset_partition_range_end": f"2021-06-{last:02}",
                **({"lineage_assets/reuse": "true"} if reuse else {}),
            },
        )

    def record(self, day: str) -> PartitionRecord:
        return read_history(self.instance, ("priced",)).published[day]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with DagsterInstance.ephemeral() as instance:
        yield World(tmp_path, instance)


def test_it_is_let_through_and_the_program_reads_it_where_it_lies(world: World) -> None:
    world.commit(RATES_TABLE, 11)
    world.commit(CITIES_TABLE, 21, 22)
    assert world.run(5, 6).success
    (program,) = world.launcher.programs
    rates, cities = program.tables
    assert (rates.table, rates.asset, rates.is_external, rates.is_whole) == (RATES_TABLE, "rates", True, False)
    assert rates.window == {
        "2021-06-05": ("2021-06-03", "2021-06-05"),
        "2021-06-06": ("2021-06-04", "2021-06-06"),
    }
    assert rates.columns == (("city", "string"), ("rate", "double"))
    assert (cities.table, cities.is_whole, cities.window, cities.columns) == (CITIES_TABLE, True, {}, ())
    # It is read at the snapshot that the gate saw and the record names.
    assert (set(rates.snapshots.values()), set(cities.snapshots.values())) == ({11}, {22})
    assert world.record("2021-06-05").inputs == {
        RATES: {"2021-06-03": "11", "2021-06-04": "11", "2021-06-05": "11"},
        CITIES: {"2021-06-05": "22"},
    }


def test_a_change_of_it_is_computed_again_and_no_change_is_not(world: World) -> None:
    world.commit(RATES_TABLE, 11)
    world.commit(CITIES_TABLE, 21)
    world.commit("lake.shop.priced", 1)
    assert world.run(5, 5).success
    assert world.run(5, 5, reuse=True).success
    assert len(world.launcher.programs) == 1
    world.commit(CITIES_TABLE, 21, 22)
    assert world.run(5, 5, reuse=True).success
    assert len(world.launcher.programs) == 2


def test_where_no_snapshot_can_be_told_it_is_read_as_it_is_and_its_version_is_unknown(world: World) -> None:
    assert world.run(5, 5).success
    (program,) = world.launcher.programs
    assert [read.snapshots for read in program.tables] == [{}, {}]
    assert world.record("2021-06-05").inputs[CITIES] == {"2021-06-05": None}


def test_dagster_knows_it_as_an_asset_without_definition_and_marks_nothing_stale_for_it(world: World) -> None:
    world.commit(CITIES_TABLE, 21)
    assert world.run(5, 5).success
    assets = world.definitions.resolve_asset_graph()
    assert assets.get(AssetKey("priced")).parent_keys == {AssetKey("rates"), AssetKey("cities")}
    assert not assets.get(AssetKey("rates")).is_materializable
    statuses = CachingStaleStatusResolver(world.instance, assets, LoadingContextForTest(world.instance))
    status = statuses.get_status(AssetKey("priced"), "2021-06-05")
    assert (status, statuses.get_stale_causes(AssetKey("priced"), "2021-06-05")) == (StaleStatus.FRESH, [])


def test_the_graph_keeps_it_on_its_way_through_the_definitions(world: World) -> None:
    rates, cities = graph_of(world.definitions).nodes["priced",].inputs
    assert (rates.dataset.name, rates.table, rates.window, rates.is_whole) == (
        "public.rates",
        RATES_TABLE,
        trailing_days(3),
        False,
    )
    assert (cities.dataset.name, cities.table, cities.is_whole) == ("public.cities", CITIES_TABLE, True)


@pytest.mark.parametrize(
    ("reads", "said"),
    [
        (
            {"cities": external("shop", "public.orders", table=CITIES_TABLE)},
            'external input of "priced" "cities" is not valid: a job here makes it, as "orders"',
        ),
        (
            {"cities": external("warehouse", "public.cities", table="lake.shop.orders")},
            'external input of "priced" "cities" is not valid: a job here makes it, as "orders"',
        ),
        ({"cities": external("ware house", "public.cities", table=CITIES_TABLE)}, "dataset namespace"),
        ({"cities": Window(0, 0)}, r"no job declared makes it; what another producer makes .* external\(\.\.\.\)"),
    ],
    ids=["its name is an asset's", "its table is an asset's", "its namespace breaks receivers", "it is not declared"],
)
def test_what_contradicts_the_graph_is_refused(world: World, reads: dict[str, External], said: str) -> None:
    with pytest.raises(LineageAssetsError, match=said):
        build_definitions((*JOBS, *declared(**reads)), launcher=world.launcher, settings=world.settings)


def test_one_name_for_two_tables_and_the_name_of_an_asset_are_refused(world: World) -> None:
    other = Pipeline("shop", DAYS).job(
        lambda cities: cities,
        "example.other",
        table("other", "public.other", "city VARCHAR"),
        reads={"cities": external("warehouse", "public.towns", table="lake.geo.towns")},
    )
    with pytest.raises(BadDeclarationError, match=r"cities \(lake.geo.*another job reads lake.geo"):
        build_definitions((*declared(), other), launcher=world.launcher, settings=world.settings)
    own = Pipeline("shop", DAYS).job(
        lambda orders: orders,
        "example.own",
        table("own", "public.own", "id INTEGER"),
        reads={"orders": external("warehouse", "public.orders", table="lake.warehouse.orders")},
    )
    with pytest.raises(BadDeclarationError, match='a job here makes it, as "orders"'):
        build_definitions((*JOBS, own), launcher=world.launcher, settings=world.settings)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"table": "cities"}, "name it with its catalog: lake.finance.exchange_rates"),
        ({"table": "lake..cities"}, "name it with its catalog"),
        ({"columns": "city VARCHAR, ds DATE"}, "leave it out"),
        ({"raw": True}, "only a table that is read through a window"),
        ({"name": " "}, "dataset name"),
        ({"columns": "city STRING"}, 'type of column "city"'),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_bad_declaration_is_refused_where_it_is_written(bad: dict[str, object], said: str) -> None:
    with pytest.raises(BadDeclarationError, match=said):
        external(**{"namespace": "warehouse", "name": "public.cities", "table": CITIES_TABLE, **bad})
