"""What the embedded server makes of events: the semantics of Marquez that surprise, and what it keeps."""

import gzip
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from lineage_assets.marquez.embedded.store import OtherLayoutError, Store
from tests.support.lineage_events import facet, make_event, run_id

Serve = Callable[[Path], AbstractContextManager[httpx.Client]]
JOB = "/api/v1/namespaces/tests/jobs/job"


def send(server: httpx.Client, *events: object) -> None:
    for event in events:
        answer = server.post("/api/v1/lineage", json=event)
        assert answer.status_code == 201, answer.text


def got(server: httpx.Client, path: str) -> Any:  # noqa: ANN401 - JSON
    return server.get(path).raise_for_status().json()


def nodes(server: httpx.Client, job: str = "job") -> list[str]:
    graph = got(server, f"/api/v1/lineage?nodeId=job:tests:{job}&depth=0")["graph"]
    return [node["id"].removeprefix("dataset:tests:") for node in graph if node["type"] == "DATASET"]


def run_of(server: httpx.Client, run: str = "run") -> Any:  # noqa: ANN401 - JSON
    return got(server, f"/api/v1/jobs/runs/{run_id(f'tests/{run}')}")


def table(server: httpx.Client, name: str) -> Any:  # noqa: ANN401 - JSON
    return got(server, f"/api/v1/namespaces/tests/datasets/{name}")


def test_a_start_without_datasets_hides_the_edges_until_the_run_ends_with_some(server: httpx.Client) -> None:
    send(server, make_event(run="first", inputs=["a"], outputs=["b"]))
    assert nodes(server) == ["a", "b"]
    send(server, make_event("START", run="second"))
    assert nodes(server) == []
    assert got(server, JOB)["outputs"] == [{"namespace": "tests", "name": "b"}]
    send(server, make_event(run="second", inputs=["a"], outputs=["b"]))
    assert nodes(server) == ["a", "b"]


def test_the_first_run_of_a_job_has_no_edges_before_it_ends(server: httpx.Client) -> None:
    send(server, make_event("START", inputs=["a"], outputs=["b"]))
    assert nodes(server) == []
    send(server, make_event("FAIL", inputs=["a"], outputs=["b"]))
    assert nodes(server) == ["a", "b"]


def test_a_runs_inputs_replace_those_of_the_run_before_when_it_ends(server: httpx.Client) -> None:
    send(server, make_event(run="first", inputs=["a"]), make_event("START", run="second", inputs=["b"]))
    assert nodes(server) == ["a"]
    send(server, make_event(run="second", inputs=["b"]))
    assert nodes(server) == ["b"]


def test_the_graph_shows_what_changed_since_it_was_last_asked_for(server: httpx.Client) -> None:
    def seen() -> tuple[str, str, list[str]]:
        answer = got(server, "/api/v1/lineage?nodeId=job:tests:job")["graph"]
        table, job = (node["data"] for node in answer)
        return job["description"], job["latestRun"]["state"], [field["name"] for field in table["fields"]]

    def said(event_type: str, description: str, *columns: str) -> Any:  # noqa: ANN401 - JSON
        schema = facet(fields=[{"name": column, "type": "TEXT"} for column in columns])
        event = make_event(event_type, inputs=[{"name": "a", "facets": {"schema": schema}}])
        event["job"]["facets"] = {"documentation": facet(description=description)}
        return event

    send(server, said("COMPLETE", 'first "words"', "id"))
    assert seen() == ('first "words"', "COMPLETED", ["id"])
    send(server, said("START", "second", "id", "day"))
    assert seen() == ("second", "RUNNING", ["id", "day"])


def test_inputs_of_a_start_and_outputs_of_its_end_are_both_the_runs(server: httpx.Client) -> None:
    send(server, make_event("START", inputs=["a"]), make_event(outputs=["b"]))
    assert nodes(server) == ["a", "b"]


