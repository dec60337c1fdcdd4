"""The scene of an attempt: what was declared and installed when it was made, kept with it.

So the lineage of a run is told from its own facts alone, the same years later, whatever the code says by then.
Values and their text; knows neither where it comes from nor what is told of it.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Protocol, TypeVar

from lineage_assets.errors import LineageAssetsError
from lineage_assets.graph import AssetGraph, AssetKey, AssetNode, node_from_json, node_json

SceneText = str
"""A scene as text: JSON, compressed, base64. Compressed because every attempt carries one."""


class _Value(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


_T = TypeVar("_T", bound=_Value)


class UnreadableSceneError(LineageAssetsError):
    """A scene is damaged, or of another make than the record that carries it says."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"The scene of an attempt cannot be read: {reason}. Upgrade lineage-assets here to what wrote it."
        )


@dataclass(frozen=True, slots=True)
class Site:
    """Where jobs run and tables lie, and the versions of the programs at work."""

    warehouse: str
    """The URI of the folder or bucket that holds the tables."""
    spark_version: str
    adapter_version: str
    """Of this package."""
    catalog: str = "lake"
    catalog_type: str = "jdbc"
    """`jdbc`, `glue`, ...: who keeps the catalog."""


@dataclass(frozen=True, slots=True)
class SourceCode:
    """The source of a job: where it is kept, and its text."""

    text: str = ""
    language: str = "python"
    repository: str | None = None
    """The address of the git repository, without credentials."""
    commit: str | None = None
    branch: str | None = None
    path: str | None = None
    """The job's file, below the root of the repository."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One asset with all that it reads directly, the source of its job, and the site."""

    asset: AssetKey
    graph: AssetGraph
    site: Site
    source: SourceCode = SourceCode()

    @property
    def node(self) -> AssetNode:
        return self.graph.nodes[self.asset]


def scene_of(asset: AssetKey, graph: AssetGraph, site: Site, source: SourceCode) -> Scene:
    """The scene of one asset of a graph; what it does not read is left out."""
    near = {asset, *(read.asset for read in graph.nodes[asset].inputs)}
    return Scene(asset, AssetGraph({key: node for key, node in graph.nodes.items() if key in near}), site, source)


def scene_text(scene: Scene) -> SceneText:
    """The same scene, the same text."""
    read = {
        "asset": list(scene.asset),
        "nodes": [node_json(node) for node in scene.graph.nodes.values()],
        "site": asdict(scene.site),
        "source": asdict(scene.source),
    }
    return b64encode(zlib.compress(json.dumps(read, sort_keys=True).encode(), 9)).decode()


@lru_cache(maxsize=1024)
def parse_scene(text: SceneText) -> Scene:
    """The scene that `scene_text` wrote; cached, since attempts at one asset share theirs until it changes.

    What a later version added to it is passed over.
    """
    try:
        read = json.loads(zlib.decompress(b64decode(text)))
        nodes = [node_from_json(node) for node in read["nodes"]]
        site, source = known_fields(Site, read["site"]), known_fields(SourceCode, read["source"])
        return Scene(tuple(read["asset"]), AssetGraph({node.key: node for node in nodes}), site, source)
    except (KeyError, TypeError, ValueError, zlib.error, LineageAssetsError) as error:
        raise UnreadableSceneError(f"{type(error).__name__}: {error}") from error


def known_fields(of: type[_T], read: Mapping[str, Any]) -> _T:
    """A value from JSON; what a later version says beside what this one knows is passed over."""
    names = {field.name for field in fields(of)}
    return of(**{name: value for name, value in read.items() if name in names})
