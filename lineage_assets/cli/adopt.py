"""``lineage-assets adopt``: take in partitions of a table that were there before us, or were written by hand."""

import click


@click.command()
@click.argument("asset")
@click.option("--from", "first", required=True, metavar="DAY", help="First partition to take in, as YYYY-MM-DD.")
@click.option("--to", "last", metavar="DAY", help="Last partition to take in; without it, the first alone.")
def adopt(*, asset: str, first: str, last: str | None) -> None:
    """Audit what the table of ASSET holds for a range, and record the partitions that pass; computes nothing."""
    from dagster import AssetKey
    from rich.console import Console

    from lineage_assets.assets.asked import ADOPT_TAG
    from lineage_assets.backfill.lane import quiet
    from lineage_assets.cli.project import load_project, open_instance
    from lineage_assets.cli.tables import causes_table, states_table
    from lineage_assets.clock import utc_now
    from lineage_assets.ledger.dagster_log import read_history
    from lineage_assets.partitions import keys_of, parse_day
    from lineage_assets.settings import load_settings

    project = load_project()
    key = project.graph.find(asset)
    start, end = parse_day(first), parse_day(last if last is not None else first)
    days = keys_of(project.graph.nodes[key].partitions.asked(asset, start, end, now=utc_now()))
    console = Console(highlight=False)
    with open_instance(load_settings()) as instance:
        job = project.definitions.resolve_implicit_global_asset_job_def()
        result = job.execute_in_process(
            instance=instance,
            asset_selection=[AssetKey(key)],
            raise_on_error=False,
            run_config=quiet(job),
            tags={
                "dagster/asset_partition_range_start": days[0],
                "dagster/asset_partition_range_end": days[-1],
                ADOPT_TAG: "true",
            },
        )
        verdicts = {key: {day: one for day, one in read_history(instance, key).verdicts.items() if day in days}}
    console.print(states_table(verdicts, days))
    if not result.success:
        console.print(causes_table(verdicts))
        raise click.exceptions.Exit(1)
