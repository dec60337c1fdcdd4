"""A reader sees what the log has, and asks for each event once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dagster import DagsterInstance

from lineage_assets.ledger import reader
from lineage_assets.ledger.dagster_log import attempt_event, bad_event, good_event, read_history
from lineage_assets.ledger.fold import Logged
from lineage_assets.ledger.reader import LogReader
from lineage_assets.ledger.record import State
from tests.support.records import make_attempt, make_record

ORDERS = ("orders",)


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def test_it_sees_what_was_logged_since_it_looked(instance: DagsterInstance) -> None:
    log = LogReader(instance)
    assert log.history(ORDERS).verdicts == {}
    instance.report_runless_asset_event(attempt_event(make_attempt("2021-06-04", "2021-06-05")))
    assert log.history(ORDERS) == read_history(instance, ORDERS)
    bad = make_record("2021-06-05", State.FAILED)
    instance.report_runless_asset_event(good_event(make_record("2021-06-04"), metadata={}, tags={}))
    instance.report_runless_asset_event(bad_event(bad))
    assert log.history(ORDERS) == read_history(instance, ORDERS)
    assert log.history(ORDERS).verdicts["2021-06-05"] == bad


def test_what_it_has_seen_is_not_read_again(instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "OVERLAP", 0)
    read: list[int] = []
    read_log = reader.read_log

    def counting(*asked: object, **named: object) -> Iterator[Logged]:
        for one in read_log(*asked, **named):
            read.append(one.storage_id)
            yield one

    monkeypatch.setattr(reader, "read_log", counting)
    log = LogReader(instance)
    for day in ("2021-06-04", "2021-06-05", "2021-06-06"):
        instance.report_runless_asset_event(good_event(make_record(day), metadata={}, tags={}))
        assert day in log.history(ORDERS).verdicts
    assert len(read) == len(set(read)) == 3


def test_an_event_that_shows_late_with_a_lower_id_is_seen(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL ids are given out before the events that have them can be seen."""
    late, early = Logged(1, make_record("2021-06-04")), Logged(2, make_record("2021-06-05"))
    shown = [early]
    monkeypatch.setattr(
        reader,
        "read_log",
        lambda _instance, _asset, after=None: [one for one in shown if one.storage_id > (after or 0)],
    )
    log = LogReader(instance)
    assert set(log.history(ORDERS).verdicts) == {"2021-06-05"}
    shown.append(late)
    assert set(log.history(ORDERS).verdicts) == {"2021-06-04", "2021-06-05"}
