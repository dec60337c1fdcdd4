"""OpenLineage run events as JSON, small and valid, for tests that send them to a server."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

PRODUCER = "https://example.com/tests"
_FACET = {"_producer": PRODUCER, "_schemaURL": "https://example.com/tests/facet.json"}


def run_id(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, name))


def facet(**fields: object) -> dict[str, Any]:
    return {**_FACET, **fields}


def make_event(  # noqa: PLR0913 - a value with names, each of which tests vary
    event_type: str = "COMPLETE",
    *,
    run: str = "run",
    job: str = "job",
    namespace: str = "tests",
    at: str = "2021-06-01T00:00:00Z",
    inputs: Iterable[str | Mapping[str, Any]] = (),
    outputs: Iterable[str | Mapping[str, Any]] = (),
    run_facets: Mapping[str, Any] | None = None,
    **changes: object,
) -> dict[str, Any]:
    """A run event; ``run`` is a word that stands for a run id, a dataset may be named only."""
    event = {
        "eventType": event_type,
        "eventTime": at,
        "run": {"runId": run_id(f"{namespace}/{run}"), "facets": dict(run_facets or {})},
        "job": {"namespace": namespace, "name": job},
        "inputs": [_dataset(namespace, part) for part in inputs],
        "outputs": [_dataset(namespace, part) for part in outputs],
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    return {**event, **changes}


def _dataset(namespace: str, part: str | Mapping[str, Any]) -> dict[str, Any]:
    named = {"name": part} if isinstance(part, str) else dict(part)
    source = facet(name="lake", uri="s3://lake")
    return {"namespace": namespace, **named, "facets": {"dataSource": source, **named.get("facets", {})}}
