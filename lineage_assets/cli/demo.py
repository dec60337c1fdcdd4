"""``lineage-assets demo``: the story of the bad days on real Spark, from a fresh folder to the repaired record."""

import click


@click.command()
@click.option("--keep", is_flag=True, help="Leave Dagster's pages and the lineage server up until Ctrl-C.")
def demo(*, keep: bool) -> None:
    """Load the sample pipeline, break its feed for three days, repair it by one backfill, look at the record."""
    from lineage_assets.cli.running import INTERRUPTED
    from lineage_assets.cli.stage import demo_stage
    from lineage_assets.cli.telling import Teller
    from lineage_assets.cli.terminal import console_on

    console = console_on()
    try:
        with demo_stage(console) as stage:
            is_whole = Teller(console, stage).tell()
            stage.show_ways_on(console, is_kept=keep)
            if keep:
                stage.keep_up(console)
    except KeyboardInterrupt:
        console.print("\nStopped, with all that it had started. The demo begins anew when it is given again.")
        raise click.exceptions.Exit(INTERRUPTED) from None
    if not is_whole:
        raise click.exceptions.Exit(1)
