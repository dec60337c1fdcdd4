"""Datasets of other producers in our events: by the name that their producer gives them, so that there is one graph."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx

from lineage_assets.graph import AssetGraph
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.projection import Projection
from lineage_assets.marquez.client import MarquezClient
from lineage_assets.marquez.shapes import dataset_node_id, downstream_jobs, job_node_id
from lineage_assets.partitions import key_of
from tests.lineage.facts import CITIES, PRICES, RATES, attempt, graph_with_neighbours, verdict
from tests.lineage.golden_cases import external
from tests.lineage.test_on_a_server import send
from tests.support.graphs import days
from tests.support.lineage_events import facet, make_event

DAY = days("2021-06-03")


def inputs(event: Event) -> dict[str, dict[str, Any]]:
    return {read["name"]: read for read in json.loads(event.body)["inputs"]}


def test_of_what_another_makes_we_say_its_name_what_we_read_and_nothing_of_where_it_lies() -> None:
    for event in external():
        read = inputs(event)
        assert sorted(read) == ["cities", "public.exchange_rates"]
        rates, cities = read["public.exchange_rates"], read["cities"]
        assert (rates["namespace"], sorted({*rates["facets"]} - {"version"})) == ("warehouse", ["dataSource", "schema"])
        assert [field["name"] for field in rates["facets"]["schema"]["fields"]] == ["currency", "rate"]
        partitions = rates["inputFacets"]["subset"]["inputCondition"]["partitions"]
        assert [one["dimensions"]["ds"] for one in partitions] == ["2021-06-01", "2021-06-02", "2021-06-03"]
        # No columns are declared of it, and what is read whole has no partitions.
        assert (list(cities["facets"]), cities["inputFacets"]) == (["dataSource"], {})
        assert {one["facets"]["dataSource"]["uri"] for one in (rates, cities)} == {"dataset:warehouse", "s3://geo"}


def test_columns_that_come_from_it_are_told_by_its_name() -> None:
    *_, end = external()
    (written,) = json.loads(end.body)["outputs"]
    fields = written["facets"]["columnLineage"]["fields"]
    told = {column: one["inputFields"][0]["namespace"] for column, one in fields.items()}
    assert told == {"price": "warehouse", "city": "s3://geo"}
    rates = inputs(end)["public.exchange_rates"]
    assert rates["facets"]["version"]["datasetVersion"] == "9022"


def test_a_foreign_job_and_ours_are_one_graph(
    lineage_url: str, lineage_client: MarquezClient, lineage_namespace: str
) -> None:
    ours, theirs = lineage_namespace, f"{lineage_namespace}-warehouse"
    source = {"dataSource": facet(name="warehouse", uri="postgres://db:5432")}
    rates = {"namespace": theirs, "name": "public.exchange_rates", "facets": source}
    for type_ in ("START", "COMPLETE"):
        made = make_event(type_, namespace=theirs, job="airflow.load_rates", outputs=[rates])
        assert httpx.post(f"{lineage_url}/api/v1/lineage", json=made).status_code == 201
    send(lineage_url, our_events(ours, theirs))
    seen = lineage_client.lineage(job_node_id(ours, "example.etl_prices"))
    foreign = job_node_id(theirs, "airflow.load_rates")
    assert downstream_jobs(seen, foreign) == (job_node_id(ours, "example.etl_prices"),)
    assert sorted(node.id for node in seen.datasets()) == sorted(
        [
            dataset_node_id(theirs, "public.exchange_rates"),
            dataset_node_id(theirs, "cities"),
            dataset_node_id(ours, "public.prices"),
        ]
    )
    (run,) = lineage_client.runs(ours, "example.etl_prices")
    read = {one.name: one.facets for one in run.inputs}
    assert len(read["public.exchange_rates"]["subset"]["inputCondition"]["partitions"]) == 3


def our_events(ours: str, theirs: str) -> list[Event]:
    node = graph_with_neighbours().nodes[PRICES]
    reads = tuple(
        replace(read, dataset=replace(read.dataset, namespace=theirs))
        for read in node.inputs
        if read.dataset is not None
    )
    assert node.dataset is not None
    made = replace(node.dataset, namespace=ours)
    moved = replace(node, job=replace(node.job, namespace=ours), inputs=reads, dataset=made)
    attempts = [attempt(DAY, PRICES, of=AssetGraph.of([moved]), run_id=ours)]
    versions = {key_of(day): "9022" for day in days("2021-06-01", "2021-06-03")}
    record = verdict("2021-06-03", asset=PRICES, run_id=ours, inputs={RATES: versions, CITIES: {"2021-06-03": "21"}})
    told = Projection()
    return [*told.started(attempts, DAY), *told.ended(attempts, DAY, [record])]
