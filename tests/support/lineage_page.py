"""An embedded server that holds the stories which its page is tested with, each in a namespace of its own."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from lineage_assets.marquez.process import down, up
from tests.contract.recorded import steps_of
from tests.support.lineage_events import facet, make_event, run_id

PLANTED = "<img src=x onerror=\"window.planted = 'yes'; alert('planted')\">"
"""Markup that must never become an element."""


@pytest.fixture(scope="session")
def lineage_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with all stories; it goes when this process does."""
    home = tmp_path_factory.mktemp("page")
    url = up(home, owner_pid=os.getpid()).url
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as client:
        for event in (*bad_days(), *ranges(), *many_runs(), *planted(), *three_hundred_nodes()):
            client.post("/api/v1/lineage", json=event).raise_for_status()
    yield url
    down(home)


def bad_days() -> list[dict[str, Any]]:
    """All jobs of one day, then six days of which three are bad; nothing is repaired yet."""
    posted = [
        step["body"] for story in ("food_delivery_day", "bad_days") for step in steps_of(story) if step["do"] == "POST"
    ]
    repair = next(at for at, event in enumerate(posted) if event["job"]["name"] == "example.backfill")
    return posted[:repair]


def attempt(at: str, **said: object) -> Mapping[str, Any]:
    nominal = facet(nominalStartTime=f"{at}T00:00:00Z")
    return {"nominalTime": nominal, "lineageAssets_attempt": facet(attempt=1, codeVersion="1", **said)}


def ranges() -> list[dict[str, Any]]:
    """One run for five days, of which one failed and has a run of its own; then one that found nothing to do."""
    at = "2024-03-06T01:00:00Z"
    whole = attempt("2024-03-01", partitions={"first": "2024-03-01", "last": "2024-03-05"})
    bad = {**attempt("2024-03-03", partition="2024-03-03"), "errorMessage": facet(message="No rows.")}
    reused = {**attempt("2024-03-06", partition="2024-03-06"), "lineageAssets_reuse": facet(made=[], madeCount=1)}
    return [
        make_event(type_, run=run, at=at, namespace="ranges", job="etl", outputs=["t"], run_facets=facets)
        for type_, run, facets in (
            *(("START", "whole", whole), ("COMPLETE", "whole", whole)),
            *(("START", "bad", bad), ("FAIL", "bad", bad), ("COMPLETE", "reused", reused)),
        )
    ]


def many_runs() -> list[dict[str, Any]]:
    """A job with more runs than one answer holds."""
    return [
        make_event(
            run=f"many{hour}", at=f"2024-02-{1 + hour // 24:02}T{hour % 24:02}:00:00Z", namespace="many", job="etl"
        )
        for hour in range(130)
    ]


def planted() -> list[dict[str, Any]]:
    """Markup wherever a sender may put a text."""
    read, written = (
        {
            "name": f"{side} {PLANTED}",
            "facets": {"documentation": facet(description=PLANTED), PLANTED: facet(x=PLANTED)},
        }
        for side in ("read", "written")
    )
    facets = {
        "errorMessage": facet(message=PLANTED, stackTrace=PLANTED),
        "lineageAssets_attempt": facet(partition=PLANTED, attempt=PLANTED, codeVersion=PLANTED),
        "lineageAssets_block": facet(cause=PLANTED, blockedBy=[{"assetKey": [PLANTED], "partition": PLANTED}]),
        PLANTED: facet(**{PLANTED: PLANTED}),
    }
    named = {"documentation": facet(description=PLANTED), "ownership": facet(owners=[{"name": PLANTED}])}
    event = make_event("FAIL", run="planted", namespace="planted", inputs=[read], outputs=[written], run_facets=facets)
    return [{**event, "job": {"namespace": "planted", "name": f"job {PLANTED}", "facets": named}}]


PLANTED_RUN = run_id("planted/planted")


def three_hundred_nodes() -> list[dict[str, Any]]:
    """150 jobs, each reading up to three of the tables before it, and one that reads what it writes."""
    events = [
        make_event(
            run=f"large{job}",
            namespace="large",
            job=f"flow.job{job}",
            inputs=sorted({f"t{job * step // 7}" for step in range(3, 6) if job > step}),
            outputs=[f"t{job}"],
        )
        for job in range(149)
    ]
    return [*events, make_event(run="self", namespace="large", job="flow.self", inputs=["t149"], outputs=["t149"])]
