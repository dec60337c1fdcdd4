"""Recorded requests and answers replayed against a server: what differs, and which differences are accepted.

Knows nothing of how to start or empty a server; ``check_contract.py`` is the command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx

Json = Any
SCENARIOS = Path(__file__).resolve().parent / "scenarios"

UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
PLACEHOLDER = re.compile(r"<uuid:\d+>")
UUID_OR_PLACEHOLDER = re.compile(f"{UUID.pattern}|{PLACEHOLDER.pattern}")
TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})")
LOG_ID = re.compile(r"\(ID [0-9a-f]{16}\)")


@dataclass
class Known:
    """What gives a recorded value its identity within one scenario."""

    uuids: frozenset[str]
    """Ids our requests carry: kept as they are."""
    instants: frozenset[datetime]
    """Times our requests carry: kept as they are; any other time was set by the server."""
    names: dict[str, str] = field(default_factory=dict)
    """Server-made id to placeholder, one to one."""

    @classmethod
    def from_steps(cls, steps: list[dict[str, Json]]) -> Known:
        uuids: set[str] = set()
        instants: set[datetime] = set()
        for step in steps:
            sent = json.dumps([step["path"], step.get("body"), step.get("content")])
            uuids.update(UUID.findall(sent))
            instants.update(instant(match.group()) for match in TIME.finditer(sent))
        return cls(frozenset(uuids), frozenset(instants))

    def uuid_of(self, placeholder: str) -> str:
        """The id that stands behind a placeholder, or the placeholder when no answer has shown it yet."""
        return next((uuid for uuid, name in self.names.items() if name == placeholder), placeholder)

    def bind(self, expected: Json, actual: Json) -> None:
        """Learn which new id stands where the recording has a placeholder."""
        if isinstance(expected, dict) and isinstance(actual, dict):
            for key in sorted(expected.keys() & actual.keys()):
                self.bind(expected[key], actual[key])
        elif isinstance(expected, list) and isinstance(actual, list):
            for one, other in zip(expected, actual, strict=False):
                self.bind(one, other)
        elif isinstance(expected, str) and isinstance(actual, str):
            wanted, got = UUID_OR_PLACEHOLDER.findall(expected), UUID.findall(actual)
            if len(wanted) == len(got):
                for name, uuid in zip(wanted, got, strict=True):
                    fresh = uuid not in self.uuids and uuid not in self.names
                    if PLACEHOLDER.fullmatch(name) and fresh and name not in self.names.values():
                        self.names[uuid] = name

    def learn(self, actual: Json) -> None:
        """Give the next placeholder to every id not seen before."""
        if isinstance(actual, dict):
            for key in sorted(actual):
                self.learn(actual[key])
        elif isinstance(actual, list):
            for value in actual:
                self.learn(value)
        elif isinstance(actual, str):
            for uuid in UUID.findall(actual):
                if uuid not in self.uuids and uuid not in self.names:
                    self.names[uuid] = f"<uuid:{len(self.names) + 1}>"

    def without_server_times(self, value: Json) -> Json:
        """Replace times the server set, and the log id in an error message."""

        def replace(text: str) -> str:
            if TIME.fullmatch(text) and instant(text) not in self.instants:
                return "<time>"
            return LOG_ID.sub("(ID <id>)", text)

        return map_strings(value, replace)

    def named(self, value: Json, unknown: str | None = None) -> Json:
        """Replace server-made ids by their placeholders; ids without one stay, or become `unknown`."""

        def name(match: re.Match[str]) -> str:
            uuid = match.group()
            return uuid if uuid in self.uuids else self.names.get(uuid, unknown if unknown is not None else uuid)

        return map_strings(value, lambda text: UUID.sub(name, text))


@dataclass(frozen=True)
class Difference:
    step: int
    request: str
    where: str
    expected: Json
    actual: Json

    def __str__(self) -> str:
        return (
            f"step {self.step}: {self.request}\n  {self.where}\n"
            f"    recorded: {brief(self.expected)}\n    answered: {brief(self.actual)}"
        )


def instant(text: str) -> datetime:
    """An ISO 8601 time as UTC, cut to microseconds."""
    text = text.replace("Z", "+00:00")
    text = re.sub(r"\.(\d+)", lambda match: "." + match.group(1)[:6].ljust(6, "0"), text)
    return datetime.fromisoformat(text).astimezone(timezone.utc)


def brief(value: Json, limit: int = 300) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[:limit] + " …"


def map_strings(value: Json, change: Callable[[str], str]) -> Json:
    if isinstance(value, dict):
        return {key: map_strings(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [map_strings(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def sort_at(value: Json, path: list[str], key: Callable[[Json], str]) -> Json:
    """Sort the lists a path such as `$.graph[*].data.inputs` leads to; `[*]` steps into a list, `*` into any key."""
    if not path:
        return sorted(value, key=key) if isinstance(value, list) else value
    head, rest = path[0], path[1:]
    if head == "[*]":
        return [sort_at(item, rest, key) for item in value] if isinstance(value, list) else value
    if isinstance(value, dict):
        chosen = value if head == "*" else value.keys() & {head}
        return {name: sort_at(item, rest, key) if name in chosen else item for name, item in value.items()}
    return value


def ordered(body: Json, unordered: list[str], known: Known) -> Json:
    """Sort what the server promises no order for, innermost lists first, blind to ids not yet named."""

    def key(item: Json) -> str:
        return json.dumps(known.named(item, unknown="<uuid>"), sort_keys=True)

    for path in sorted(unordered, key=lambda path: -path.count("[*]")):
        body = sort_at(body, re.findall(r"\[\*\]|[^.\[\]$]+", path), key)
    return body


def differences(expected: Json, actual: Json, where: str = "$") -> Iterator[tuple[str, Json, Json]]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            if key not in expected or key not in actual:
                yield f"{where}.{key}", expected.get(key, "<absent>"), actual.get(key, "<absent>")
            else:
                yield from differences(expected[key], actual[key], f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{where}.length", len(expected), len(actual)
        for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(one, other, f"{where}[{index}]")
    elif expected != actual or type(expected) is not type(actual):
        yield where, expected, actual


def ask(client: httpx.Client, step: dict[str, Json], known: Known) -> tuple[int, Json]:
    """Send one step's request; the answer's body as JSON where it is, None where empty, else text."""
    path = PLACEHOLDER.sub(lambda match: known.uuid_of(match.group()), step["path"])
    content = step.get("content")
    headers = dict(step.get("headers", {}))
    if "body" in step:
        content = json.dumps(step["body"])
        headers.setdefault("Content-Type", "application/json")
    response = client.request(step["do"], path, content=content, headers=headers)
    if not response.content:
        return response.status_code, None
    try:
        return response.status_code, response.json()
    except ValueError:
        return response.status_code, response.text


@dataclass(frozen=True)
class Accepted:
    """One answer that may differ from the recorded one."""

    scenario: str
    step: int
    ours: Json
    """What is answered instead: at ``where``, or of the whole answer the keys that are given here."""
    reason: str
    where: str | None = None
    """A place in the answer, such as ``$.body.code``; nothing for the whole of it."""

    def covers(self, where: str, answer: Json) -> bool:
        if self.where is None:
            return bool(self.ours) and all(answer.get(key) == self.ours[key] for key in self.ours)
        for part in re.findall(r"[^.\[\]$]+", self.where):
            answer = answer[int(part)] if isinstance(answer, list) else answer.get(part)
        return f"{where}.".startswith(f"{self.where}.") and bool(answer == self.ours)

    def __str__(self) -> str:
        place = "" if self.where is None else f" at {self.where}"
        return f"step {self.step}{place}: listed as a difference, but not seen as listed\n    {self.reason}"


def read_accepted(file: Path) -> list[Accepted]:
    """The differences listed in a file; an entry may name several steps, each of which must need it."""
    return [
        Accepted(entry["scenario"], step, entry["ours"], entry["reason"], entry.get("where"))
        for entry in json.loads(file.read_text(encoding="utf-8"))
        for step in (entry["step"] if isinstance(entry["step"], list) else [entry["step"]])
    ]


def replay(
    client: httpx.Client, steps: list[dict[str, Json]], accepted: Iterable[Accepted] = ()
) -> Iterator[Difference | Accepted]:
    """Run the steps against an empty server: differences that are not accepted, then acceptances not needed."""
    known, unneeded = Known.from_steps(steps), list(accepted)
    for number, step in enumerate(steps, start=1):
        status, body = ask(client, step, known)
        body = ordered(known.without_server_times(body), step.get("unordered", []), known)
        known.bind(step["expect"]["body"], body)
        found = list(differences(step["expect"], {"status": status, "body": known.named(body)}))
        # An id that the recording does not show has no name to list it by.
        answer = {"status": status, "body": known.named(body, unknown="<uuid>")}
        listed = [entry for entry in unneeded if entry.step == number]
        for where, wanted, got in found:
            if not any(entry.covers(where, answer) for entry in listed):
                yield Difference(number, f"{step['do']} {step['path']}", where, wanted, got)
        needed = [entry for entry in listed if any(entry.covers(where, answer) for where, _, _ in found)]
        unneeded = [entry for entry in unneeded if entry not in needed]
    yield from unneeded


def steps_of(scenario: str) -> Json:
    return json.loads((SCENARIOS / scenario / "steps.json").read_text(encoding="utf-8"))
