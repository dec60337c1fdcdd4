"""``lineage-assets env``: what a shell needs, so that Dagster's own commands work on the project as ours do.

For ``eval "$(lineage-assets env)"``; prints nothing else.
"""

from pathlib import Path

import click


@click.command()
@click.argument("home", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--as-set", is_flag=True, help="Of LINEAGE_ASSETS_HOME and DAGSTER_HOME, where these are set.")
def env(home: Path | None, *, as_set: bool) -> None:
    """Print exports for a shell: of the state folder HOME, or of the project here, and where the commands are.

    Dagster's instance is made when it is not there yet.
    """
    import sysconfig
    from shlex import quote

    from lineage_assets.cli.project import open_instance
    from lineage_assets.settings import load_settings, project_folder, use_home

    if home is not None:
        use_home(home.absolute())
    elif not as_set:
        # A shell that was readied for another project is to work on this one now.
        use_home(project_folder() / ".lineage_assets")
    settings = load_settings()
    open_instance(settings).dispose()
    print(f"export LINEAGE_ASSETS_HOME={quote(str(settings.home))}")
    print(f"export DAGSTER_HOME={quote(str(settings.dagster_home))}")
    print(f'export PATH={quote(sysconfig.get_path("scripts"))}:"$PATH"')
