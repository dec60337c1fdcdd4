"""A small shop on an instance of its own, and a transport that keeps what it is given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance

from lineage_assets.lineage.transport import UndeliveredError
from lineage_assets.settings import load_settings
from tests.support.recording import RecordingLauncher
from tests.support.world import ShopWorld


@dataclass
class KeptEvents:
    """A receiver that takes every event until it is down."""

    bodies: list[str] = field(default_factory=list)
    room: int | None = None
    """Events it takes before it goes down; None for ever."""

    def emit(self, body: str) -> None:
        if self.room is not None and len(self.bodies) >= self.room:
            raise UndeliveredError("http://127.0.0.1:1", "connection refused", is_answer=False)
        self.bodies.append(body)

    def close(self) -> None:
        pass

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]

    def ends(self) -> dict[tuple[str, str], list[str]]:
        """Job and partitions of each lineage run to the types of its events, in order."""
        found: dict[tuple[str, str], list[str]] = {}
        for event in self.events:
            facet = event["run"]["facets"].get("lineageAssets_attempt", {})
            days = facet.get("partition") or "..".join(facet.get("partitions", {}).values())
            found.setdefault((event["job"]["name"], days), []).append(event["eventType"])
        return found


@pytest.fixture
def kept() -> KeptEvents:
    return KeptEvents()


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda _seconds: None)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ShopWorld]:
    settings = load_settings().model_copy(update={"home": tmp_path, "openlineage_url": None})
    with DagsterInstance.ephemeral() as instance:
        yield ShopWorld(settings, instance, RecordingLauncher())