def test_a_failed_run_leaves_a_version_but_never_the_current_one(server: httpx.Client) -> None:
    send(server, make_event(run="good", outputs=["b"]))
    before = table(server, "b")["currentVersion"]
    send(server, make_event("FAIL", run="bad", at="2021-06-02T00:00:00Z", outputs=["b"]))
    assert table(server, "b")["currentVersion"] == before
    versions = got(server, "/api/v1/namespaces/tests/datasets/b/versions")["versions"]
    assert [version["createdByRun"]["state"] for version in versions] == ["FAILED", "COMPLETED"]


def test_a_late_start_turns_an_ended_run_running_and_its_end_sent_again_ends_it(server: httpx.Client) -> None:
    end = make_event(at="2021-06-01T00:01:00Z", outputs=["b"])
    send(server, end, make_event("START", at="2021-06-01T00:00:00Z", outputs=["b"]))
    late = run_of(server)
    assert (late["state"], late["endedAt"], late["durationMs"]) == ("RUNNING", "2021-06-01T00:01:00Z", 60_000)
    send(server, end)
    assert run_of(server)["state"] == "COMPLETED"


def test_an_older_run_replayed_owns_the_graph_but_is_not_the_latest_run(server: httpx.Client) -> None:
    newer = make_event(run="newer", at="2021-06-02T00:00:00Z", inputs=["a"], outputs=["out"])
    send(server, newer)
    current = table(server, "out")["currentVersion"]
    send(server, make_event(run="older", at="2021-06-01T00:00:00Z", inputs=["b"], outputs=["out"]))
    assert nodes(server) == ["b", "out"]
    assert table(server, "out")["currentVersion"] != current
    assert got(server, JOB)["latestRun"]["id"] == run_id("tests/newer")
    send(server, newer)
    assert nodes(server) == ["a", "out"]
    assert table(server, "out")["currentVersion"] == current


def test_one_event_sent_three_times_is_one_run_and_one_version(server: httpx.Client) -> None:
    start, end = make_event("START", outputs=["b"]), make_event(at="2021-06-01T00:01:00Z", outputs=["b"])
    send(server, start, end)
    once = (run_of(server), got(server, "/api/v1/namespaces/tests/datasets/b/versions"))
    send(server, start, end, start, end)
    assert (run_of(server), got(server, "/api/v1/namespaces/tests/datasets/b/versions")) == once
    assert got(server, f"{JOB}/runs")["totalCount"] == 1
    assert got(server, "/api/v1/events/lineage")["totalCount"] == 6


def test_facets_of_all_events_of_a_run_are_merged_and_the_later_wins(server: httpx.Client) -> None:
    later = make_event(at="2021-06-01T00:01:00Z", run_facets={"mine": facet(value=2)})
    send(server, later, make_event("START", run_facets={"mine": facet(value=1), "other": facet(value=3)}))
    facets = run_of(server)["facets"]
    assert (facets["mine"]["value"], facets["other"]["value"]) == (2, 3)


def test_a_child_job_is_named_after_its_parent_and_shows_no_state_in_the_graph(server: httpx.Client) -> None:
    parent = facet(run={"runId": run_id("tests/parent")}, job={"namespace": "tests", "name": "flow"})
    send(server, make_event("START", run="parent", job="flow"))
    send(server, make_event(job="step", outputs=["b"], run_facets={"parent": parent}))
    child = got(server, "/api/v1/namespaces/tests/jobs/flow.step")
    assert (child["simpleName"], child["parentJobName"], child["latestRun"]["state"]) == ("step", "flow", "COMPLETED")
    graph = got(server, "/api/v1/lineage?nodeId=job:tests:flow.step")["graph"]
    assert [node["data"]["latestRun"] for node in graph if node["type"] == "JOB"] == [None]


@pytest.mark.parametrize(
    "event",
    [
        make_event(run_facets={"nominalTime": facet(nominalStartTime="yesterday")}),
        make_event(outputs=["good", {"name": ""}]),
        make_event(outputs=[{"name": "good", "namespace": "not a namespace"}]),
        make_event(run_facets={"parent": facet(run={"runId": "x"}, job={"namespace": "tests", "name": " "})}),
        make_event(eventTime=1627776000000),
        make_event(eventTime="soon"),
        make_event(eventTime="9999-12-31T23:59:59-14:00"),
        make_event(inputs=[{"name": "a", "facets": {"symlinks": facet(identifiers=[{"namespace": "", "name": "b"}])}}]),
    ],
)
def test_a_refused_event_leaves_nothing_behind(server: httpx.Client, event: object) -> None:
    before = got(server, "/api/v1/namespaces")
    answer = server.post("/api/v1/lineage", json=event)
    assert (answer.status_code, answer.json()["code"]) == (400, 400)
    assert got(server, "/api/v1/events/lineage") == {"events": [], "totalCount": 0}
    assert (got(server, "/api/v1/namespaces"), got(server, "/api/v1/jobs")["jobs"]) == (before, [])


