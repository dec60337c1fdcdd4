"""Names that a receiver takes: checked before an event leaves, since Marquez does not mend what it stored.

One empty dataset name, or one odd namespace, and every list of jobs or datasets there answers 500 for good.
"""

from __future__ import annotations

import re

from lineage_assets.errors import BadDeclarationError
from lineage_assets.graph import AssetGraph

_NAMESPACE = re.compile(r"[a-zA-Z0-9:;=/_\-.@+]{1,1024}")
"""What Marquez takes as the namespace of a dataset; in that of a job it would write `_` for other characters."""
_MOST_CHARACTERS = 255
"""Marquez stores longer names of datasets and does not find them again."""


def check_names(graph: AssetGraph) -> None:
    """Refuse a graph with a job or dataset whose name would break a receiver."""
    for node in graph.nodes.values():
        check_name("lineage job", node.job.namespace, node.job.name)
        for dataset in (node.dataset, *(read.dataset for read in node.inputs)):
            if dataset is not None:
                check_name("dataset", dataset.namespace, dataset.name)


def check_name(what: str, namespace: str, name: str) -> None:
    if not _NAMESPACE.fullmatch(namespace):
        raise BadDeclarationError(f"{what} namespace", namespace, "use letters, digits and : ; = / _ - . @ + only")
    if not name.strip() or not name.isprintable() or len(name) > _MOST_CHARACTERS:
        mend = f"give it 1 to {_MOST_CHARACTERS} printable characters, not all of them blank"
        raise BadDeclarationError(f"{what} name", name, mend)
