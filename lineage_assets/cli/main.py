"""The command ``lineage-assets``: finds the file of a subcommand when it is asked for.

Knows the commands' names and what each is for, so that ``--help`` imports none of them.
A refusal (``LineageAssetsError``) is one paragraph on stderr and exit code 2.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from lineage_assets.errors import LineageAssetsError, did_you_mean

COMMANDS = {
    "adopt": "Take in partitions of tables that were there before.",
    "backfill": "Redo partitions and all that was made from them.",
    "demo": "Break the sample pipeline, repair it, and look at the record.",
    "driver": "Show or stop the warm Spark driver.",
    "env": "Print what a shell needs for Dagster's own commands.",
    "graph": "List the assets and what each reads.",
    "history": "Show all attempts at a partition, and what changed between them.",
    "impact": "Show what read partitions, and how that stands now.",
    "jars": "Fetch the Spark jars.",
    "lineage": "Send lineage again from the ledger, or compare the two.",
    "marquez": "Start, find or stop the lineage server.",
    "plan": "Show what a backfill would redo, and why.",
    "why": "Show what made a partition, or why it is not there.",
}
"""Command -> what it is for; the module of that name beside this one has it under that name."""

REFUSED = 2


class CommandFiles(click.Group):
    """A group whose commands lie in one file each, imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"lineage_assets.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            hint = did_you_mean(args[0], COMMANDS)
            ctx.fail(f'No command "{args[0]}".{hint} `{ctx.info_name} --help` lists all.')
        return super().resolve_command(ctx, args)


@click.group(cls=CommandFiles, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lineage-assets")
def cli() -> None:
    """Daily PySpark jobs as Dagster assets: see what broke, what it touched, and redo exactly that."""


def main(arguments: Sequence[str] | None = None) -> None:
    try:
        cli.main(args=arguments, prog_name="lineage-assets")
    except LineageAssetsError as refusal:
        click.echo(str(refusal), err=True)
        sys.exit(REFUSED)
