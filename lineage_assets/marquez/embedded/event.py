"""An OpenLineage event as a value: read from JSON, checked, or refused whole.

Knows the shape that Marquez asks for, and no table. More is refused than Marquez refuses: names that would
break its lists for good are turned away before anything is stored.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from lineage_assets.marquez.embedded.instants import instant
from lineage_assets.marquez.embedded.refusals import InvalidRequestError, RefusedRequestError
from lineage_assets.marquez.embedded.store import made_id

Facets = Mapping[str, Any]

_STATES = {"COMPLETE": "COMPLETED", "ABORT": "ABORTED", "FAIL": "FAILED"}
_LETTERS = r"a-zA-Z:;=/0-9_\-.@+"

_NAMED: Facets = {"namespace": None, "name": None}
_FACET: Facets = {"_producer": None, "_schemaURL": None}
_DOCUMENTATION: Facets = {**_FACET, "?description": None}
_COLUMN: Facets = {
    "?inputFields": [{**_NAMED, "field": None}],
    "?transformationDescription": None,
    "?transformationType": None,
}
_DATASET: Facets = {
    **_NAMED,
    "?facets": {
        "?columnLineage": {**_FACET, "?fields": {"*": _COLUMN}},
        "?dataSource": {**_FACET, "?name": None, "?uri": None},
        "?documentation": _DOCUMENTATION,
        "?lifecycleStateChange": {**_FACET, "?lifecycleStateChange": None},
        "?schema": {**_FACET, "?fields": [{"name": None}]},
        "?symlinks": {**_FACET, "?identifiers": [_NAMED]},
    },
    "?inputFacets": {},
    "?outputFacets": {},
}
_OF_JOB: Facets = {
    "?sourceCodeLocation": {**_FACET, "?url": None},
    "?sql": _FACET,
    "?jobType": {"?processingType": None},
}
_JOB: Facets = {**_NAMED, "?facets": {**_OF_JOB, "?documentation": _DOCUMENTATION}}
_PARENT: Facets = {**_FACET, "run": {"runId": None}, "job": _NAMED}
_RUN: Facets = {"runId": None, "?facets": {"?nominalTime": _FACET, "?parent": _PARENT}}
_DESIGN: Facets = {"eventTime": None, "producer": None, "job": _JOB, "?inputs": [_DATASET], "?outputs": [_DATASET]}
_SHAPES: Mapping[str, Facets] = {
    "RunEvent": {**_DESIGN, "run": _RUN},
    "JobEvent": _DESIGN,
    "DatasetEvent": {"eventTime": None, "producer": None, "dataset": _DATASET},
}
"""What must be there: ``None`` text, a mapping an object, a list a list of objects; ``?`` may be left out,
``*`` stands for every key."""


@dataclass(frozen=True, slots=True)
class Part:
    """A job or a dataset, as an event names it."""

    namespace: str
    name: str
    facets: Facets
    of_run: Facets
    """Input or output facets: what one run says of the part of a dataset that it read or wrote."""


@dataclass(frozen=True, slots=True)
class Event:
    kind: str
    type: str | None
    at: int
    job: Part | None
    run: str | None
    run_facets: Facets
    inputs: tuple[Part, ...]
    outputs: tuple[Part, ...]

    @property
    def state(self) -> str | None:
        """The state the event puts its run in; an event without a type leaves it as it is."""
        return None if self.type is None else _STATES.get(self.type.upper(), "RUNNING")


def read_event(body: object) -> Event:
    """The event in a request's body; refused with 400 or 422 when it is none."""
    if body is None:
        raise InvalidRequestError(422, ["The request body must not be null"])
    if not isinstance(body, dict):
        raise _wrong("", "an object", body)
    named = str(body.get("schemaURL")).rpartition("/")[2]
    kind = named if named in _SHAPES else "RunEvent"
    faults = _faults(body, _SHAPES[kind], "")
    if faults:
        raise InvalidRequestError(422, faults)
    run, job = body.get("run") if kind == "RunEvent" else None, body.get("job") if kind != "DatasetEvent" else None
    written = body.get("outputs") if kind != "DatasetEvent" else [body["dataset"]]
    facets = {} if run is None else _facets(run, "facets")
    if "parent" in facets:
        _job(facets["parent"]["job"])
    event = Event(
        kind=kind,
        type=None if body.get("eventType") is None else str(body["eventType"]),
        at=instant(body["eventTime"]),
        job=None if job is None else _job(job),
        run=None if run is None else run_uuid(run["runId"]),
        run_facets=facets,
        inputs=tuple(_dataset(part, "inputFacets") for part in body.get("inputs") or ()),
        outputs=tuple(_dataset(part, "outputFacets") for part in written or ()),
    )
    if event.type is None and event.run_facets:
        raise RefusedRequestError(400, "eventType must not be null on an event with run facets")
    return event


def run_uuid(run_id: object, *context: str) -> str:
    """The id itself when it is a UUID, else one made from it."""
    try:
        return str(UUID(str(run_id)))
    except ValueError:
        return made_id("run", run_id, *context)


def _faults(value: object, shape: Facets, path: str) -> list[str]:
    """What is missing; what is of a wrong kind is refused at once."""
    if not isinstance(value, dict):
        raise _wrong(path.rstrip("."), "an object", value)
    faults: list[str] = []
    for key, inner in dict.fromkeys(value, shape["*"]).items() if "*" in shape else shape.items():
        name = key.removeprefix("?")
        found = value.get(name)
        if found is None:
            faults += () if key.startswith("?") else (f"{path}{name} must not be null",)
        elif inner is not None:
            faults += _inner_faults(found, inner, path + name)
        elif not isinstance(found, str) and path + name != "eventTime":
            raise _wrong(path + name, "text", found)
    return faults


def _inner_faults(found: object, inner: Any, where: str) -> list[str]:  # noqa: ANN401 - a shape of any kind
    if not isinstance(inner, list):
        return _faults(found, inner, f"{where}.")
    if not isinstance(found, list):
        raise _wrong(where, "a list", found)
    return [fault for at, item in enumerate(found) for fault in _faults(item, inner[0], f"{where}[{at}].")]


def _wrong(where: str, kind: str, found: object) -> RefusedRequestError:
    return RefusedRequestError(400, f"{where or 'The request body'} must be {kind}, it is {found!r:.80}")


def _facets(part: Facets, key: str) -> Facets:
    return {name: facet for name, facet in (part.get(key) or {}).items() if facet is not None}


def _job(part: Facets) -> Part:
    """A job; unlike a dataset's, its namespace is mended and not refused."""
    namespace, name = re.sub(f"[^{_LETTERS}]", "_", part["namespace"]), part["name"]
    _check_name("job", namespace, name)
    return Part(namespace, name, _facets(part, "facets"), {})


def _dataset(part: Facets, of_run: str) -> Part:
    facets = _facets(part, "facets")
    for named in (part, *(facets.get("symlinks", {}).get("identifiers") or ())):
        _check_name("dataset", named["namespace"], named["name"])
    return Part(part["namespace"], part["name"], facets, _facets(part, of_run))


def _check_name(what: str, namespace: str, name: str) -> None:
    if not name.strip() or "\0" in name:
        raise RefusedRequestError(400, f"The {what} name {name!r} must not be blank or hold a NUL character")
    if not re.fullmatch(f"[{_LETTERS}]{{1,1024}}", namespace):
        raise RefusedRequestError(400, f"The {what} namespace {namespace!r} must be of the letters {_LETTERS}")
