"""``lineage-assets adopt``: take in partitions of a table that were there before us, or were written by hand."""

import click

from lineage_assets.errors import LineageAssetsError


class NoTableError(LineageAssetsError):
    """An asset was to be adopted that leaves no table."""

    def __init__(self, asset: str) -> None:
        self.asset = asset
        super().__init__(
            f'The asset "{asset}" leaves no table: there is nothing to take in. '
            f"`lineage-assets backfill {asset} --from DAY` makes its partitions."
        )


@click.command()
@click.argument("asset")
@click.option("--from", "first", required=True, metavar="DAY", help="First partition to take in, as YYYY-MM-DD.")
@click.option("--to", "last", metavar="DAY", help="Last partition to take in; without it, the first alone.")
def adopt(*, asset: str, first: str, last: str | None) -> None:
    """Audit what the table of ASSET holds for a range, and record the partitions that pass; computes nothing."""
    from lineage_assets.cli.project import load_project, open_instance
    from lineage_assets.cli.ready import ready_for_spark
    from lineage_assets.cli.story import Story
    from lineage_assets.cli.tables import causes_table, states_table
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.clock import utc_now
    from lineage_assets.graph import name_of
    from lineage_assets.partitions import keys_of, parse_day
    from lineage_assets.settings import load_settings

    project = load_project()
    settings = load_settings()
    key = project.graph.find(asset)
    if project.graph.nodes[key].dataset is None:
        raise NoTableError(name_of(key))
    start, end = parse_day(first), parse_day(last if last is not None else first)
    days = keys_of(project.graph.nodes[key].partitions.asked(asset, start, end, now=utc_now()))
    ready_for_spark(settings)
    console = console_on()
    with open_instance(settings) as instance:
        result = Story(project, instance, settings.home / "landing").adopt(key, start, end)
    verdicts = {key: {record.partition: record for record in result.records}}
    console.print(states_table(verdicts, days))
    if not result.is_success:
        console.print(causes_table(verdicts))
        if not result.records:
            console.print(f"Dagster's run {result.run_id} ended before it gave a verdict; its log says why.")
        raise click.exceptions.Exit(1)
