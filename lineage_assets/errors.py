"""The root of every refusal, and the refusals that more than one room speaks.

Knows nothing of Dagster, Spark or the command line. A subclass takes fields, keeps them, and
builds its own message: what failed, the value given, the mend. Errors of one room live in it.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class LineageAssetsError(Exception):
    """What a person can mend; the command line prints it as one paragraph and exits with 2."""


class SettingError(LineageAssetsError):
    """A setting from the environment cannot be used."""

    def __init__(self, variable: str, value: str, reason: str) -> None:
        self.variable = variable
        self.value = value
        self.reason = reason
        super().__init__(
            f'The setting {variable}="{value}" cannot be used: {reason}. '
            f"Set {variable} to a usable value, or unset it to get the default."
        )


class UnknownAssetError(LineageAssetsError):
    """An asset was named that the graph does not have."""

    def __init__(self, name: str, known: Iterable[str], meant: str | None = None) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.meant = meant
        """The asset that something else of this name belongs to: its dataset, its job."""
        asked = did_you_mean(name, self.known) if meant is None else f' Did you mean "{meant}"?'
        super().__init__(f'No asset "{name}" in the graph.{asked} `lineage-assets graph` lists all.')


class AmbiguousAssetError(LineageAssetsError):
    """The last part of several assets' names was given for one of them."""

    def __init__(self, name: str, meant: Iterable[str]) -> None:
        self.name = name
        self.meant = tuple(sorted(meant))
        super().__init__(f'The name "{name}" may mean {" or ".join(self.meant)}. Give the whole name.')


class BadPartitionError(LineageAssetsError):
    """A partition key, range or window that is none."""

    def __init__(self, what: str, value: object, mend: str) -> None:
        self.what = what
        self.value = value
        self.mend = mend
        super().__init__(f'The {what} "{value}" is not valid: {mend}.')


class OutsidePartitionsError(LineageAssetsError):
    """Partitions of an asset were asked for that do not exist."""

    def __init__(self, asset: str, missing: str, existing: str) -> None:
        self.asset = asset
        self.missing = missing
        self.existing = existing
        super().__init__(
            f'The partitions {missing} of "{asset}" do not exist; there are {existing}. '
            "Ask for a range within these: a day exists once it is over."
        )


class BadDeclarationError(LineageAssetsError):
    """An author declared something that cannot be."""

    def __init__(self, what: str, value: object, mend: str) -> None:
        self.what = what
        self.value = value
        self.mend = mend
        super().__init__(f'The declared {what} "{value}" is not valid: {mend}.')


class CyclicGraphError(LineageAssetsError):
    """Assets read each other in a ring."""

    def __init__(self, cycle: Sequence[str]) -> None:
        self.cycle = tuple(cycle)
        super().__init__(
            f"These assets read each other in a ring: {' -> '.join(self.cycle)}. "
            "Take one of these inputs out of its declaration."
        )


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the nearest known name, led by a space; empty when nothing is near."""
    nearest = get_close_matches(name, list(known), n=1)
    return f' Did you mean "{nearest[0]}"?' if nearest else ""
