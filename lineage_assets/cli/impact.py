"""``lineage-assets impact``: what read partitions, in which version, and how that stands now. Changes nothing."""

import click


@click.command()
@click.argument("asset")
@click.argument("partitions", metavar="PARTITION[..PARTITION]")
@click.option("--at", metavar="TIME", help="Answer as of then, by the clock: a day (its end) or a time, UTC.")
@click.option("--json", "as_json", is_flag=True, help="The whole answer as JSON.")
def impact(*, asset: str, partitions: str, at: str | None, as_json: bool) -> None:
    """Show what read PARTITIONs of ASSET, directly or through others, and the jobs of others downstream."""
    import json

    from lineage_assets.cli.asked import asker, jobs_of_others
    from lineage_assets.cli.impact_text import print_impact
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.cli.wording import print_note
    from lineage_assets.questions.answers_json import impact_json
    from lineage_assets.settings import load_settings

    settings = load_settings()
    with asker(settings, at) as (asked, note):
        answer = asked.impact(asset, partitions)
    foreign, why_not = jobs_of_others(settings, asked.graph, answer.asset)
    if as_json:
        click.echo(json.dumps(impact_json(answer, foreign), indent=2))
    else:
        print_note(console_on(), note)
        print_impact(console_on(), answer, foreign, why_not)
