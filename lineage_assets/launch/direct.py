"""Who gets a program's raw Spark events in `direct` mode, as its launcher hands it down.

In a request on a private socket or in a private file: never on a command line, in Spark's settings or in the program.
Opens no connection.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from lineage_assets.settings import DEFAULT_ENDPOINT, Settings, secrets_of


def receiver_of_raw_events(settings: Settings, *, warn: Callable[[str], None]) -> dict[str, Any] | None:
    """Address, headers, and what is to be masked on the way; None where Spark's events are only collected."""
    if settings.spark_events != "direct" or settings.is_lineage_off:
        return None
    if settings.openlineage_url is None:
        warn(
            "LINEAGE_ASSETS_SPARK_EVENTS is direct, but OPENLINEAGE_URL is not set: Spark's events are only collected."
        )
        return None
    endpoint = settings.openlineage_endpoint if settings.openlineage_endpoint is not None else DEFAULT_ENDPOINT
    parts = urlsplit(settings.openlineage_url)
    shown = _shown(parts, settings.lineage_key)
    return {
        "address": f"{parts._replace(netloc=parts.netloc.rpartition('@')[2]).geturl()}/{endpoint.strip('/')}",
        "headers": {} if shown is None else {"Authorization": shown},
        "secrets": list(secrets_of(settings).spelled),
    }


def _shown(parts: SplitResult, key: str | None) -> str | None:
    """What is shown of oneself: the user before the host, whom Python's own client would take for a part of it."""
    if parts.username is None:
        return None if key is None else f"Bearer {key}"
    password = parts.password if parts.password is not None else ""
    return f"Basic {b64encode(f'{unquote(parts.username)}:{unquote(password)}'.encode()).decode()}"
