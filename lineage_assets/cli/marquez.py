"""``lineage-assets marquez``: start, find or stop a lineage server of this state folder.

With OPENLINEAGE_URL set, the server of that address is used, and none is needed here.
"""

import click


@click.group()
def marquez() -> None:
    """The lineage server: yours by OPENLINEAGE_URL, else one of this state folder."""


@marquez.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Listen here; a free port when left out.")
@click.option(
    "--with",
    "kind",
    type=click.Choice(["embedded", "docker"]),
    default="embedded",
    show_default=True,
    help="The small server that comes along, or Marquez's official images where Docker runs.",
)
def up(port: int | None, kind: str) -> None:
    """Start a lineage server, or find the one that is up."""
    from lineage_assets.cli.destination import destination_line
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.marquez.containers import answers, containers_of, containers_up
    from lineage_assets.marquez.process import status as running
    from lineage_assets.marquez.process import up as start
    from lineage_assets.settings import load_settings

    settings, console = load_settings(), console_on(soft_wrap=True)
    if settings.openlineage_url is not None:
        console.print(_named(settings.openlineage_url), "No other is needed.")
        return
    if kind == "docker":
        known = containers_of(settings.home)
        was_up = known is not None and answers(known)
        console.print(f"{_marquez(containers_up(settings.home, port).url)} {_came(was_up=was_up)}.")
        console.print(destination_line(settings), markup=False)
        return
    before = running(settings.home)
    server = start(settings.home, port)
    console.print(
        f"The embedded lineage server (not Marquez) {_came(was_up=server == before)}: "
        f"[bold]{server.url}[/], process {server.pid}."
    )
    console.print(destination_line(settings), markup=False)


@marquez.command()
def down() -> None:
    """Stop the lineage server of this state folder; what it holds is kept."""
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.marquez.containers import containers_down
    from lineage_assets.marquez.process import down as stop
    from lineage_assets.settings import load_settings

    settings, console = load_settings(), console_on(soft_wrap=True)
    containers = containers_down(settings.home)
    if containers is not None:
        console.print(f"Stopped {_marquez(containers.url)}.")
        return
    server = stop(settings.home)
    said = "No embedded lineage server was up." if server is None else f"Stopped process {server.pid} at {server.url}."
    console.print(said)


@marquez.command()
def status() -> None:
    """Say where events go, which lineage server is used, and whether it answers."""
    from lineage_assets.cli.destination import destination_line
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.marquez.client import marquez_at
    from lineage_assets.marquez.containers import containers_of
    from lineage_assets.marquez.process import status as running
    from lineage_assets.settings import load_settings

    settings, console = load_settings(), console_on(soft_wrap=True)
    console.print(destination_line(settings), markup=False)
    if settings.openlineage_url is not None:
        with marquez_at(settings.openlineage_url, api_key=settings.lineage_key) as client:
            console.print(f"OPENLINEAGE_URL answers, with {_count(len(client.namespaces()), 'namespace')}.")
        return
    containers = containers_of(settings.home)
    if containers is not None:
        console.print(f"{_marquez(containers.url)} is this state folder's.")
        with marquez_at(containers.url) as client:
            console.print(f"It answers, with {_count(len(client.namespaces()), 'namespace')}.")
        return
    server = running(settings.home)
    if server is None:
        console.print(f"No lineage server of {settings.home} is up.")
        return
    with marquez_at(server.url) as client:
        jobs = sum(len(client.jobs(namespace)) for namespace in client.namespaces())
    console.print(
        f"The embedded lineage server (not Marquez), version {server.version}, answers at [bold]{server.url}[/]; "
        f"process {server.pid}, {_count(jobs, 'job')}."
    )


def _named(url: str) -> str:
    from lineage_assets.redaction import redact_text

    return f"The lineage server of OPENLINEAGE_URL is used: [bold]{redact_text(url)}[/]."


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _marquez(url: str) -> str:
    return f"Marquez in containers at [bold]{url}[/]"


def _came(*, was_up: bool) -> str:
    return "was up already" if was_up else "is up"
