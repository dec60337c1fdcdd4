"""Whole events, as they leave: read in review, held to the published schemas."""

from __future__ import annotations

import json

import pytest

from tests.lineage.golden_cases import CASES, kept, told
from tests.lineage.published_schemas import EventCheck
from tests.support.event_check import Watch


@pytest.mark.parametrize("name", CASES)
def test_events_are_those_kept(name: str) -> None:
    """`python -m tests.lineage.golden_cases` writes them anew when they are meant to change."""
    assert told(CASES[name]()) == kept(name)


@pytest.mark.parametrize("name", CASES)
def test_events_are_valid_by_the_published_schemas(name: str, event_check: EventCheck) -> None:
    assert [error for event in kept(name) for error in event_check.errors(event)] == []


def test_a_wrong_event_is_found(event_check: EventCheck) -> None:
    event = kept("good")[0]
    event["run"]["facets"]["lineageAssets_attempt"]["attempt"] = "one"
    event["inputs"][0]["facets"]["schema"]["fields"] = 7
    event["job"]["facets"]["mood"] = event["job"]["facets"]["jobType"]
    assert len(list(event_check.errors(event))) == 3


def test_an_event_of_a_new_shape_is_looked_at_and_one_of_a_known_shape_is_not(event_check: EventCheck) -> None:
    watch, event = Watch(event_check), kept("good")[0]
    watch.look(json.dumps(event))
    event["job"]["name"] = "example.another"
    watch.look(json.dumps(event))
    assert watch.wrong == []
    event["eventType"] = "BEGIN"
    watch.look(json.dumps(event))
    (wrong,) = watch.wrong
    assert wrong.startswith("event $: ")
    assert wrong.endswith("is not valid under any of the given schemas")
