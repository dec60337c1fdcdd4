"""``lineage-assets marquez``: start, find or stop the embedded lineage server.

With OPENLINEAGE_URL set, the server of that address is used, and the embedded one is not needed.
"""

import click


@click.group()
def marquez() -> None:
    """The lineage server: yours by OPENLINEAGE_URL, else one that is embedded here."""


@marquez.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Listen here; a free port when left out.")
def up(port: int | None) -> None:
    """Start the embedded server, or find the one that is up."""
    from rich.console import Console

    from lineage_assets.marquez.process import status as running
    from lineage_assets.marquez.process import up as start
    from lineage_assets.settings import load_settings

    settings = load_settings()
    if settings.openlineage_url is not None:
        Console(soft_wrap=True).print(_named(settings.openlineage_url), "The embedded server is not needed.")
        return
    before = running(settings.home)
    server = start(settings.home, port)
    what = "was up already" if server == before else "is up"
    Console(soft_wrap=True).print(
        f"The embedded lineage server (not Marquez) {what}: [bold]{server.url}[/], process {server.pid}."
    )


@marquez.command()
def down() -> None:
    """Stop the embedded server; what it holds is kept."""
    from rich.console import Console

    from lineage_assets.marquez.process import down as stop
    from lineage_assets.settings import load_settings

    settings = load_settings()
    server = stop(settings.home)
    said = "No embedded lineage server was up." if server is None else f"Stopped process {server.pid} at {server.url}."
    Console(soft_wrap=True).print(said)


@marquez.command()
def status() -> None:
    """Say which lineage server is used, and whether it answers."""
    from rich.console import Console

    from lineage_assets.marquez.client import marquez_at
    from lineage_assets.marquez.process import status as running
    from lineage_assets.settings import load_settings

    settings = load_settings()
    console = Console(soft_wrap=True)
    if settings.openlineage_url is not None:
        console.print(_named(settings.openlineage_url))
        with marquez_at(settings.openlineage_url, api_key=settings.lineage_key) as client:
            console.print(f"It answers, with {len(client.namespaces())} namespaces.")
        return
    server = running(settings.home)
    if server is None:
        console.print(f"No lineage server is up for {settings.home}. `lineage-assets marquez up` starts one.")
        return
    with marquez_at(server.url) as client:
        jobs = sum(len(client.jobs(namespace)) for namespace in client.namespaces())
    console.print(
        f"The embedded lineage server (not Marquez), version {server.version}, answers at [bold]{server.url}[/]; "
        f"process {server.pid}, {jobs} jobs."
    )


def _named(url: str) -> str:
    return f"The lineage server of OPENLINEAGE_URL is used: [bold]{url}[/]."
