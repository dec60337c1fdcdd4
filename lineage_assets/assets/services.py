"""What a Dagster run of ours holds while it lasts: the platform, and one sender of lineage events.

A Dagster resource: made once a run and process, closed at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from logging import INFO, WARNING
from time import monotonic

from dagster import InitResourceContext, ResourceDefinition

from lineage_assets.assets.platform import Platform
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.sender import Sender, sender_for
from lineage_assets.lineage.site import local_site


@dataclass(frozen=True, slots=True)
class Services:
    platform: Platform
    projection: Projection
    sender: Sender


def services_resource(platform: Platform) -> ResourceDefinition:
    """The resource; when the run ends it waits a little for events on their way, and says what did not arrive."""

    def services(context: InitResourceContext) -> Iterator[Services]:
        started = monotonic()
        sender = sender_for(platform.settings)
        projection = Projection(platform.graph, local_site(platform.settings.home))
        try:
            yield Services(platform, projection, sender)
        finally:
            delivery = sender.close(monotonic() - started)
            if context.log is not None:
                context.log.log(INFO if delivery.is_complete else WARNING, delivery.text)

    return ResourceDefinition(services, description="Launcher, folders and lineage sender of lineage_assets.")
