"""Whole events, as they leave: read in review, held to the published schemas."""

from __future__ import annotations

import pytest

from lineage_assets.settings import load_settings
from tests.lineage.golden_cases import CASES, kept, told
from tests.lineage.published_schemas import EventCheck


@pytest.fixture(scope="module")
def check() -> EventCheck:
    spec = load_settings().openlineage_spec
    if spec is None:
        pytest.skip(
            "OPENLINEAGE_SPEC is not set: point it to the folder `spec` of a checkout of the OpenLineage repository"
        )
    return EventCheck(spec)


@pytest.mark.parametrize("name", CASES)
def test_events_are_those_kept(name: str) -> None:
    """`python -m tests.lineage.golden_cases` writes them anew when they are meant to change."""
    assert told(CASES[name]()) == kept(name)


@pytest.mark.parametrize("name", CASES)
def test_events_are_valid_by_the_published_schemas(name: str, check: EventCheck) -> None:
    assert [error for event in kept(name) for error in check.errors(event)] == []


def test_a_wrong_event_is_found(check: EventCheck) -> None:
    event = kept("good")[0]
    event["run"]["facets"]["lineageAssets_attempt"]["attempt"] = "one"
    event["inputs"][0]["facets"]["schema"]["fields"] = 7
    event["job"]["facets"]["mood"] = event["job"]["facets"]["jobType"]
    assert len(list(check.errors(event))) == 3
