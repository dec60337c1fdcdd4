"""What starter and server agree on: who a server is, and how it says that its port is taken."""

from importlib.metadata import PackageNotFoundError, version

PORT_TAKEN = 73
"""Exit code of a server whose port is in use."""


def installed_version() -> str:
    try:
        return version("lineage-assets")
    except PackageNotFoundError:
        return "unknown"


def identity(pid: int) -> str:
    """What the server calls itself in the ``server`` header of every answer."""
    return f"lineage_assets/{installed_version()} (embedded; pid {pid})"
