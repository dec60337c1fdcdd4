"""``lineage-assets lineage``: the lineage record held against the ledger, and told again from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from lineage_assets.reconcile.passes import Project

_Command = Callable[..., Any]


def _selected(command: _Command) -> _Command:
    """The options that name a part of the ledger."""
    options = (
        click.option("--asset", "assets", multiple=True, metavar="ASSET", help="An asset; may be given several times."),
        click.option("--from", "first", metavar="DAY", help="First partition, as YYYY-MM-DD."),
        click.option("--to", "last", metavar="DAY", help="Last partition."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def lineage() -> None:
    """Send lineage again from the ledger, or compare the two."""


@lineage.command()
@_selected
@click.option("--restart", is_flag=True, help="Begin anew, where an earlier one was interrupted.")
def replay(*, assets: tuple[str, ...], first: str | None, last: str | None, restart: bool) -> None:
    """Tell the receiver of lineage all that the ledger holds, in the order in which it happened.

    An empty Marquez becomes equal to one that was told by the runs themselves; one that holds it already stays as it
    is. Of a part, whole attempts are told. Interrupted, the same command goes on where it stopped.
    """
    from lineage_assets.cli.replaying import run_replay

    with _opened() as project:
        code = run_replay(project, (assets, first, last), restart=restart)
    raise SystemExit(code)


@lineage.command()
@_selected
@click.option("--json", "as_json", is_flag=True, help="All that was found, as JSON.")
def verify(*, assets: tuple[str, ...], first: str | None, last: str | None, as_json: bool) -> None:
    """Compare Marquez with the ledger, partition by partition; exit code 0 when they are equal, 1 when not."""
    from lineage_assets.cli.verifying import run_verify

    with _opened() as project:
        code = run_verify(project, (assets, first, last), as_json=as_json)
    raise SystemExit(code)


@lineage.command()
def flush() -> None:
    """Tell once what the runs themselves could not: killed, cancelled, or with no receiver there.

    What the sensor does where a daemon runs. Only what is owed is sent, and attempts that died are closed.
    """
    from lineage_assets.reconcile.passes import flush as one_pass

    with _opened() as project:
        flushed = one_pass(project)
    click.echo(f"{flushed}.")
    raise SystemExit(0 if flushed.stopped is None and not flushed.rejected else 1)


@contextmanager
def _opened() -> Iterator[Project]:
    """The project of the working folder, with its instance open."""
    from lineage_assets.cli.project import load_project, open_instance
    from lineage_assets.reconcile.passes import Project
    from lineage_assets.settings import load_settings

    settings = load_settings()
    loaded = load_project()
    with open_instance(settings) as instance:
        yield Project(instance, loaded.graph, loaded.definitions.resolve_asset_graph(), settings)