@pytest.mark.parametrize("word", ["NaN", "Infinity", r'"\ud800"', "nothing"])
def test_what_could_never_be_sent_back_is_not_taken_in(server: httpx.Client, word: str) -> None:
    sent = f'{{"eventType": "COMPLETE", "eventTime": "2021-06-01T00:00:00Z", "producer": {word}}}'
    answer = server.post("/api/v1/lineage", content=sent, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, 400)


def test_a_compressed_event_is_taken_and_a_broken_one_refused(server: httpx.Client) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    packed = gzip.compress(json.dumps(make_event(outputs=["b"])).encode())
    answers = [server.post("/api/v1/lineage", content=sent, headers=headers) for sent in (packed, packed[:-9], b"{}")]
    assert [answer.status_code for answer in answers] == [201, 400, 400]
    assert run_of(server)["state"] == "COMPLETED"


def test_an_event_with_missing_fields_is_refused_with_each_of_them(server: httpx.Client) -> None:
    answer = server.post("/api/v1/lineage", json={"run": {}, "outputs": [{"name": "b"}]})
    assert (answer.status_code, answer.json()) == (
        422,
        {
            "errors": [
                "eventTime must not be null",
                "job must not be null",
                "outputs[0].namespace must not be null",
                "producer must not be null",
                "run.runId must not be null",
            ]
        },
    )


def test_events_sent_at_once_are_all_kept(server: httpx.Client) -> None:
    def one(number: int) -> None:
        for event_type in ("START", "COMPLETE"):
            send(server, make_event(event_type, run=str(number), inputs=["a"], outputs=["b", "c"]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(40)))
    assert got(server, "/api/v1/events/lineage?limit=0")["totalCount"] == 80
    runs = got(server, f"{JOB}/runs?limit=100")["runs"]
    assert {run["state"] for run in runs} == {"COMPLETED"}
    assert len(runs) == 40
    assert got(server, "/api/v1/namespaces/tests/datasets/b/versions?limit=0")["totalCount"] == 40


def test_what_was_kept_is_there_after_a_new_start(serve: Serve, tmp_path: Path) -> None:
    paths = ("/api/v1/jobs", "/api/v1/events/lineage", "/api/v1/lineage?nodeId=job:tests:job")
    with serve(tmp_path / "lineage.db") as server:
        send(server, make_event(inputs=["a"], outputs=["b"]))
        before = [got(server, path) for path in paths]
    with serve(tmp_path / "lineage.db") as server:
        assert [got(server, path) for path in paths] == before


def test_a_file_of_another_layout_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "lineage.db"
    store = Store(file, 0)
    with store.writing() as db:
        db.execute("PRAGMA user_version = 99")
    store.close()
    with pytest.raises(OtherLayoutError, match="has layout 99"):
        Store(file, 0)


def test_names_with_slashes_colons_and_spaces_are_found(server: httpx.Client) -> None:
    name, namespace = "a/b//c: d?e#f%2F", "s3://bucket:1"
    send(server, make_event(job=name, outputs=[{"name": name, "namespace": namespace}]))
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/datasets/{quote(name, safe='')}"
    assert got(server, path)["id"] == {"namespace": namespace, "name": name}
    assert got(server, f"/api/v1/namespaces/tests/jobs/{quote(name, safe='')}/runs")["totalCount"] == 1
    for node in (f"job:tests:{name}", f"dataset:{namespace}:{name}"):
        assert len(got(server, f"/api/v1/lineage?nodeId={quote(node, safe='')}")["graph"]) == 2
