"""The project a command works on: its definitions, the asset graph in them, its Dagster instance.

Knows where they lie, not what is done with them.
"""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from dagster import DagsterInstance, Definitions

from lineage_assets.assets.definitions import graph_of
from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.found import marked, standing
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.clock import utc_now
from lineage_assets.errors import LineageAssetsError
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.dagster_log import read_histories
from lineage_assets.settings import PROJECT_MARK, Settings, project_folder

DEFINITIONS = "definitions"
"""The module beside workspace.yaml that composes a code location."""

_OWN_INSTANCE = """\
# Made by lineage-assets with the state folder. Yours to change: it is not written again.
telemetry:
  enabled: false
"""


class ProjectError(LineageAssetsError):
    """The folder holds no project, or one that cannot be loaded."""

    def __init__(self, place: Path, reason: str, mend: str) -> None:
        self.place = place
        self.reason = reason
        self.mend = mend
        super().__init__(f"The project in {place} cannot be used: {reason}. {mend}")


@dataclass(frozen=True, slots=True)
class Project:
    """A code location as loaded into this process."""

    definitions: Definitions
    graph: AssetGraph


def load_project(start: Path | None = None) -> Project:
    """The project at or above `start` (the working folder): its `definitions.py`, loaded anew."""
    folder = project_folder(start)
    file = folder / f"{DEFINITIONS}.py"
    if not (folder / PROJECT_MARK).is_file():
        raise ProjectError(folder, f"there is no {PROJECT_MARK} in it or above it", "Go to a project's folder.")
    if not file.is_file():
        raise ProjectError(folder, f"it has no {file.name}", "Compose the code location in that file.")
    definitions = _definitions(file)
    graph = graph_of(definitions)
    if not graph.nodes:
        raise ProjectError(folder, f"{file.name} holds no asset of ours", "Build them with `build_definitions`.")
    return Project(definitions, graph)


def open_instance(settings: Settings) -> DagsterInstance:
    """The Dagster instance of the project; its folder is made when it is our own."""
    home = settings.dagster_home
    own = home == settings.home / "dagster"
    if own and not (home / "dagster.yaml").exists():
        home.mkdir(parents=True, exist_ok=True)
        (home / "dagster.yaml").write_text(_OWN_INSTANCE, encoding="utf-8")
    if not home.is_dir():
        raise ProjectError(home, "DAGSTER_HOME names no folder", "Make it, or unset DAGSTER_HOME.")
    return DagsterInstance.from_config(str(home))


def shown_plan(project: Project, ask: Ask, settings: Settings) -> BackfillPlan:
    """The plan for what was asked, marked with how its partitions stand; makes nothing, not even a folder."""
    plan = ask.plan_at(project.graph, utc_now())
    if not settings.dagster_home.is_dir():
        return plan
    with open_instance(settings) as instance:
        histories = read_histories(instance, [planned.asset for planned in plan.assets])
    return marked(plan, {asset: standing(history) for asset, history in histories.items()})


def _definitions(file: Path) -> Definitions:
    """The one `Definitions` in the file, by the rule by which Dagster itself finds it."""
    spec = spec_from_file_location(DEFINITIONS, file)
    if spec is None or spec.loader is None:
        raise ProjectError(file, "Python cannot load it", "Check the file's name and rights.")
    module = module_from_spec(spec)
    sys.modules[DEFINITIONS] = module
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except LineageAssetsError:
        raise
    except Exception as error:
        raise ProjectError(file, _said(error), "Mend it; `dagster definitions validate` shows more.") from error
    found = [value for value in vars(module).values() if isinstance(value, Definitions)]
    if len(found) != 1:
        reason = f"it has {len(found)} objects of Dagster's class Definitions at its top, not one"
        raise ProjectError(file, reason, "Merge them into one.")
    return found[0]


def _said(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {last.filename}, line {last.lineno}: {error}"
