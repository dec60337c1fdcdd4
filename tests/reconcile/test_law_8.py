"""Law 8: every attempt is exactly one ended run in Marquez, though nobody was there to be told for a whole backfill.

The same story happens twice, under the same run ids: told as it goes to one server, and told by one pass, when all is
over, to another. The two servers are then the same.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from dagster import DagsterInstance

from lineage_assets.cli.replaying import run_replay
from lineage_assets.ledger.receipts import RECEIPT_TAG, Receipt
from lineage_assets.marquez.client import MarquezClient, marquez_at
from lineage_assets.marquez.process import down, up
from lineage_assets.marquez.shapes import DatasetVersion, dataset_node_id
from lineage_assets.reconcile.backfills import backfills_told
from lineage_assets.reconcile.passes import Project, flush
from lineage_assets.reconcile.selection import Selection
from lineage_assets.reconcile.verify import Verification
from lineage_assets.reconcile.whole_log import logged_assets
from lineage_assets.settings import load_settings
from tests.lineage.receivers import refusing
from tests.reconcile.story import Story
from tests.reconcile.test_flush import LONG_AGO
from tests.support.recording import RecordingLauncher
from tests.support.world import ShopWorld

pytestmark = pytest.mark.slow

NAMESPACE = "shop"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
"""Of the two stories the one happened after the other."""


@dataclass(frozen=True)
class Shop:
    """A ledger, and the server that is told of it."""

    project: Project
    story: Story
    server: MarquezClient

    def flushed(self) -> str:
        return str(flush(self.project, since=LONG_AGO))

    def forgotten(self) -> None:
        """No receipt is left: all is told again by the next pass."""
        for run_id in self.story.runs:
            self.project.instance.add_run_tags(run_id, {RECEIPT_TAG: Receipt.PENDING.value})


@contextmanager
def shop_at(home: Path, url: str, server: MarquezClient) -> Iterator[Shop]:
    settings = load_settings().model_copy(update={"home": home, "openlineage_url": url, "range_run_threshold": 3})
    with DagsterInstance.ephemeral() as instance:
        world = ShopWorld(settings, instance, RecordingLauncher())
        project = Project(instance, world.graph, world.definitions.resolve_asset_graph(), settings)
        yield Shop(project, Story(world, lambda: None), server)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shop, Shop]]:
    """The undisturbed shop, told while it goes on; and the one that was told nothing till its story was over."""
    home = tmp_path_factory.mktemp("shop")
    with ExitStack() as kept:
        servers = []
        for name in ("undisturbed", "down"):
            server = up(home / name, owner_pid=os.getpid())
            kept.callback(down, home / name)
            servers.append(server.url)
        clients = [kept.enter_context(marquez_at(url)) for url in servers]
        undisturbed = kept.enter_context(shop_at(home, servers[0], clients[0]))
        undisturbed.story.between = undisturbed.flushed
        undisturbed.story.happen()
        silent = kept.enter_context(shop_at(home, refusing(), clients[1]))
        silent.story.happen()
        settings = silent.project.settings.model_copy(update={"openlineage_url": servers[1]})
        project = Project(silent.project.instance, silent.project.graph, silent.project.assets, settings)
        yield undisturbed, Shop(project, silent.story, clients[1])


def picture(server: MarquezClient) -> dict[str, object]:
    """All that a server says of the shop, but when it was: jobs, runs with facets, datasets with versions, edges."""
    jobs = server.jobs(NAMESPACE)
    runs = {job.name: {run.id: run for run in server.runs(NAMESPACE, job.name)} for job in jobs}
    datasets = [server.dataset(NAMESPACE, dataset.name) for dataset in server.datasets(NAMESPACE)]
    graph = server.lineage(dataset_node_id(NAMESPACE, "public.orders"))
    said = {
        "jobs": {
            job.name: [job.description, job.inputs, job.outputs, job.facets, job.latest_run and job.latest_run.id]
            for job in jobs
        },
        "runs": {
            name: {
                run.id: [run.state, run.facets, _versions(run.inputs), _versions(run.outputs)] for run in found.values()
            }
            for name, found in runs.items()
        },
        "datasets": {one.name: [one.fields, one.current_version, one.facets] for one in datasets},
        "graph": {node.id: [node.state, node.upstream, node.downstream] for node in graph.nodes.values()},
    }
    plain: dict[str, object] = json.loads(TIME.sub("then", json.dumps(said, default=str, sort_keys=True)))
    return plain


def _versions(touched: Iterable[DatasetVersion]) -> list[object]:
    return [[one.namespace, one.name, one.version, one.facets] for one in touched]


def ends(server: MarquezClient) -> dict[str, str]:
    """Each run with how it ended."""
    return {run.id: run.state for job in server.jobs(NAMESPACE) for run in server.runs(NAMESPACE, job.name)}


def compared(shop: Shop) -> int:
    """How many ended runs the ledger has, once each is seen to be on the server as it ended, and no other."""
    project = shop.project
    verification = Verification(project.instance, shop.server, Selection())
    backfills = backfills_told(project.instance, project.assets, project.graph)
    assets = logged_assets(project.instance, project.graph)
    reports = [*verification.reports(assets), *verification.backfills(backfills)]
    assert [
        (one.name, one.found, one.unknown, one.underway) for one in reports if not one.is_equal or one.unknown
    ] == []
    return sum(one.compared for one in reports)


def test_one_pass_tells_a_server_what_it_would_have_been_told_as_it_went(told: tuple[Shop, Shop]) -> None:
    undisturbed, down = told
    assert down.server.jobs(NAMESPACE) == ()
    assert (
        down.flushed()
        == ("7 runs and 2 backfills told, 52 events sent, 2 attempts closed, 12 partitions found blocked."[:-1])
    )
    assert picture(down.server) == picture(undisturbed.server)
    assert set(ends(down.server).values()) == {"COMPLETED", "FAILED", "ABORTED"}
    assert compared(down) == compared(undisturbed) == len(ends(down.server)) == 26


@pytest.mark.parametrize("again", ["flush", "replay"])
def test_telling_it_three_times_more_changes_nothing(told: tuple[Shop, Shop], again: str) -> None:
    _, down = told
    before, seen = ends(down.server), picture(down.server)
    for _ in range(3):
        if again == "flush":
            down.forgotten()
            assert "stopped" not in down.flushed()
        else:
            assert run_replay(down.project, ((), None, None), restart=True) == 0
        assert ends(down.server) == before
        assert compared(down) == 26
        after = picture(down.server)
        assert {part: after[part] for part in ("jobs", "graph")} == {part: seen[part] for part in ("jobs", "graph")}
