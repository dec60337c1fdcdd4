"""The ids of lineage runs: made from the facts they name, so that the same facts sent again are the same run.

Knows no event and no clock.
"""

from __future__ import annotations

import json
from functools import lru_cache
from uuid import UUID, uuid5

from lineage_assets.graph import LineageJob
from lineage_assets.partitions import PartitionSet, ranges_text

_IDS = UUID("6cc8d3f6-0c5e-5a3f-9d0e-5d0a0a2f7c11")
"""The name space of all our ids; another value would make every recorded run a second one."""


@lru_cache(maxsize=1024)
def lineage_run_id(run_id: str, job: LineageJob, partitions: PartitionSet, number: int) -> UUID:
    """The run of a lineage job in which a Dagster run tries these partitions for the `number`th time."""
    return _id("attempt", run_id, job.namespace, job.name, ranges_text(partitions), number)


def backfill_lineage_run_id(backfill: str) -> UUID:
    """The lineage run that a backfill is."""
    return _id("backfill", backfill)


def parent_lineage_run_id(run_id: str, namespace: str, pipeline: str) -> UUID:
    """The run of a pipeline that a Dagster run is."""
    return _id("pipeline", run_id, namespace, pipeline)


def _id(*parts: str | int) -> UUID:
    # JSON keeps the parts apart: no two lists of parts make one text.
    return uuid5(_IDS, json.dumps(parts, separators=(",", ":")))
