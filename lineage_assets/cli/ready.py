"""What must be there before a command begins anything: Java and Spark's jars, and a lineage server that was named.

Refuses, or fetches; changes nothing in the state folder.
"""

from __future__ import annotations

import click

from lineage_assets.launch.jars import find_jars
from lineage_assets.launch.java import find_java
from lineage_assets.lineage.receiver import find_receiver
from lineage_assets.marquez.client import marquez_at
from lineage_assets.settings import Settings


def ready_for_spark(settings: Settings) -> None:
    """Find Java and the jars, fetching what is missing; raises what they raise."""
    find_java(settings)
    find_jars(settings, say=lambda line: click.echo(line, err=True))


def ready_for_lineage(settings: Settings) -> None:
    """Refuse a receiver that cannot be meant, and ask the lineage server that the settings name.

    A receiver without an address, a file for one, is not asked.
    """
    find_receiver(settings)
    if settings.openlineage_url is not None:
        with marquez_at(settings.openlineage_url, api_key=settings.lineage_key) as server:
            server.namespaces()
