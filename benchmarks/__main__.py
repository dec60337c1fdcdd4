"""``python -m benchmarks``: every benchmark of this folder, printed and written to docs/benchmarks.md.

A benchmark is a module with a ``TITLE`` and ``rows()``, which gives what was measured and the figure with its unit.
Words on the command line choose modules; those not chosen keep the table that they have.
"""

import argparse
import os
import platform
import re
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

_PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_HEAD = """# Benchmarks

What `make bench` measured on {cores} cores ({system} {architecture}) with Python {python}.
"""


def main() -> None:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
    parser = argparse.ArgumentParser(prog="benchmarks")
    parser.add_argument("names", nargs="*", choices=[[], *names], metavar="NAME", help=", ".join(names))
    chosen = parser.parse_args().names or names
    tables = _tables_of_the_page()
    for name in chosen:
        module = import_module(f"benchmarks.{name}")
        tables[module.TITLE] = _table(module.TITLE, module.rows())
    machine = {"cores": os.cpu_count(), "system": platform.system(), "architecture": platform.machine()}
    _PAGE.parent.mkdir(exist_ok=True)
    head = _HEAD.format(**machine, python=platform.python_version())
    _PAGE.write_text("\n".join([head, *(tables[title] for title in sorted(tables))]), encoding="utf-8")


def _tables_of_the_page() -> dict[str, str]:
    text = _PAGE.read_text("utf-8") if _PAGE.exists() else ""
    return {
        part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    }


def _table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """The table, shown while it grows."""
    lines = [f"## {title}", "", "| measured | figure |", "|---|---|"]
    _say("\n".join(lines))
    for what, figure in rows:
        lines.append(f"| {what} | {figure} |")
        _say(lines[-1])
    _say("")
    return "\n".join(lines) + "\n"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
