"""``lineage-assets backfill``: show the plan, ask, and run exactly it in this process."""

from getpass import getuser

import click


@click.command()
@click.argument("asset")
@click.option("--from", "first", required=True, metavar="DAY", help="First partition to redo, as YYYY-MM-DD.")
@click.option("--to", "last", metavar="DAY", help="Last partition to redo; without it, the first alone.")
@click.option("--without-root", is_flag=True, help="Leave the asset itself as it is; redo only what reads it.")
@click.option("--reason", default="", help="Why, for the record.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def backfill(*, asset: str, first: str, last: str | None, without_root: bool, reason: str, yes: bool) -> None:
    """Redo a range of ASSET and everything that reads it, in order."""
    from dataclasses import replace

    from lineage_assets.backfill.ask import Ask
    from lineage_assets.backfill.explain import PlanView
    from lineage_assets.cli.project import load_project, shown_plan
    from lineage_assets.cli.ready import ready_for_spark
    from lineage_assets.cli.running import exit_code, run_backfill
    from lineage_assets.cli.terminal import console_on
    from lineage_assets.settings import load_settings

    settings = load_settings()
    project = load_project()
    ask = Ask(asset, first, last, include_root=not without_root, reason=reason, requested_by=_person())
    plan = shown_plan(project, ask, settings)
    ready_for_spark(settings)
    console_on().print(PlanView(plan))
    if not plan.assets:
        return
    if not yes:
        click.confirm("\nRun it?", abort=True)
    raise SystemExit(exit_code(run_backfill(project, replace(ask, plan=plan.fingerprint), settings)))


def _person() -> str:
    try:
        return getuser()
    except (KeyError, OSError):
        return ""  # a container whose user has no name
