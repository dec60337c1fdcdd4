"""The log read from beginning to end: nothing is left out, and what many assets cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from dagster import DagsterInstance

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.dagster_log import stream_log
from lineage_assets.ledger.fold import Logged
from lineage_assets.ledger.unreadable import UnreadableRecordError
from lineage_assets.reconcile import whole_log
from lineage_assets.reconcile.whole_log import follow_log, job_groups, logged_assets, pipelines_of
from tests.lineage.facts import ORDERS, attempt
from tests.reconcile.ledgers import World, write
from tests.support.graphs import days


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as made:
        yield made


@pytest.mark.parametrize("late", [1, 5, 12])
def test_an_event_that_shows_after_others_with_higher_ids_is_read_once_as_well(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    """As on PostgreSQL, where ids are given before they can be seen."""
    world = World("late")
    facts = world.facts()
    write(instance, facts)
    assets = sorted(world.graph.nodes)
    places = [logged.storage_id for _, logged in stream_log(instance, assets)]
    hidden = [{places[-late]}]

    def shown(of: DagsterInstance, keys: Iterable[AssetKey], *, after: int = 0) -> Iterator[tuple[AssetKey, Logged]]:
        not_yet = hidden.pop() if hidden else set()
        return (one for one in stream_log(of, keys, after=after) if one[1].storage_id not in not_yet)

    monkeypatch.setattr(whole_log, "stream_log", shown)
    read = [place for place, _ in follow_log(instance, assets)]
    assert sorted(read) == places
    assert read[-1] == places[-late]


def test_assets_whose_jobs_met_once_are_one_group(instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = {("a",): {"x"}, ("b",): {"y"}, ("c",): {"z"}, ("d",): {"x", "y"}, ("e",): {"y"}, ("f",): set[str]()}
    monkeypatch.setattr(whole_log, "_jobs", lambda _, asset: {("shop", name) for name in jobs[asset]})
    assert job_groups(instance, jobs) == [{("c",)}, {("a",), ("b",), ("d",), ("e",)}, {("f",)}]


def test_what_cannot_be_read_is_handed_out_by_name_and_the_rest_is_read(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World("unreadable")
    facts = world.facts()
    write(instance, facts[:3])
    with monkeypatch.context() as newer:
        newer.setattr("lineage_assets.ledger.record_json.RECORD_VERSION", 3)
        write(instance, facts[3:4])
    write(instance, [replace(attempt(days("2021-06-09"), run_id=facts[0].run_id), scene="no scene"), *facts[4:]])
    missed: list[UnreadableRecordError] = []
    assets = logged_assets(instance, AssetGraph.of([]))
    assert len(assets) == 5
    read = [fact for _, fact in follow_log(instance, assets, missed.append)]
    assert read == [*facts[:3], *facts[4:]]
    assert [(one.asset, one.run_id, one.version) for one in missed] == [
        (facts[3].asset, facts[3].run_id, 3),
        (ORDERS, facts[0].run_id, 2),
    ]
    assert pipelines_of(instance, facts[3].run_id) == ()
    with pytest.raises(UnreadableRecordError):
        list(follow_log(instance, assets))
