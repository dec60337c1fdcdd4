"""What a Dagster run of ours holds while it lasts: the platform, and one sender of lineage events.

A Dagster resource: made once a run and process, closed at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from logging import INFO, WARNING
from time import monotonic

from dagster import DagsterInstance, DagsterRun, InitResourceContext, ResourceDefinition

from lineage_assets.assets.platform import Platform
from lineage_assets.errors import LineageAssetsError
from lineage_assets.ledger.dagster_log import planned_assets
from lineage_assets.ledger.owner import owner, starter
from lineage_assets.ledger.reader import LogReader
from lineage_assets.ledger.receipts import Receipt, note, owe
from lineage_assets.ledger.record import Fact
from lineage_assets.lineage.delivery import Delivery
from lineage_assets.lineage.extras import extras_of
from lineage_assets.lineage.hierarchy import pipelines_told
from lineage_assets.lineage.outlet import known_secrets
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.retelling import unended
from lineage_assets.lineage.sender import Sender, sender_for
from lineage_assets.redaction import Secrets


class NoInstanceError(LineageAssetsError):
    """The resource was made where no Dagster instance is."""

    def __init__(self) -> None:
        super().__init__("The ledger is in Dagster's event log, and there is no instance here. Run it with one.")


SERVICES_KEY = "lineage_assets"
"""The name of the resource."""


@dataclass(frozen=True, slots=True)
class Services:
    platform: Platform
    projection: Projection
    sender: Sender
    log: LogReader
    secrets: Secrets
    """What this process knows and nobody may read in a record."""
    facts: list[Fact] = field(default_factory=list)
    """All that this process has recorded of the run."""


def services_resource(platform: Platform) -> ResourceDefinition:
    """The resource; when the run ends it waits a little for events on their way, and says what did not arrive."""

    def services(context: InitResourceContext) -> Iterator[Services]:
        started = monotonic()
        instance, run = context.instance, context.run
        if instance is None:
            raise NoInstanceError
        projection, sender = Projection(extras_of(platform.settings)), sender_for(platform.settings)
        held = Services(platform, projection, sender, LogReader(instance), known_secrets(platform.settings))
        if run is not None:
            owe(instance, run, owner() if platform.is_one_process else starter())
        try:
            yield held
        finally:
            if platform.is_one_process and held.projection.extras.parents:
                held.sender.send(pipelines_told(held.facts))
            delivery = held.sender.close(monotonic() - started)
            if run is not None:
                _settle(instance, run, held, delivery)
            if context.log is not None:
                context.log.log(INFO if delivery.is_complete or delivery.is_off else WARNING, delivery.text)

    return ResourceDefinition(services, description="Launcher, folders and lineage sender of lineage_assets.")


def _settle(instance: DagsterInstance, run: DagsterRun, held: Services, delivery: Delivery) -> None:
    """Leave a receipt, where this process has seen all of the run and told it; else the reconciler does."""
    is_told = held.platform.is_one_process and not delivery.unsent and not unended(held.facts)
    if is_told and _has_begun_all(instance, run, held):
        note(instance, run, Receipt.REJECTED if delivery.rejected else Receipt.SENT)


def _has_begun_all(instance: DagsterInstance, run: DagsterRun, held: Services) -> bool:
    """Whether the run came to every asset of ours that it was to make; one that was cut short did not."""
    begun, ours = {fact.asset for fact in held.facts}, held.platform.graph.nodes.keys()
    if run.asset_selection is not None:
        planned = {tuple(key.path) for key in run.asset_selection}
    else:
        planned = set(planned_assets(instance, run.run_id))
    return planned & ours <= begun
