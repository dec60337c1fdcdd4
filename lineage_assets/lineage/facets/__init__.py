"""The facets of our events: the published ones, and four of our own with their schemas in `lineage/schemas/`.

With `lineage/events.py` the only place that knows the OpenLineage client. Its global producer is left alone: each
facet names ours, so that a stranger's events in this process keep theirs.
"""

from __future__ import annotations

from datetime import datetime, timezone

PRODUCER = "https://github.com/lineage-assets/lineage-assets"
"""The repository of this project: who made an event, and where the schemas of its facets are."""

SCHEMAS = f"{PRODUCER}/raw/facets-1-0-0/lineage_assets/lineage/schemas"
"""A tag that never moves: a facet whose meaning changes gets a new one."""

MOST_NAMED = 100
"""Longer lists of partitions are told as ranges, or cut off beside their true count."""


def instant(time: datetime) -> str:
    """Milliseconds and `Z`, always: texts of one length sort as the times do."""
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
