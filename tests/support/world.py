"""A code location with a feed, an instance and a launcher that keeps its programs: runs without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dagster import AssetKey, DagsterInstance, Definitions, ExecuteInProcessResult

from lineage_assets.assets.definitions import graph_of
from lineage_assets.dagster_private import BACKFILL_TAG
from lineage_assets.graph import AssetGraph
from lineage_assets.lineage.foreground import Audience
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.site import CATALOG, site_at
from lineage_assets.lineage.transport import Transport
from lineage_assets.reconcile.flush import Flush
from lineage_assets.settings import Settings
from tests.support.recording import RecordingLauncher
from tests.support.records import NOON
from tests.support.small_shop import definitions_of, feed

ASSETS = ("orders", "weekly", "best", "worst")


@dataclass
class ShopWorld:
    settings: Settings
    instance: DagsterInstance
    launcher: RecordingLauncher

    @property
    def definitions(self) -> Definitions:
        return definitions_of(self.launcher, self.settings)

    @property
    def graph(self) -> AssetGraph:
        return graph_of(self.definitions)

    def feed(self, *days: int, header: str = "id") -> None:
        feed(self.settings, *days, header=header)

    def run(
        self, first: int, last: int, *, select: Sequence[str] = ASSETS, backfill: str | None = None
    ) -> ExecuteInProcessResult:
        """Run the assets for a range of days of June 2021."""
        job = self.definitions.resolve_implicit_global_asset_job_def()
        tags = {} if backfill is None else {BACKFILL_TAG: backfill}
        return job.execute_in_process(
            instance=self.instance,
            asset_selection=[AssetKey(name) for name in select],
            raise_on_error=False,
            tags={
                "dagster/asset_partition_range_start": f"2021-06-{first:02}",
                "dagster/asset_partition_range_end": f"2021-06-{last:02}",
                **tags,
            },
        )

    def flush_to(self, *transports: Transport) -> Flush:
        """A pass over what is owed, with a clock that stands still at noon."""
        definitions = self.definitions
        return Flush(
            instance=self.instance,
            graph=graph_of(definitions),
            assets=definitions.resolve_asset_graph(),
            audience=Audience(*transports),
            projection=Projection(),
            site=site_at(self.settings.home / "warehouse", CATALOG),
            now=lambda: NOON,
        )
