"""A Kafka producer that is asked what became of each message: the client's transport would only log it.

Knows a producer's methods, not its library: that is optional.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from lineage_assets.lineage.transport import RejectedError, UndeliveredError

_SECONDS = 10.0
"""How long a message may be on its way before it counts as not delivered."""
_FOR_EVER = frozenset(("MSG_SIZE_TOO_LARGE", "INVALID_MSG", "INVALID_RECORD"))
"""Answers to this very message, by the names of Kafka's errors; who may not write today may tomorrow."""


class Failure(Protocol):
    """What `confluent_kafka.KafkaError` says of itself."""

    def name(self) -> str: ...


class Producer(Protocol):
    """What `confluent_kafka.Producer` offers and is used here."""

    def produce(self, topic: str, **message: Any) -> None: ...  # noqa: ANN401 - as the library has it

    def flush(self, timeout: float) -> int: ...

    def purge(self) -> None: ...


@dataclass
class _Message:
    """What is known of one message; one of an earlier try may still be told of while the next is on its way."""

    is_told: bool = False
    was_waited_for: bool = False
    failure: Failure | None = None

    def told(self, failure: Failure | None, _message: object) -> None:
        self.is_told = True
        self.failure = failure


class WatchedProducer:
    """Takes the place of the producer in a transport."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._last = _Message(is_told=True)

    def produce(self, topic: str, **message: Any) -> None:  # noqa: ANN401 - as the library has it
        self._last = _Message()
        try:
            self._producer.produce(topic, **{**message, "on_delivery": self._last.told})
        except Exception as error:
            failure = error.args[0] if error.args else None
            if failure is None or not hasattr(failure, "name"):
                raise
            raise _as_ours(failure) from error

    def flush(self, timeout: float = -1) -> int:
        """Wait for what is on its way, but never for ever."""
        self._last.was_waited_for = True
        return self._producer.flush(_SECONDS if timeout < 0 else min(timeout, _SECONDS))

    def settle(self) -> None:
        """Say what became of the last message; raises `UndeliveredError` or `RejectedError` if it did not arrive."""
        if not self._last.is_told and not self._last.was_waited_for:
            self.flush()
        if not self._last.is_told:
            # Left in the buffer it would arrive a second time, once it is sent again.
            self._producer.purge()
            raise UndeliveredError("kafka", f"no broker took it within {_SECONDS:.0f} s", is_answer=False)
        if self._last.failure is not None:
            raise _as_ours(self._last.failure)


def _as_ours(failure: Failure) -> RejectedError | UndeliveredError:
    reason = f"{failure.name()}: {failure}"
    if failure.name() in _FOR_EVER:
        return RejectedError("kafka", reason)
    # Names that begin with a line are the library's own: no broker has answered.
    return UndeliveredError("kafka", reason, is_answer=not failure.name().startswith("_"))
