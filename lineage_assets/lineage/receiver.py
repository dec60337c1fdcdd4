"""Who receives events: whoever OpenLineage's own configuration names, else the server of this state folder.

Values only: opens no connection, loads no client.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from lineage_assets.errors import did_you_mean
from lineage_assets.lineage.configuration import Section, read_configuration
from lineage_assets.lineage.http_receiver import HttpReceiver, http_receiver
from lineage_assets.redaction import redact_text
from lineage_assets.settings import Settings

_OF_THE_CLIENT = (
    *("amazon_datazone_api", "console", "datadog", "file", "gcplineage", "kafka", "msk-iam", "transform"),
)
_KINDS = ("async_http", "composite", "http", "noop", *_OF_THE_CLIENT)


@dataclass(frozen=True, slots=True)
class ClientReceiver:
    """A receiver that OpenLineage's client has a transport for, or a class of somebody's."""

    kind: str
    section: Section


@dataclass(frozen=True, slots=True)
class CompositeReceiver:
    """Several receivers, each with every event unless one does."""

    members: tuple[Receiver, ...]
    goes_on_after_failure: bool = True
    goes_on_after_success: bool = True


@dataclass(frozen=True, slots=True)
class Off:
    """Nobody, because somebody said so."""

    reason: str


Receiver = HttpReceiver | ClientReceiver | CompositeReceiver | Off


def find_receiver(settings: Settings) -> Receiver | None:
    """The receiver as settings, files and the state folder have it now; None when there is none.

    What is configured comes before the embedded server, and a key goes to the server that it was set for. Raises
    `ReceiverConfigurationError` where the configuration cannot be meant.
    """
    if settings.is_lineage_off:
        return Off("OPENLINEAGE_DISABLED is true")
    configured = read_configuration(settings)
    if configured is not None:
        return _receiver(configured)
    url = _local_url(settings.home / "marquez" / "server.json")
    return None if url is None else HttpReceiver(url)


def asked_receiver(settings: Settings) -> HttpReceiver | None:
    """The server to ask about lineage: that of OPENLINEAGE_URL, else the first behind an address that gets events."""
    if settings.openlineage_url is not None:
        return HttpReceiver(settings.openlineage_url, settings.openlineage_api_key)
    found = find_receiver(settings)
    return None if found is None else first_http(found)


def first_http(receiver: Receiver) -> HttpReceiver | None:
    """The first behind an address, of those that get events: what was sent can be read back from it, if from any."""
    match receiver:
        case HttpReceiver():
            return receiver
        case CompositeReceiver(members):
            return next((found for member in members if (found := first_http(member)) is not None), None)
        case _:
            return None


def _receiver(section: Section) -> Receiver:
    kind = section.text("type")
    match kind:
        case None:
            raise section.refused("type", "", f"a transport has a type: {', '.join(_KINDS)}, or a class")
        case "http" | "async_http":
            return http_receiver(section)
        case "composite":
            return _composite(section)
        case "noop":
            return Off(f"the transport is noop in {section.place}")
        case _ if kind in _OF_THE_CLIENT or "." in kind:
            return ClientReceiver(kind, section)
        case _:
            raise section.refused("type", kind, f"no such transport is known.{did_you_mean(kind, _KINDS)}")


def _composite(section: Section) -> Receiver:
    given = section.get("transports")
    if isinstance(given, Mapping):
        named = [(str(name), one) for name, one in given.items() if one]
    elif isinstance(given, list):
        named = [(str(number), one) for number, one in enumerate(given)]
    else:
        raise section.refused("transports", "" if given is None else given, "it lists no transports")
    path = (*section.path, "transports")
    for name, one in named:
        if not isinstance(one, Mapping):
            raise Section({}, path, section.place).refused(name, one, "it holds no keys and values")
    if section.flag("sort_transports", default=False):
        named.sort(key=lambda pair: -_priority(pair[1]))
    members = [_receiver(Section(one, (*path, name), section.place)) for name, one in named]
    awake = tuple(member for member in members if not isinstance(member, Off))
    if not awake:
        return Off(f"no transport of {section.place} sends anything")
    on = (section.flag(f"continue_on_{what}", default=True) for what in ("failure", "success"))
    return CompositeReceiver(awake, *on)


def _priority(options: Mapping[str, Any]) -> int:
    priority = options.get("priority", 0)
    return priority if isinstance(priority, int) else 0


def receiver_text(receiver: Receiver) -> str:
    """Who receives, as a person knows it and without secrets; another receiver has another text."""
    match receiver:
        case HttpReceiver(url):
            return redact_text(url)
        case ClientReceiver(kind, section):
            return f"{kind} ({section.place})"
        case CompositeReceiver(members):
            return " and ".join(receiver_text(member) for member in members)
        case Off(reason):
            return f"nobody: {reason}"


def _local_url(state: Path) -> str | None:
    """The address written down in the state folder.

    The embedded server's counts while its process lives: a port may be another's by then. That of Marquez in
    containers counts until they are taken down, for they come back with their engine, on the same port.
    """
    try:
        said = json.loads(state.read_text(encoding="utf-8"))
        url = said["url"]
        is_there = said.get("kind") == "docker" or abs(psutil.Process(said["pid"]).create_time() - said["started"]) < 1
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError, psutil.NoSuchProcess):
        return None
    return str(url) if is_there else None
