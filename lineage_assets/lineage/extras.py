"""What is told of lineage only where it is asked for, since each costs something in Marquez."""

from __future__ import annotations

from dataclasses import dataclass

from lineage_assets.settings import Settings


@dataclass(frozen=True, slots=True)
class Extras:
    """The same events without either are the default."""

    parents: bool = False
    """The pipeline as parent, and the backfill as root, of each run."""
    symlinks: bool = False
    """The physical table of each dataset as its second name."""


def extras_of(settings: Settings) -> Extras:
    return Extras(parents=settings.hierarchy == "parent", symlinks=settings.symlinks)
