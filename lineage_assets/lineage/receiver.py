"""Who receives events: the server that a setting names, else the embedded one that this state folder started."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import psutil
from pydantic import SecretStr

from lineage_assets.settings import Settings


@dataclass(frozen=True, slots=True)
class Receiver:
    """An OpenLineage receiver."""

    url: str
    api_key: SecretStr | None = None


def find_receiver(settings: Settings) -> Receiver | None:
    """The receiver as the settings and the state folder have it now; None when there is none.

    A key goes to the server that it was set for, never to the embedded one.
    """
    if settings.openlineage_url is not None:
        return Receiver(settings.openlineage_url, settings.openlineage_api_key)
    url = _embedded_url(settings.home / "marquez" / "server.json")
    return None if url is None else Receiver(url)


def _embedded_url(state: Path) -> str | None:
    """The address that the embedded server wrote down, while its process lives: a port may be another's by then."""
    try:
        said = json.loads(state.read_text(encoding="utf-8"))
        url, pid, started = said["url"], said["pid"], said["started"]
        is_same = abs(psutil.Process(pid).create_time() - started) < 1
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError, psutil.NoSuchProcess):
        return None
    return str(url) if is_same else None
