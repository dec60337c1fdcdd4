"""``lineage-assets plan``: what a backfill would redo, in which order, and because of what. Changes nothing."""

import click


@click.command()
@click.argument("asset")
@click.option("--from", "first", required=True, metavar="DAY", help="First partition to redo, as YYYY-MM-DD.")
@click.option("--to", "last", metavar="DAY", help="Last partition to redo; without it, the first alone.")
@click.option("--without-root", is_flag=True, help="Leave the asset itself as it is; redo only what reads it.")
@click.option("--json", "as_json", is_flag=True, help="The whole plan as JSON.")
def plan(*, asset: str, first: str, last: str | None, without_root: bool, as_json: bool) -> None:
    """Show what would be redone for a range of ASSET, downstream assets included, and why."""
    from lineage_assets.backfill.ask import Ask
    from lineage_assets.backfill.explain import PlanView
    from lineage_assets.cli.project import load_project, shown_plan
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.settings import load_settings

    ask = Ask(asset, first, last, include_root=not without_root)
    made = shown_plan(load_project(), ask, load_settings())
    if as_json:
        click.echo(made.to_text(), nl=False)
    else:
        console_on().print(PlanView(made))
