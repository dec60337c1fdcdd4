"""``lineage-assets why``: what made a partition, from what; or why it is not there. Changes nothing."""

import click


@click.command()
@click.argument("asset")
@click.argument("partition")
@click.option("--depth", type=click.IntRange(0, 100), default=10, show_default=True, help="Levels of inputs to follow.")
@click.option("--at", metavar="TIME", help="Answer as of then, by the clock: a day (its end) or a time, UTC.")
@click.option("--json", "as_json", is_flag=True, help="The whole answer as JSON.")
def why(*, asset: str, partition: str, depth: int, at: str | None, as_json: bool) -> None:
    """Show the run, code, commit and input versions that made PARTITION of ASSET, or why it is not there."""
    import json

    from lineage_assets.cli.asked import asker
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.cli.why_text import print_why
    from lineage_assets.cli.wording import print_note
    from lineage_assets.questions.answers_json import why_json
    from lineage_assets.settings import load_settings

    with asker(load_settings(), at) as (asked, note):
        answer = asked.why(asset, partition, depth)
    if as_json:
        click.echo(json.dumps(why_json(answer), indent=2))
    else:
        print_note(console_on(), note)
        print_why(console_on(), answer)
