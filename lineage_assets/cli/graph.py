"""``lineage-assets graph``: the assets of the project, who makes them and what they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lineage_assets.graph import Input


@click.command()
def graph() -> None:
    """List the assets in the order in which they are made."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from lineage_assets.backfill.explain import window_text
    from lineage_assets.cli.project import load_project
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.graph import name_of

    assets = load_project().graph
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("asset", "made by", "partitions", "reads"):
        table.add_column(column, overflow="fold")
    for key in assets.order:
        node = assets.nodes[key]
        last = "yesterday" if node.partitions.last is None else node.partitions.last.isoformat()
        reads = (f"{name_of(read.asset)}{window_text(read.window)}{_outside(read)}" for read in node.inputs)
        table.add_row(name_of(key), node.job.name, f"{node.partitions.first}..{last}", "\n".join(reads))
    console = console_on()
    console.print(table)
    jobs = {node.job for node in assets.nodes.values()}
    made = "1 asset" if len(assets.nodes) == 1 else f"{len(assets.nodes)} assets"
    console.print(f"{made}, made by {'1 job' if len(jobs) == 1 else f'{len(jobs)} jobs'}.")


def _outside(read: Input) -> str:
    """What another producer makes, by its name in the lineage record."""
    if read.dataset is None:
        return ""
    return f", whole ({read.dataset.name})" if read.is_whole else f" ({read.dataset.name})"
