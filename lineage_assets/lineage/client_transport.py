"""OpenLineage's own transports as ours: files, Kafka, and whatever class a configuration names.

One of the files that know the OpenLineage client. The client itself is left out: it would write to the environment
and add to events. A transport of its gets the finished event, and writes the same bytes as went over HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from importlib.util import find_spec
from typing import Any

from openlineage.client import event_v2
from openlineage.client.facet_v2 import parent_run
from openlineage.client.transport import KafkaTransport, get_default_factory
from openlineage.client.transport.http import create_token_provider

from lineage_assets.lineage.configuration import ReceiverConfigurationError
from lineage_assets.lineage.kafka_producer import WatchedProducer
from lineage_assets.lineage.receiver import ClientReceiver
from lineage_assets.lineage.transport import RejectedError, UndeliveredError

_CLOSE_SECONDS = 5.0


class ClientTransport:
    """A transport of OpenLineage's client, or one written for it."""

    def __init__(self, receiver: ClientReceiver) -> None:
        """Raises `ReceiverConfigurationError` for what the transport does not like about its configuration."""
        section = receiver.section
        self._kind = receiver.kind
        if receiver.kind in ("kafka", "msk-iam") and find_spec("confluent_kafka") is None:
            reason = "its client is not installed; `pip install 'lineage-assets[kafka]'` brings it"
            raise section.refused("type", receiver.kind, reason)
        try:
            self._inner = get_default_factory().create(deepcopy(dict(section.options)))
        except Exception as error:
            raise section.refused("type", receiver.kind, _reason(error)) from error
        self._producer: WatchedProducer | None = None
        if isinstance(self._inner, KafkaTransport) and self._inner.producer is not None:
            self._producer = WatchedProducer(self._inner.producer)
            self._inner.producer = self._producer

    def emit(self, body: str) -> None:
        try:
            self._inner.emit(finished_event(body))
            if self._producer is not None:
                self._producer.settle()
        except (RejectedError, UndeliveredError):
            raise
        except Exception as error:
            # Who cannot be reached may come back; anything else may be this event's fault, and others may pass.
            is_answer = not isinstance(error, OSError)
            raise UndeliveredError(self._kind, _reason(error), is_answer=is_answer) from error

    def close(self) -> None:
        self._inner.close(_CLOSE_SECONDS)


def finished_event(body: str) -> event_v2.RunEvent:
    """The event that was read from this JSON, as an object which the client turns into this JSON again."""
    told = json.loads(body)
    event = event_v2.RunEvent(
        eventTime=told["eventTime"],
        producer=told["producer"],
        run=event_v2.Run(told["run"]["runId"], _run_facets(told["run"].get("facets"))),
        job=event_v2.Job(told["job"]["namespace"], told["job"]["name"], told["job"].get("facets")),
        eventType=None if "eventType" not in told else event_v2.RunState(told["eventType"]),
        inputs=[
            event_v2.InputDataset(
                one["namespace"], one["name"], facets=one.get("facets"), inputFacets=one.get("inputFacets")
            )
            for one in told.get("inputs", ())
        ],
        outputs=[
            event_v2.OutputDataset(
                one["namespace"], one["name"], facets=one.get("facets"), outputFacets=one.get("outputFacets")
            )
            for one in told.get("outputs", ())
        ],
    )
    event.schemaURL = told["schemaURL"]
    return event


def token_source(tokens: Mapping[str, Any], place: str) -> Callable[[], str | None]:
    """Whoever fetches bearer tokens, by OpenLineage's `jwt`, `oauth2` or a class; it keeps each while it is good."""
    try:
        return create_token_provider(deepcopy(dict(tokens))).get_bearer
    except Exception as error:
        raise ReceiverConfigurationError(place, "auth.type", tokens["type"], _reason(error)) from error


def _run_facets(facets: dict[str, Any] | None) -> dict[str, Any] | None:
    """The facets; `parent` as an object, since the Kafka transport asks it whose messages belong together."""
    if facets is None or "parent" not in facets:
        return facets
    told = facets["parent"]
    root = told.get("root")
    parent = parent_run.ParentRunFacet(
        run=parent_run.Run(told["run"]["runId"], told["run"].get("facets")),
        job=parent_run.Job(told["job"]["namespace"], told["job"]["name"], told["job"].get("facets")),
        root=None
        if root is None
        else parent_run.Root(
            run=parent_run.RootRun(root["run"]["runId"], root["run"].get("facets")),
            job=parent_run.RootJob(root["job"]["namespace"], root["job"]["name"], root["job"].get("facets")),
        ),
        producer=told["_producer"],
    )
    parent._schemaURL = told["_schemaURL"]  # noqa: SLF001 - the spec's name of a public field
    return {**facets, "parent": parent}


def _reason(error: Exception) -> str:
    told = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return told or type(error).__name__
