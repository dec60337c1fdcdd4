"""An OpenLineage event as a value: read from JSON, checked, or refused whole.

Knows the shape that Marquez asks for, and no table. More is refused than Marquez refuses: names that would
break its lists for good are turned away before anything is stored.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from lineage_assets.marquez.embedded.instants import instant
from lineage_assets.marquez.embedded.refusals import InvalidRequestError, RefusedRequestError
from lineage_assets.marquez.embedded.store import made_id

Facets = Mapping[str, Any]

_STATES = {"COMPLETE": "COMPLETED", "ABORT": "ABORTED", "FAIL": "FAILED"}
_NAMESPACE = re.compile(r"[a-zA-Z:;=/0-9_\-.@+]{1,1024}")
_NOT_IN_NAMESPACE = re.compile(r"[^a-zA-Z:;=/0-9_\-.@+]")

_FACET: dict[str, Any] = {"_producer": None, "_schemaURL": None}
_DATASET: dict[str, Any] = {
    "namespace": None,
    "name": None,
    "?facets": {
        "?schema": {**_FACET, "?fields": [{"name": None}]},
        "?dataSource": _FACET,
        "?documentation": _FACET,
        "?lifecycleStateChange": _FACET,
        "?symlinks": {**_FACET, "?identifiers": [{"namespace": None, "name": None}]},
        "?columnLineage": _FACET,
    },
    "?inputFacets": {},
    "?outputFacets": {},
}
_JOB: dict[str, Any] = {
    "namespace": None,
    "name": None,
    "?facets": {"?documentation": _FACET, "?sourceCodeLocation": _FACET, "?sql": _FACET, "?jobType": {}},
}
_PARENT: dict[str, Any] = {**_FACET, "run": {"runId": None}, "job": {"namespace": None, "name": None}}
_RUN: dict[str, Any] = {"runId": None, "?facets": {"?nominalTime": _FACET, "?parent": _PARENT}}
_ANY: dict[str, Any] = {"eventTime": None, "producer": None}
_SHAPES: Mapping[str, dict[str, Any]] = {
    "RunEvent": {**_ANY, "run": _RUN, "job": _JOB, "?inputs": [_DATASET], "?outputs": [_DATASET]},
    "JobEvent": {**_ANY, "job": _JOB, "?inputs": [_DATASET], "?outputs": [_DATASET]},
    "DatasetEvent": {**_ANY, "dataset": _DATASET},
}
"""What must be there: ``None`` a value, a mapping an object, a list a list of objects; ``?`` may be left out."""


@dataclass(frozen=True, slots=True)
class DatasetPart:
    namespace: str
    name: str
    facets: Facets
    of_run: Facets
    """Its input or output facets: what one run says of the part it read or wrote."""


@dataclass(frozen=True, slots=True)
class JobPart:
    namespace: str
    name: str
    facets: Facets


@dataclass(frozen=True, slots=True)
class RunPart:
    id: str
    facets: Facets


@dataclass(frozen=True, slots=True)
class Event:
    kind: Literal["RunEvent", "JobEvent", "DatasetEvent"]
    type: str | None
    at: int
    job: JobPart | None
    run: RunPart | None
    inputs: tuple[DatasetPart, ...]
    outputs: tuple[DatasetPart, ...]

    @property
    def state(self) -> str | None:
        """The state the event puts its run in; an event without a type leaves it as it is."""
        return None if self.type is None else _STATES.get(self.type.upper(), "RUNNING")


def read_event(body: object) -> Event:
    """The event in a request's body; refused with 400 or 422 when it is none."""
    if body is None:
        raise InvalidRequestError(422, ["The request body must not be null"])
    if not isinstance(body, dict):
        raise RefusedRequestError(400, f"The request body must be an object, it is {body!r:.80}")
    kind = _kind(body.get("schemaURL"))
    faults = list(_faults(body, _SHAPES[kind], ""))
    if faults:
        raise InvalidRequestError(422, faults)
    event_type = body.get("eventType")
    event = Event(
        kind=kind,
        type=None if event_type is None else str(event_type),
        at=instant(body["eventTime"]),
        job=_job(body["job"]) if kind != "DatasetEvent" else None,
        run=RunPart(run_uuid(body["run"]["runId"]), _facets(body["run"])) if kind == "RunEvent" else None,
        inputs=tuple(_dataset(part, "inputFacets") for part in body.get("inputs") or ()),
        outputs=tuple(_dataset(part, "outputFacets") for part in body.get("outputs") or ())
        if kind != "DatasetEvent"
        else (_dataset(body["dataset"], "outputFacets"),),
    )
    _check_names(event)
    return event


def run_uuid(run_id: object, *context: str) -> str:
    """The id itself when it is a UUID, else one made from it."""
    try:
        return str(UUID(str(run_id)))
    except ValueError:
        return made_id("run", run_id, *context)


def _kind(schema_url: object) -> Literal["RunEvent", "JobEvent", "DatasetEvent"]:
    match str(schema_url).rsplit("/", 1)[-1]:
        case "JobEvent":
            return "JobEvent"
        case "DatasetEvent":
            return "DatasetEvent"
        case _:
            return "RunEvent"


def _faults(value: object, shape: Mapping[str, Any], path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        raise RefusedRequestError(400, f"{path.rstrip('.')} must be an object, it is {value!r:.80}")
    for key, inner in shape.items():
        found, where = value.get(key.lstrip("?")), path + key.lstrip("?")
        if found is None:
            if not key.startswith("?"):
                yield f"{where} must not be null"
        elif isinstance(inner, list):
            if not isinstance(found, list):
                raise RefusedRequestError(400, f"{where} must be a list, it is {found!r:.80}")
            for index, item in enumerate(found):
                yield from _faults(item, inner[0], f"{where}[{index}].")
        elif inner is not None:
            yield from _faults(found, inner, f"{where}.")


def _facets(part: Mapping[str, Any], key: str = "facets") -> Facets:
    return {name: facet for name, facet in (part.get(key) or {}).items() if facet is not None}


def _job(part: Mapping[str, Any]) -> JobPart:
    return JobPart(_NOT_IN_NAMESPACE.sub("_", str(part["namespace"])), str(part["name"]), _facets(part))


def _dataset(part: Mapping[str, Any], of_run: str) -> DatasetPart:
    return DatasetPart(str(part["namespace"]), str(part["name"]), _facets(part), _facets(part, of_run))


def _check_names(event: Event) -> None:
    named: list[tuple[str, DatasetPart | JobPart]] = [("dataset", part) for part in (*event.inputs, *event.outputs)]
    if event.job is not None:
        named.append(("job", event.job))
    for what, part in named:
        if not part.name.strip() or "\0" in part.name:
            raise RefusedRequestError(400, f"The {what} name {part.name!r} must not be blank or hold a NUL character")
        if not _NAMESPACE.fullmatch(part.namespace):
            raise RefusedRequestError(400, f"The {what} namespace {part.namespace!r} must match {_NAMESPACE.pattern}")
