"""Dagster's automatic materializations, off while a step of ours decides what was made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from dagster import DagsterRun

from lineage_assets.dagster_private import DEFER_ASSET_EVENTS_TAG


@contextmanager
def automatic_materializations_off(run: DagsterRun) -> Iterator[None]:
    """For the step in hand only: a stranger's asset later in the same process keeps its own."""
    # The tags of a run in memory are a dict, whatever the annotation says; a frozen copy would not be seen by Dagster.
    tags = cast("dict[str, str]", run.tags)
    tags[DEFER_ASSET_EVENTS_TAG] = "true"
    try:
        yield
    finally:
        tags.pop(DEFER_ASSET_EVENTS_TAG, None)
