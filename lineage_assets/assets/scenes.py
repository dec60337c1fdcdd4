"""The scene of an attempt, put together: the declaration, the site, and the source of the job as it is now."""

from __future__ import annotations

import inspect
from functools import lru_cache
from pathlib import Path

from lineage_assets.assets.declaration import JobDeclaration, JobFunction
from lineage_assets.assets.git_source import git_file
from lineage_assets.assets.platform import Platform
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.scene import SceneText, SourceCode, scene_of, scene_text
from lineage_assets.lineage.site import site_at
from lineage_assets.redaction import Secrets
from lineage_assets.settings import Settings

_MOST_SOURCE = 8_000
"""Characters of a function's text that are kept."""


def scene_texts(declaration: JobDeclaration, platform: Platform, secrets: Secrets) -> dict[AssetKey, SceneText]:
    """The scenes of a job's assets."""
    settings = platform.settings
    source = _source(declaration.function, settings, secrets)
    site = site_at(settings.home / "warehouse", platform.catalog)
    return {node.key: scene_text(scene_of(node.key, platform.graph, site, source)) for node in declaration.nodes}


def _source(function: JobFunction, settings: Settings, secrets: Secrets) -> SourceCode:
    """What the settings say of repository and commit, where no checkout is deployed; else what git says."""
    written, file = _written(function)
    text = _kept(secrets.text(written)) if settings.tell_source_code else ""
    found = None if file is None else git_file(file)
    if settings.repository is None and found is None:
        return SourceCode(text=text)
    return SourceCode(
        text=text,
        repository=settings.repository if settings.repository is not None or found is None else found.repository,
        commit=settings.commit if settings.commit is not None or found is None else found.commit,
        branch=None if found is None else found.branch,
        path=None if found is None else found.path,
    )


@lru_cache(maxsize=256)
def _written(function: JobFunction) -> tuple[str, Path | None]:
    """The text of a function, and the file that it is in."""
    try:
        text, file = inspect.getsource(function), inspect.getsourcefile(function)
    except (OSError, TypeError):
        return "", None  # made in a console: no file holds it
    return text, None if file is None else Path(file)


def _kept(text: str) -> str:
    return text if len(text) <= _MOST_SOURCE else f"{text[:_MOST_SOURCE]}\n# ... {len(text) - _MOST_SOURCE} more"
