"""Whatever is sent, the embedded server takes it in whole or refuses it, and its lists go on answering."""

import json
from copy import deepcopy
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.lineage_events import facet, make_event, run_id

COLUMNS = {
    "id": {"inputFields": [{"namespace": "tests", "name": "a", "field": "id"}], "transformationType": "IDENTITY"}
}
SCHEMA = facet(fields=[{"name": "id", "type": "INTEGER"}])
OF_DATASET = {
    "schema": SCHEMA,
    "columnLineage": facet(fields=COLUMNS),
    "documentation": facet(description="A table."),
    "lifecycleStateChange": facet(lifecycleStateChange="OVERWRITE"),
    "symlinks": facet(identifiers=[{"namespace": "s3://lake", "name": "b", "type": "TABLE"}]),
}
EVENT = make_event(
    inputs=[
        {"name": "a", "facets": {**OF_DATASET, "symlinks": facet(identifiers=[])}, "inputFacets": {"subset": facet()}}
    ],
    outputs=[{"name": "b", "facets": OF_DATASET, "outputFacets": {"outputStatistics": facet(rowCount=1)}}],
    run_facets={
        "nominalTime": facet(nominalStartTime="2021-06-01T00:00:00Z", nominalEndTime="2021-06-02T00:00:00Z"),
        "parent": facet(run={"runId": run_id("tests/parent")}, job={"namespace": "tests", "name": "flow"}),
    },
)
EVENT["job"]["facets"] = {
    "jobType": facet(processingType="BATCH", integration="SPARK", jobType="JOB"),
    "documentation": facet(description="A job."),
    "sourceCodeLocation": facet(type="git", url="https://example.com/job.py"),
}

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**25), 10**25),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", " ", "\0", "\x1f", "a:b#c/d", "é東", "RUNNING", "2021-06-01", "9999-12-31T23:59:59-14:00"]),
    st.sampled_from([[], {}, [[]], [None], ["a"], [{}], {"a": None}, {"": {}}, {"fields": 1}]),
)
READS = (
    "/",
    "/api/v1/namespaces",
    "/api/v1/jobs",
    "/api/v1/sources",
    "/api/v1/events/lineage",
    "/api/v1/search?q=%25",
    "/api/v1/namespaces/tests/jobs",
    "/api/v1/namespaces/tests/datasets",
    "/api/v1/lineage?nodeId=job:tests:flow.job",
    "/api/v1/column-lineage?nodeId=dataset:tests:b&withDownstream=true",
    f"/api/v1/jobs/runs/{run_id('tests/run')}",
    "/api/v1/namespaces/tests/jobs/flow.job/versions",
    "/api/v1/namespaces/tests/datasets/b/versions",
)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in below for place in places(item, (*path, key)))]


def changed(place: tuple[str | int, ...], value: object) -> object:
    if not place:
        return value
    event: Any = deepcopy(EVENT)
    holder = event
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return event


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(places(EVENT)), value=ODD)
def test_an_odd_event_is_kept_or_refused_and_breaks_no_list(
    server: httpx.Client, place: tuple[str | int, ...], value: object
) -> None:
    headers = {"Content-Type": "application/json"}
    for event, expected in ((EVENT, {201}), (changed(place, value), {201, 400, 422})):
        sent = json.dumps(event).encode()
        assert server.post("/api/v1/lineage", content=sent, headers=headers).status_code in expected
    assert [(path, server.get(path).status_code) for path in READS] == [(path, 200) for path in READS]
