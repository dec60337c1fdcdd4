"""A stand-in for confluent-kafka, which is optional: a producer that does with messages as a test says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

Delivered = Callable[[Any, Any], None]


class Failure:
    """What Kafka's library hands to a callback."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        return self._name

    def __str__(self) -> str:
        return "a sentence of Kafka's"


@dataclass
class Broker:
    """What was produced, and what becomes of each message in turn: None is delivered, "" is silence."""

    fates: list[str | None] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    taken: list[dict[str, Any]] = field(default_factory=list)
    buffer: list[tuple[dict[str, Any], Delivered]] = field(default_factory=list)
    purged: list[Delivered] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    refusal: Exception | None = None

    def produce(self, topic: str, *, on_delivery: Delivered, **message: object) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.buffer.append(({"topic": topic, **message}, on_delivery))

    def flush(self, timeout: float) -> int:
        self.waits.append(timeout)
        for told in self.purged:
            told(Failure("_PURGE_QUEUE"), None)
        self.purged.clear()
        while self.buffer:
            fate = self.fates.pop(0) if self.fates else None
            if fate == "":
                break
            message, told = self.buffer.pop(0)
            if fate is None:
                self.taken.append(message)
            told(None if fate is None else Failure(fate), None)
        return len(self.buffer)

    def purge(self) -> None:
        self.purged.extend(told for _, told in self.buffer)
        self.buffer.clear()


def stand_in(monkeypatch: pytest.MonkeyPatch, *fates: str | None) -> Broker:
    """Make ``confluent_kafka`` importable, with one broker behind it."""
    broker = Broker(list(fates))
    module = ModuleType("confluent_kafka")
    module.__spec__ = ModuleSpec("confluent_kafka", None)

    def producer(config: dict[str, Any]) -> Broker:
        broker.config = config
        return broker

    module.Producer = producer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "confluent_kafka", module)
    return broker
