"""The same on every storage of Dagster's: SQLite with a file a run, and a PostgreSQL server in another time zone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from dagster import AssetKey, DagsterInstance

from lineage_assets.clock import utc_now
from lineage_assets.ledger.dagster_log import facts_of_run, newest_attempt, read_history, stream_log
from lineage_assets.ledger.receipts import RECEIPT_TAG, Receipt, runs_with
from lineage_assets.ledger.record import Attempt, PartitionRecord, State
from lineage_assets.settings import load_settings
from tests.reconcile.conftest import KeptEvents
from tests.reconcile.test_backfills import ID, broken, closed
from tests.reconcile.test_flush import LONG_AGO, receipt
from tests.support.postgres import Postgres, instance_at
from tests.support.recording import RecordingLauncher
from tests.support.world import ASSETS, ShopWorld

TEN_MINUTES = timedelta(minutes=10)


@pytest.fixture(params=["sqlite", "postgresql"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ShopWorld]:
    """The small shop, and an instance that keeps what it is told."""
    settings = load_settings().model_copy(update={"home": tmp_path, "openlineage_url": None})
    folder = tmp_path / "dagster"
    folder.mkdir()
    if request.param == "sqlite":
        with DagsterInstance.local_temp(str(folder)) as instance:
            yield ShopWorld(settings, instance, RecordingLauncher())
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    with server.database() as url, instance_at(url, folder) as instance:
        yield ShopWorld(settings, instance, RecordingLauncher())


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for page in ("dagster_log._PAGE", "dagster_log._LEAST_PAGE", "dagster_log._NEWEST", "receipts._PAGE"):
        monkeypatch.setattr(f"lineage_assets.ledger.{page}", 2)


@pytest.mark.usefixtures("small_pages")
def test_every_page_of_a_log_is_read_in_order(stored: ShopWorld) -> None:
    stored.feed(1, 3)
    runs = [stored.run(1, 3), stored.run(3, 3), stored.run(3, 3)]
    keys = [(name,) for name in ASSETS]
    streamed = list(stream_log(stored.instance, keys))
    places = [logged.storage_id for _, logged in streamed]
    assert places == sorted(set(places))
    # Whatever the storage, an asset's facts come in one order; those of one batch are of several assets.
    by_run = [facts_of_run(stored.instance, run.run_id) for run in runs]
    assert [len(facts) for facts in by_run] == [16, 8, 8]
    for key in keys:
        of_runs = [fact for facts in by_run for fact in facts if fact.asset == key]
        assert [logged.fact for asset, logged in streamed if asset == key] == of_runs
    after = places[5]
    assert [logged.storage_id for _, logged in stream_log(stored.instance, keys, after=after)] == places[6:]
    newest = newest_attempt(stored.instance, ("worst",))
    assert newest is not None
    assert newest.run_id == runs[2].run_id
    states = {key[-2:]: record.state for key, record in read_history(stored.instance, ("orders",)).verdicts.items()}
    assert states == {"01": State.GOOD, "02": State.FAILED, "03": State.GOOD}


def test_the_log_of_very_many_assets_is_read_as_a_whole_and_says_the_same(
    stored: ShopWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored.feed(1, 2)
    stored.run(1, 2)
    stored.instance.wipe_assets([AssetKey("weekly")])
    stored.run(2, 2, select=["weekly", "orders"])
    keys = [(name,) for name in ASSETS if name != "best"]
    apart = list(stream_log(stored.instance, keys))
    assert {asset for asset, _ in apart} == set(keys)

    def refused(*_: object) -> None:
        raise AssertionError("a query an asset")

    monkeypatch.setattr("lineage_assets.ledger.dagster_log._named", refused)
    monkeypatch.setattr("lineage_assets.ledger.dagster_log._HELD", 2)
    monkeypatch.setattr("lineage_assets.ledger.dagster_log._PAGE", 3)
    assert list(stream_log(stored.instance, keys)) == apart
    after = apart[5][1].storage_id
    assert list(stream_log(stored.instance, keys, after=after)) == apart[6:]


@pytest.mark.usefixtures("small_pages")
def test_runs_that_are_owed_are_found_page_by_page_and_told_once(stored: ShopWorld, kept: KeptEvents) -> None:
    stored.feed(1, 2, 3)
    runs = [stored.run(day, day, select=["orders"]).run_id for day in (1, 2, 3)]
    assert [one.dagster_run.run_id for one in runs_with(stored.instance, Receipt.PENDING)] == runs
    assert stored.flush_to(kept).run(LONG_AGO).runs == 3
    assert kept.ends() == {("example.orders", f"2021-06-0{day}"): ["START", "COMPLETE"] for day in (1, 2, 3)}
    assert {receipt(stored.instance, run) for run in runs} == {"sent"}
    assert stored.flush_to(kept).run(LONG_AGO).runs == 0


def test_a_run_cancelled_before_it_began_is_found_by_when_it_ended(stored: ShopWorld, kept: KeptEvents) -> None:
    job = stored.definitions.resolve_implicit_global_asset_job_def()
    selected = job.get_subset(asset_selection={AssetKey("orders")})
    before = utc_now()
    run = stored.instance.create_run_for_job(selected, tags={"dagster/partition": "2021-06-04"})
    stored.instance.report_run_canceled(run)
    assert stored.flush_to(kept).run(utc_now() + TEN_MINUTES).runs == 0
    flushed = stored.flush_to(kept).run(before - TEN_MINUTES)
    assert (flushed.runs, flushed.closed) == (1, 1)
    assert kept.ends() == {("example.orders", "2021-06-04"): ["START", "ABORT"]}
    began, ended = (datetime.fromisoformat(event["eventTime"].replace("Z", "+00:00")) for event in kept.events)
    assert before <= began <= ended <= utc_now()
    assert receipt(stored.instance, run.run_id) == "sent"


def test_a_backfill_and_the_blocks_that_no_run_met_are_told_once(stored: ShopWorld, kept: KeptEvents) -> None:
    closed(stored, broken(stored))
    # It was begun long before what this pass looks back to.
    flushed = stored.flush_to(kept).run(utc_now() + timedelta(hours=1))
    assert (flushed.backfills, flushed.blocked) == (1, 9)
    assert kept.ends()["example.weekly", "2021-06-02..2021-06-04"] == ["START", "ABORT"]
    assert kept.ends()["example.backfill", ""] == ["START", "FAIL"]
    record = stored.instance.get_backfill(ID)
    assert record is not None
    assert record.tags[RECEIPT_TAG] == "sent"
    written = [logged.fact for _, logged in stream_log(stored.instance, [("weekly",)])]
    assert [type(fact) for fact in written] == [Attempt, *[PartitionRecord] * 3]
    assert stored.flush_to(kept).run(LONG_AGO).backfills == 0
