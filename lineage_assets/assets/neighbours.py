"""Tables that other producers make and a job here reads: what is declared of them must not contradict the graph.

Knows no Dagster and no Spark.
"""

from __future__ import annotations

from lineage_assets.assets.platform import Platform
from lineage_assets.errors import BadDeclarationError
from lineage_assets.graph import AssetKey, Input, name_of


def refuse_false_neighbours(platform: Platform) -> None:
    """Refuse as external what a job here makes, and one name for two things."""
    graph = platform.graph
    made: dict[object, str] = {
        named: name_of(key)
        for key, node in graph.nodes.items()
        if node.dataset is not None
        for named in ((node.dataset.namespace, node.dataset.name), platform.table_of(key))
    }
    known: dict[AssetKey, Input] = {}
    for node in graph.nodes.values():
        for read in (read for read in node.inputs if read.dataset is not None):
            what, name = f'external input of "{name_of(node.key)}"', name_of(read.asset)
            owner = _owner(read, made, is_asset=read.asset in graph.nodes)
            if owner is not None:
                mend = f'a job here makes it, as "{owner}": read that asset, without external(...)'
                raise BadDeclarationError(what, name, mend)
            first = known.setdefault(read.asset, read)
            if (first.dataset, first.table) != (read.dataset, read.table):
                mend = f"another job reads {first.table} by this name: give the parameter another, or both one meaning"
                raise BadDeclarationError(what, f"{name} ({read.table})", mend)


def _owner(read: Input, made: dict[object, str], *, is_asset: bool) -> str | None:
    """The asset here that an external input really is."""
    if is_asset:
        return name_of(read.asset)
    named = None if read.dataset is None else (read.dataset.namespace, read.dataset.name)
    return made.get(named, made.get(read.table))
