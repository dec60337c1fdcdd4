"""The routes: which path is answered by which read, and how a refusal looks.

Knows HTTP and nothing of lineage. Names in a path may hold encoded slashes, so paths are matched undecoded.
"""

import json
from collections.abc import Callable
from sqlite3 import Connection
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from lineage_assets.marquez.embedded import events, reads
from lineage_assets.marquez.embedded.asked import Asked
from lineage_assets.marquez.embedded.event import read_event
from lineage_assets.marquez.embedded.page import page
from lineage_assets.marquez.embedded.receive import receive
from lineage_assets.marquez.embedded.refusals import RefusedRequestError
from lineage_assets.marquez.embedded.store import Store

Clock = Callable[[], int]
Read = Callable[[Connection, Asked], Any]

_JOB = "/namespaces/{namespace}/jobs/{job}"
_DATASET = "/namespaces/{namespace}/datasets/{dataset}"
READS: dict[str, Read] = {
    "/column-lineage": reads.column_lineage,
    "/events/lineage": events.events,
    "/jobs": reads.jobs,
    "/jobs/runs/{run}": reads.run,
    "/jobs/runs/{run}/facets": reads.run_facets,
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
    "/sources/{source}": reads.source,
    "/tags": reads.tags,
}


def application(store: Store, clock: Clock) -> ASGIApp:
    """The server over a store; ``clock`` gives microseconds since 1970."""

    def stats(count: Callable[[Connection, Asked, int], Any]) -> Read:
        return lambda db, asked: count(db, asked, clock())

    all_reads = {
        **READS,
        "/stats/lineage-events": stats(events.event_counts),
        "/stats/jobs": stats(events.job_counts),
    }

    def answering(read: Read) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            with store.reading() as db:
                body = read(db, Asked(request))
            return Response(media_type="application/json") if body is None else JSONResponse(body)

        return answer

    async def post(request: Request) -> Response:
        if not request.headers.get("content-type", "").startswith("application/json"):
            raise RefusedRequestError(415, "HTTP 415 Unsupported Media Type")
        sent = await request.body()
        await run_in_threadpool(_keep, store, sent, clock())
        return Response(status_code=201)

    def front(_request: Request) -> Response:
        with store.reading() as db:
            return HTMLResponse(page(db))

    async def lineage(request: Request) -> Response:
        if request.method == "POST":
            return await post(request)
        return await run_in_threadpool(answering(reads.lineage), request)

    return _Undecoded(
        Starlette(
            routes=[
                Route("/", front),
                Route("/api/v1/lineage", lineage, methods=["GET", "POST"]),
                *(Route(f"/api/v1{path}", answering(read)) for path, read in all_reads.items()),
            ],
            exception_handlers={RefusedRequestError: _refused, HTTPException: _no_route},
        )
    )


def _keep(store: Store, sent: bytes, now: int) -> None:
    """The whole event in one transaction, or nothing of it."""
    try:
        body = json.loads(sent) if sent.strip() else None
    except ValueError as error:
        raise RefusedRequestError(400, f"The request body is not JSON: {error}") from error
    event = read_event(body)
    with store.writing() as db:
        receive(db, event, body, now)


class _Undecoded:
    """Lets the router see the path as it was sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path")
        await self._app({**scope, "path": raw.decode("latin-1")} if raw is not None else scope, receive, send)


def _refused(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RefusedRequestError):
        raise error
    return JSONResponse(error.answer, status_code=error.status)


def _no_route(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    message = f"HTTP {error.status_code} {error.detail}"
    return JSONResponse({"code": error.status_code, "message": message}, status_code=error.status_code)
