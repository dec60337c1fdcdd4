"""What is printed into a file or a pipe is not broken for the eye."""

from io import StringIO

from rich.table import Table

from lineage_assets.cli.terminal import console_on

NAMES = ("a" * 150, "b" * 150)


def test_no_name_is_broken_where_no_terminal_is() -> None:
    said = StringIO()
    table = Table(box=None, show_header=False)
    for _ in NAMES:
        table.add_column(overflow="fold")
    table.add_row(*NAMES)
    console = console_on(said)
    console.print(table)
    console.print(", ".join(NAMES))
    assert [all(name in line for name in NAMES) for line in said.getvalue().splitlines() if line.strip()] == [
        True,
        True,
    ]
