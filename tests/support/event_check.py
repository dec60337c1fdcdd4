"""Every event that a test makes in this process is held to the published schemas and ours, where they are at hand.

Of events of one shape the first is looked at, so that tests with thousands of events cost little. Events of child
processes are not seen here; they are made by the same code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from lineage_assets.lineage import events
from lineage_assets.settings import load_settings
from tests.lineage.published_schemas import EventCheck

_WORD = re.compile(r"[A-Z][A-Z_]*")
_FORMS = (
    ("uuid", re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")),
    ("time", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")),
    ("address", re.compile(r"[a-z][a-z0-9+]*:\S+")),
)


class Watch:
    """Finds events that are wrong among those it is shown."""

    def __init__(self, check: EventCheck) -> None:
        self._check = check
        self._seen: set[object] = set()
        self.wrong: list[str] = []

    def look(self, body: str) -> None:
        event = json.loads(body)
        shape = shape_of(event)
        if shape not in self._seen:
            self._seen.add(shape)
            self.wrong += self._check.errors(event)


def shape_of(value: Any) -> object:  # noqa: ANN401 - whatever JSON holds
    """What a schema may look at in a value: keys, kinds, words of a list of words, forms of texts."""
    if isinstance(value, dict):
        return frozenset((key, shape_of(one)) for key, one in value.items())
    if isinstance(value, list):
        return (bool(value), frozenset(shape_of(one) for one in value))
    if isinstance(value, str):
        if not value or _WORD.fullmatch(value):
            return value
        return next((name for name, form in _FORMS if form.fullmatch(value)), "text")
    return type(value)


def _published() -> EventCheck | None:
    spec = load_settings().openlineage_spec
    return None if spec is None else EventCheck(spec)


@pytest.fixture(scope="session")
def event_check() -> EventCheck:
    check = _published()
    if check is None:
        pytest.skip(
            "OPENLINEAGE_SPEC is not set: point it to the folder `spec` of a checkout of the OpenLineage repository"
        )
    return check


@pytest.fixture(scope="session", autouse=True)
def watch() -> Iterator[Watch | None]:
    """Looks over the shoulder of what makes events, for the whole session."""
    check = _published()
    if check is None:
        yield None
        return
    seen, made = Watch(check), events._event

    def watched(*told: Any) -> events.Event:  # noqa: ANN401 - whatever it is called with
        event = made(*told)
        seen.look(event.body)
        return event

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(events, "_event", watched)
        yield seen


@pytest.fixture(autouse=True)
def no_event_is_wrong(watch: Watch | None) -> Iterator[None]:
    """Fails the test that made a wrong event."""
    if watch is None:
        yield
        return
    before = len(watch.wrong)
    yield
    assert watch.wrong[before:] == []
