"""The folder `compatibility/` is what OpenLineage's compatibility tests take, and as fresh as the golden events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.lineage.compatibility import COMPONENT, FOLDER, differences, files
from tests.lineage.golden_cases import CASES
from tests.lineage.published_schemas import EventCheck


def read(path: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    return json.loads(path.read_text(encoding="utf-8"))


def produced(scenario: str) -> list[dict[str, Any]]:
    return [read(path) for path in sorted((FOLDER / "produced" / scenario).iterdir())]


def test_the_folder_holds_what_the_golden_events_say() -> None:
    """`python -m tests.lineage.compatibility` writes it anew."""
    made = (FOLDER / "produced", FOLDER / COMPONENT / "scenarios")
    found = [path for folder in made for path in folder.rglob("*") if path.is_file()]
    assert {path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in found} == files()


@pytest.mark.parametrize("scenario", CASES)
def test_each_expected_event_matches_a_produced_one_of_its_job_and_type(scenario: str) -> None:
    folder = FOLDER / COMPONENT / "scenarios" / scenario
    tests = read(folder / "config.json")["tests"]
    assert len(tests) == len(produced(scenario)) > 0
    for test in tests:
        wanted = read(folder / test["path"])
        assert any(list(differences(wanted, event)) == [] for event in produced(scenario)), test["name"]


def test_what_differs_from_run_to_run_is_matched_by_form_and_the_rest_by_value() -> None:
    wanted = read(FOLDER / COMPONENT / "scenarios/good/events/2_complete.json")
    (_, other) = produced("good")
    other["run"]["runId"] = "00000000-0000-5000-8000-000000000000"
    other["eventTime"] = "2031-01-01T00:00:00.000Z"
    other["outputs"][0]["facets"]["version"]["datasetVersion"] = "1"
    assert list(differences(wanted, other)) == []
    other["run"]["runId"] = "none"
    other["inputs"].pop()
    del other["job"]["facets"]["jobType"]
    other["outputs"][0]["name"] = "orders"
    assert list(differences(wanted, other)) == [
        ".inputs has 1 elements, not 2",
        ".job.facets.jobType is missing",
        ".outputs[0].name is 'orders', not 'public.orders_7_days'",
        ".run.runId is 'none', which is not {{ is_uuid(result) }}",
    ]


@pytest.mark.parametrize("scenario", CASES)
def test_produced_events_pass_the_syntax_check_of_upstream(scenario: str, event_check: EventCheck) -> None:
    assert [error for event in produced(scenario) for error in event_check.errors_upstream(event)] == []


@pytest.mark.parametrize("scenario", CASES)
def test_a_facet_of_ours_says_by_its_address_which_facet_of_which_entity_it_is(scenario: str) -> None:
    for event in produced(scenario):
        assert isinstance(event["job"]["facets"], dict)
        ours = {name: facet for name, facet in event["run"]["facets"].items() if name.startswith("lineageAssets_")}
        for facet in ours.values():
            address, _, definition = facet["_schemaURL"].partition("#/$defs/")
            assert definition.startswith("LineageAssets")
            assert definition.endswith("RunFacet")
            assert address.endswith(f"/{definition}.json")
