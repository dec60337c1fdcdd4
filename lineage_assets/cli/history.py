"""``lineage-assets history``: all attempts at a partition, and what changed between them. Changes nothing."""

import click


@click.command()
@click.argument("asset")
@click.argument("partition")
@click.option("--compare", nargs=2, type=int, metavar="A B", help="Two attempts, by their numbers in the list.")
@click.option("--at", metavar="TIME", help="Answer as of then, by the clock: a day (its end) or a time, UTC.")
@click.option("--json", "as_json", is_flag=True, help="The whole answer as JSON.")
def history(*, asset: str, partition: str, compare: tuple[int, int] | None, at: str | None, as_json: bool) -> None:
    """List the attempts at PARTITION of ASSET, oldest first, and what changed from one to the next."""
    import json

    from lineage_assets.cli.asked import asker
    from lineage_assets.cli.history_text import print_history
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.cli.wording import print_note
    from lineage_assets.questions.answers_json import history_json
    from lineage_assets.settings import load_settings

    with asker(load_settings(), at) as (asked, note):
        answer = asked.history(asset, partition, compare)
    if as_json:
        click.echo(json.dumps(history_json(answer), indent=2))
    else:
        print_note(console_on(), note)
        print_history(console_on(), answer)
