"""Asking a Marquez server, any 0.50 or 0.51 and the embedded one alike.

Small typed reads over the HTTP API, paged through; nothing is cached and nothing is written.
What the graph means is in ``downstream_jobs``; which partitions a run wrote is in its facets.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from lineage_assets.marquez.errors import (
    MarquezRefusedError,
    MarquezUnreachableError,
    NotInMarquezError,
    NotMarquezError,
)
from lineage_assets.marquez.shapes import Dataset, Job, LineageGraph, Run, dataset_of, graph_of, job_of, run_of

PAGE = 100
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class MarquezClient:
    """Reads of one server; the HTTP client belongs to whoever made it."""

    http: httpx.Client

    def namespaces(self) -> tuple[str, ...]:
        return tuple(found["name"] for found in self._paged("/namespaces", "namespaces"))

    def jobs(self, namespace: str) -> tuple[Job, ...]:
        """All jobs of a namespace by name, each with its latest run."""
        found = {job.name: job for job in map(job_of, self._paged(f"/namespaces/{_part(namespace)}/jobs", "jobs"))}
        return tuple(found[name] for name in sorted(found))

    def job(self, namespace: str, name: str) -> Job:
        return job_of(self._get(f"/namespaces/{_part(namespace)}/jobs/{_part(name)}"))

    def runs(self, namespace: str, job: str, limit: int | None = None) -> tuple[Run, ...]:
        """Runs of a job, the last started first: all of them, or at most ``limit``."""
        path = f"/namespaces/{_part(namespace)}/jobs/{_part(job)}/runs"
        return tuple({found["id"]: run_of(found) for found in self._paged(path, "runs", limit)}.values())

    def each_run(self, namespace: str, job: str) -> Iterator[Run]:
        """All runs of a job, the last started first, a page at a time; one may come twice while others begin."""
        path = f"/namespaces/{_part(namespace)}/jobs/{_part(job)}/runs"
        return map(run_of, self._paged(path, "runs"))

    def run(self, run_id: str) -> Run:
        return run_of(self._get(f"/jobs/runs/{_part(run_id)}"))

    def datasets(self, namespace: str) -> tuple[Dataset, ...]:
        """All datasets of a namespace by name. Marquez gives the facets of some only; ask for one to have them."""
        found = map(dataset_of, self._paged(f"/namespaces/{_part(namespace)}/datasets", "datasets"))
        return tuple(sorted(set(found), key=lambda dataset: dataset.name))

    def dataset(self, namespace: str, name: str) -> Dataset:
        return dataset_of(self._get(f"/namespaces/{_part(namespace)}/datasets/{_part(name)}"))

    def lineage(self, node_id: str, depth: int = 20) -> LineageGraph:
        """The graph round a job or dataset; it goes upstream as well as downstream."""
        return graph_of(self._get("/lineage", {"nodeId": node_id, "depth": depth}))

    def events(
        self, limit: int | None = None, *, after: str | None = None, before: str | None = None
    ) -> tuple[Mapping[str, Any], ...]:
        """Run events as the server gives them back, the latest first; the bounds are times with a zone."""
        bounds = {name: bound for name, bound in (("after", after), ("before", before)) if bound is not None}
        return tuple(self._paged("/events/lineage", "events", limit, bounds))

    def _paged(
        self, path: str, key: str, limit: int | None = None, query: Mapping[str, str | int] | None = None
    ) -> Iterator[Mapping[str, Any]]:
        taken = 0
        while limit is None or taken < limit:
            size = PAGE if limit is None else min(PAGE, limit - taken)
            answer = self._get(path, {**(query or {}), "limit": size, "offset": taken})
            if not isinstance(answer, dict) or key not in answer:
                raise NotMarquezError(f"{self.http.base_url}", f"GET {path} came without {key}")
            page = answer[key]
            yield from page
            taken += len(page)
            if len(page) < size:
                return

    def _get(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:  # noqa: ANN401 - JSON
        try:
            answer = self.http.get(f"/api/v1{path}", params=query)
        except httpx.HTTPError as error:
            raise MarquezUnreachableError(str(self.http.base_url), str(error) or type(error).__name__) from error
        if answer.status_code >= httpx.codes.BAD_REQUEST:
            kind = NotInMarquezError if answer.status_code == httpx.codes.NOT_FOUND else MarquezRefusedError
            raise kind(f"GET {answer.url}", answer.status_code, _message(answer))
        try:
            return answer.json()
        except ValueError:
            raise NotMarquezError(f"{self.http.base_url}", f"GET {path} came without JSON") from None


@contextmanager
def marquez_at(url: str, *, api_key: str | None = None, timeout_seconds: float = 30.0) -> Iterator[MarquezClient]:
    """A client of the server at this address, for as long as the block lasts."""
    headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
    # A proxy that the environment names is not for our own machine.
    by_proxy = urlsplit(url).hostname not in _LOOPBACK
    address = httpx.URL(url)
    # Whoever logs requests, httpx itself among them, logs their addresses: the password does not stay in there.
    user = (address.username, address.password) if address.userinfo else None
    base = address.copy_with(username=None, password=None)
    with httpx.Client(base_url=base, auth=user, headers=headers, timeout=timeout_seconds, trust_env=by_proxy) as http:
        yield MarquezClient(http)


def _part(name: str) -> str:
    """A name as one part of a path: its slashes and colons are encoded too."""
    return quote(name, safe="")


def _message(answer: httpx.Response) -> str:
    try:
        said = answer.json()
    except ValueError:
        return answer.reason_phrase
    return str(said.get("message", said.get("errors", said))) if isinstance(said, dict) else str(said)
