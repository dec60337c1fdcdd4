"""Reads by the client: they pass on the embedded server and on a real Marquez alike."""

import logging
import socket

import httpx
import pytest

from lineage_assets.errors import LineageAssetsError
from lineage_assets.marquez.client import MarquezClient, marquez_at
from lineage_assets.marquez.errors import (
    MarquezRefusedError,
    MarquezUnreachableError,
    NotInMarquezError,
    NotMarquezError,
)
from lineage_assets.marquez.shapes import downstream_jobs, job_node_id
from tests.lineage.receivers import receiver
from tests.support.lineage_events import facet, make_event, run_id

SCHEMA = {"schema": facet(fields=[{"name": "id", "type": "INTEGER"}, {"name": "day", "type": "DATE"}])}


@pytest.fixture
def pipeline(lineage_url: str, lineage_namespace: str) -> str:
    """A namespace with load -> clean -> report, the last of which failed on its second day."""
    spans = [("load", [], ["raw"]), ("clean", ["raw"], ["tables/clean"]), ("report", ["tables/clean"], ["report"])]
    with httpx.Client(base_url=lineage_url, timeout=30, trust_env=False) as http:
        for day in ("01", "02"):
            for hour, (job, inputs, outputs) in enumerate(spans):
                end = "FAIL" if (job, day) == ("report", "02") else "COMPLETE"
                for minute, event_type in (("00", "START"), ("30", end)):
                    event = make_event(
                        event_type,
                        run=f"{job}-{day}",
                        job=job,
                        namespace=lineage_namespace,
                        at=f"2021-06-{day}T0{hour}:{minute}:00Z",
                        inputs=inputs,
                        outputs=[{"name": name, "facets": SCHEMA} for name in outputs],
                        run_facets={"mine": facet(day=day)},
                    )
                    assert http.post("/api/v1/lineage", json=event).status_code == 201
    return lineage_namespace


def test_jobs_are_listed_by_name_with_their_latest_state(lineage_client: MarquezClient, pipeline: str) -> None:
    jobs = lineage_client.jobs(pipeline)
    assert [(job.name, job.latest_run.state if job.latest_run else None) for job in jobs] == [
        ("clean", "COMPLETED"),
        ("load", "COMPLETED"),
        ("report", "FAILED"),
    ]
    assert lineage_client.job(pipeline, "clean").inputs == ((pipeline, "raw"),)
    assert lineage_client.job(pipeline, "clean").outputs == ((pipeline, "tables/clean"),)


def test_runs_are_listed_last_started_first_and_paged_through(
    lineage_client: MarquezClient, pipeline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [run_id(f"{pipeline}/report-{day}") for day in ("02", "01")]
    assert [run.id for run in lineage_client.runs(pipeline, "report")] == ids
    assert [run.id for run in lineage_client.runs(pipeline, "report", limit=1)] == ids[:1]
    monkeypatch.setattr("lineage_assets.marquez.client.PAGE", 1)
    assert [run.id for run in lineage_client.runs(pipeline, "report")] == ids


def test_a_run_tells_its_state_times_facets_and_what_it_read_and_wrote(
    lineage_client: MarquezClient, pipeline: str
) -> None:
    run = lineage_client.run(run_id(f"{pipeline}/clean-02"))
    assert (run.state, run.facets["mine"]["day"]) == ("COMPLETED", "02")
    assert run.started_at is not None
    assert run.ended_at is not None
    assert (run.ended_at - run.started_at).total_seconds() == 1800
    assert [part.name for part in run.inputs] == ["raw"]
    assert [part.name for part in run.outputs] == ["tables/clean"]


def test_datasets_are_listed_with_their_columns(lineage_client: MarquezClient, pipeline: str) -> None:
    assert [dataset.name for dataset in lineage_client.datasets(pipeline)] == ["raw", "report", "tables/clean"]
    clean = lineage_client.dataset(pipeline, "tables/clean")
    assert clean.fields == (("day", "DATE"), ("id", "INTEGER"))
    assert clean.current_version is not None


def test_the_graph_leads_from_a_job_to_those_downstream(lineage_client: MarquezClient, pipeline: str) -> None:
    load = job_node_id(pipeline, "load")
    graph = lineage_client.lineage(load)
    assert downstream_jobs(graph, load) == (job_node_id(pipeline, "clean"), job_node_id(pipeline, "report"))
    assert graph.nodes[job_node_id(pipeline, "report")].state == "FAILED"
    assert sorted(node.name for node in graph.datasets()) == ["raw", "report", "tables/clean"]


def test_events_are_given_back_within_bounds(lineage_client: MarquezClient, pipeline: str) -> None:
    events = lineage_client.events(after="2021-06-02T01:00:00Z", before="2021-06-02T02:00:00Z")
    ours = [event for event in events if event["job"]["namespace"] == pipeline]
    assert [(event["job"]["name"], event["eventType"]) for event in ours] == [("clean", "COMPLETE"), ("clean", "START")]


def test_the_namespace_is_among_all(lineage_client: MarquezClient, pipeline: str) -> None:
    assert pipeline in lineage_client.namespaces()


def test_what_is_not_there_is_named_with_the_servers_words(lineage_client: MarquezClient, pipeline: str) -> None:
    with pytest.raises(NotInMarquezError, match="Job 'nothing' not found") as refused:
        lineage_client.job(pipeline, "nothing")
    assert refused.value.status == 404


def test_a_request_that_is_refused_keeps_its_status(lineage_client: MarquezClient) -> None:
    with pytest.raises(MarquezRefusedError, match="nodeId must not be null") as refused:
        lineage_client.lineage("")
    assert refused.value.status == 400


def test_a_server_that_is_not_there_is_named_with_the_mend() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with marquez_at(f"http://127.0.0.1:{port}") as client, pytest.raises(MarquezUnreachableError) as refused:
        client.namespaces()
    assert f"http://127.0.0.1:{port}" in str(refused.value)
    assert "lineage-assets marquez up" in str(refused.value)


@pytest.mark.parametrize("body", ["<html>a proxy's page</html>", "", "[]", '{"detail": "another receiver"}'])
def test_an_answer_that_is_not_marquezs_is_said_to_be(body: str) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, text=body))
    client = MarquezClient(httpx.Client(base_url="http://elsewhere", transport=transport))
    with pytest.raises(NotMarquezError, match="What answers at http://elsewhere"):
        client.namespaces()


@pytest.mark.parametrize("status", [200, 404, 500, 0])
def test_the_password_of_an_address_is_in_no_error(status: int) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if not status:
            raise httpx.ConnectError(f"no route to {request.url}")
        return httpx.Response(status, text=f"<html> at {request.url}")

    http = httpx.Client(base_url="http://me:hunter2@elsewhere", transport=httpx.MockTransport(answer))
    with pytest.raises(LineageAssetsError, match="elsewhere") as refused:
        MarquezClient(http).namespaces()
    assert "hunter2" not in str(refused.value) + repr(vars(refused.value))


def test_the_password_of_an_address_is_used_and_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    asked: list[str | None] = []
    with receiver(lambda _: (500, "")) as heard:
        address = heard.url.replace("//", "//me:hunter2@")
        with marquez_at(address) as client:
            client.http.event_hooks = {"request": [lambda request: asked.append(request.headers.get("authorization"))]}
            with pytest.raises(MarquezRefusedError):
                client.namespaces()
    assert asked == ["Basic bWU6aHVudGVyMg=="]
    assert "hunter2" not in caplog.text
