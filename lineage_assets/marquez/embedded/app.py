"""The routes: which path is answered by which read, and how a refusal looks.

Knows HTTP and nothing of lineage. Names in a path may hold encoded slashes, so paths are matched undecoded.
Every request is answered whole on the event loop, one after the other: the store has one connection, so threads
would only wait for each other, and an event answered with 201 is on disk.
"""

import gzip
import json
import zlib
from collections.abc import Awaitable, Callable, Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from lineage_assets.marquez.embedded import events, reads
from lineage_assets.marquez.embedded.asked import Asked
from lineage_assets.marquez.embedded.event import read_event
from lineage_assets.marquez.embedded.page import page_routes
from lineage_assets.marquez.embedded.receive import receive
from lineage_assets.marquez.embedded.refusals import RefusedRequestError
from lineage_assets.marquez.embedded.store import Store

_JOB = "/namespaces/{namespace}/jobs/{job}"
_DATASET = "/namespaces/{namespace}/datasets/{dataset}"
READS: Mapping[str, reads.Read] = {
    "/column-lineage": reads.columns,
    "/events/lineage": events.events,
    "/jobs": reads.jobs,
    "/jobs/runs/{run}": reads.run,
    "/jobs/runs/{run}/facets": reads.run_facets,
    "/lineage": reads.lineage,
    "/namespaces": reads.namespaces,
    "/namespaces/{namespace}": reads.namespace,
    "/namespaces/{namespace}/datasets": reads.datasets,
    "/namespaces/{namespace}/jobs": reads.jobs_of_namespace,
    _DATASET: reads.dataset,
    f"{_DATASET}/versions": reads.dataset_versions,
    f"{_DATASET}/versions/{{version}}": reads.dataset_version,
    _JOB: reads.job,
    f"{_JOB}/runs": reads.runs,
    f"{_JOB}/versions": reads.job_versions,
    f"{_JOB}/versions/{{version}}": reads.job_version,
    "/runlineage/upstream": reads.upstream_runs,
    "/search": events.search,
    "/sources": reads.sources,
    "/stats/jobs": events.job_counts,
    "/stats/lineage-events": events.event_counts,
    "/tags": reads.tags,
}


def application(store: Store, clock: Callable[[], int]) -> ASGIApp:
    """The server over a store; ``clock`` gives microseconds since 1970."""

    async def post(request: Request) -> Response:
        if not request.headers.get("content-type", "").startswith("application/json"):
            raise RefusedRequestError(415, "HTTP 415 Unsupported Media Type")
        sent = await request.body()
        _keep(store, _unpacked(sent) if request.headers.get("content-encoding") == "gzip" else sent, clock())
        return Response(status_code=201)

    def answering(read: reads.Read) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            body = read(store.db, Asked(request, clock()))
            if body is None or isinstance(body, str):
                return Response(body, media_type="application/json")
            return JSONResponse(body)

        return answer

    routes = [Route("/api/v1/lineage", post, methods=["POST"]), *page_routes()]
    routes += [Route(f"/api/v1{path}", answering(read)) for path, read in READS.items()]
    return _Undecoded(
        Starlette(routes=routes, exception_handlers={RefusedRequestError: _refused, HTTPException: _no_route})
    )


def _unpacked(sent: bytes) -> bytes:
    try:
        return gzip.decompress(sent)
    except (OSError, EOFError, zlib.error) as error:
        raise RefusedRequestError(400, f"The request body is not gzip: {error}") from error


def _keep(store: Store, sent: bytes, now: int) -> None:
    """The whole event in one transaction, or nothing of it."""
    try:
        text = sent.decode()
        body = json.loads(text, parse_constant=_no_number) if text.strip() else None
        if "\\ud" in text.lower():
            # Half of a surrogate pair can be kept but never be sent back.
            json.dumps(body, ensure_ascii=False).encode()
    except ValueError as error:
        raise RefusedRequestError(400, f"The request body is not JSON: {error}") from error
    event = read_event(body)
    with store.writing() as db:
        receive(db, event, text, now)


def _no_number(word: str) -> None:
    message = f"{word} is no JSON"
    raise ValueError(message)


class _Undecoded:
    """Lets the router see the path as it was sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path")
        await self._app({**scope, "path": raw.decode("latin-1")} if raw is not None else scope, receive, send)


def _refused(_request: Request, error: Exception) -> Response:
    refused = error if isinstance(error, RefusedRequestError) else RefusedRequestError(500, str(error))
    return JSONResponse(refused.answer, status_code=refused.status)


def _no_route(request: Request, error: Exception) -> Response:
    status, detail = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, str(error))
    return _refused(request, RefusedRequestError(status, f"HTTP {status} {detail}"))
