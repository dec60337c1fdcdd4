"""The ledger that a question is asked of: the project's, as it is or as it was. Makes nothing, not even a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dagster import Definitions

from lineage_assets.assets.definitions import NODE_KEY
from lineage_assets.cli.destination import destination_text
from lineage_assets.cli.project import load_project, open_instance
from lineage_assets.clock import utc_now
from lineage_assets.errors import LineageAssetsError
from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.partition_log import PartitionLogs
from lineage_assets.lineage.receiver import asked_receiver, find_receiver
from lineage_assets.marquez.client import marquez_at
from lineage_assets.questions.asking import Asker
from lineage_assets.questions.foreign import ForeignJob, foreign_jobs
from lineage_assets.questions.gather import NoLogs
from lineage_assets.questions.moment import parse_moment
from lineage_assets.settings import Settings

_PATIENCE_SECONDS = 5.0
"""For the lineage server: it only adds to the answer."""


@contextmanager
def asker(settings: Settings, at: str | None) -> Iterator[tuple[Asker, str | None]]:
    """Who answers, for the project of the working folder; and what must be said before, where nothing is on record."""
    now = utc_now()
    moment = None if at is None else parse_moment(at, now)
    project = load_project()
    then = now if moment is None else moment
    code_now = _code_versions(project.definitions) if moment is None else {}
    if not settings.dagster_home.is_dir():
        yield Asker(project.graph, NoLogs(), then, code_now), _empty(settings)
        return
    with open_instance(settings) as instance:
        logs = PartitionLogs(instance, moment)
        note = None if instance.get_run_records(limit=1) else _empty(settings)
        yield Asker(project.graph, logs, then, code_now, None if moment is None else PartitionLogs(instance)), note


def _empty(settings: Settings) -> str:
    """That the question may be asked in the wrong place, which no answer would show."""
    home = settings.dagster_home
    if home != settings.home / "dagster":
        return f"No run is on record in {home}; DAGSTER_HOME names another place."
    demo = settings.home / "demo"
    of_demo = f" The demo's state is in {demo}." if (demo / "dagster").is_dir() else ""
    return f"No run is on record in the state folder {settings.home}; LINEAGE_ASSETS_HOME names another.{of_demo}"


def _code_versions(definitions: Definitions) -> dict[AssetKey, str]:
    """The code version of each asset of ours, as Dagster has it."""
    specs = (spec for spec in definitions.resolve_all_asset_specs() if NODE_KEY in spec.metadata)
    return {tuple(spec.key.path): spec.code_version for spec in specs if spec.code_version is not None}


def _nobody_to_ask(settings: Settings) -> str:
    """Nobody gets events, or somebody who cannot be asked, which a server that is started now would not change."""
    if find_receiver(settings) is None:
        return "no lineage server is up. `lineage-assets marquez up` starts one."
    return f"events go to {destination_text(settings)}, which answers no questions. OPENLINEAGE_URL names who is asked."


def jobs_of_others(
    settings: Settings, graph: AssetGraph, asset: AssetKey
) -> tuple[tuple[ForeignJob, ...] | None, str | None]:
    """The jobs downstream that the lineage server knows and the graph does not; else None, and why, in one line.

    Of now, whatever time the question is asked of: Marquez keeps no past of its graph.
    """
    dataset = graph.nodes[asset].dataset
    if dataset is None:
        return (), None
    try:
        receiver = asked_receiver(settings)
        if receiver is None:
            return None, _nobody_to_ask(settings)
        key = None if receiver.api_key is None else receiver.api_key.get_secret_value()
        with marquez_at(receiver.url, api_key=key, timeout_seconds=_PATIENCE_SECONDS) as client:
            return foreign_jobs(client, dataset, graph), None
    except LineageAssetsError as error:
        return None, str(error)
