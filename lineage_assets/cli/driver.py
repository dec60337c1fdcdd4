"""``lineage-assets driver``: show or stop the warm Spark drivers of this state folder."""

import json

import click


@click.group()
def driver() -> None:
    """Show or stop the warm Spark driver."""


@driver.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def status(*, as_json: bool) -> None:
    """Print what each driver that is up does."""
    from lineage_assets.launch.driver_process import driver_processes
    from lineage_assets.settings import load_settings

    found = {process: process.status() for process in driver_processes(load_settings().home)}
    up = {process: said for process, said in found.items() if said is not None}
    if as_json:
        click.echo(
            json.dumps([{"name": process.name, "log": str(process.log), **said} for process, said in up.items()])
        )
        return
    if not up:
        click.echo("No Spark driver is up.")
    for process, said in up.items():
        does = f"busy with {said['busy_with']}" if said["busy_with"] else f"idle for {said['idle_seconds']:.0f} s"
        click.echo(
            f"Spark driver {process.name}: process {said['pid']}, JVM {said['jvm_pid']}, "
            f"{said['programs']} {'program' if said['programs'] == 1 else 'programs'} so far, {does}."
        )
        for who in said["waiting"]:
            click.echo(f"  {who} waits.")
        click.echo(f"  Its log is {process.log}.")


@driver.command()
@click.option("--now", is_flag=True, help="Cancel what runs, instead of letting it end.")
def stop(*, now: bool) -> None:
    """Stop each driver that is up, after the program that runs or now, and wait until it has ended."""
    from lineage_assets.launch.driver_process import driver_processes
    from lineage_assets.settings import load_settings

    up = [(process, said) for process in driver_processes(load_settings().home) if (said := process.status())]
    if not up:
        click.echo("No Spark driver is up.")
    for process, said in up:
        if said["busy_with"] and not now:
            click.echo(f"Waits for {said['busy_with']}; `lineage-assets driver stop --now` cancels it.")
        process.stop(now=now)
        click.echo(f"Stopped the Spark driver, process {said['pid']}.")
