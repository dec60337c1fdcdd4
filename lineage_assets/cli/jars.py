"""``lineage-assets jars``: fetch the Spark jars ahead of the first run, for example before a flight."""

import time

import click


@click.group()
def jars() -> None:
    """Fetch the Spark jars."""


@jars.command()
@click.option("--s3", is_flag=True, help="Those for reading and writing S3 as well (282 MB).")
def fetch(*, s3: bool) -> None:
    """Fetch and check what is missing, and print where each jar lies."""
    from lineage_assets.launch.jars import GROUPS, LOCAL, find_jars
    from lineage_assets.settings import load_settings

    started = time.perf_counter()
    groups = frozenset(GROUPS) if s3 else LOCAL
    found = find_jars(load_settings(), groups, say=lambda line: click.echo(line, err=True))
    for path in found:
        click.echo(path)
    click.echo(f"{len(found)} jars, {time.perf_counter() - started:.1f} s.", err=True)
