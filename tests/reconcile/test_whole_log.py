"""The log read from beginning to end: nothing is left out, and what many assets cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from dagster import DagsterInstance

from lineage_assets.graph import AssetKey
from lineage_assets.ledger.dagster_log import stream_log
from lineage_assets.ledger.fold import Logged
from lineage_assets.reconcile import whole_log
from lineage_assets.reconcile.whole_log import follow_log, job_groups
from tests.reconcile.ledgers import World, write


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
