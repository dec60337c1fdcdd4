"""The golden events in the layout of OpenLineage's compatibility tests, under `compatibility/`.

`python -m tests.lineage.compatibility` writes it anew: what was produced, one event a file, and what is expected of
it, with their matchers in place of what differs from run to run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from typing import Any
from uuid import UUID

from tests.lineage.golden_cases import CASES, told

FOLDER = Path(__file__).parents[2] / "compatibility"
COMPONENT = "dagster_lineage_assets"

Json = dict[str, Any]

_ANY, _TIME, _UUID = "{{ any(result) }}", "{{ is_datetime(result) }}", "{{ is_uuid(result) }}"
_NUMBER, _COMMIT = "{{ match(result, '[0-9]+') }}", "{{ match(result, '[0-9a-f]{40}') }}"
_MATCHERS = {
    "eventTime": _TIME,
    "runId": _UUID,
    "datasetVersion": _NUMBER,
    **dict.fromkeys(("applicationId", "codeVersion", "dagsterRunId", "dataVersion", "openlineageAdapterVersion"), _ANY),
    **dict.fromkeys(("uri", "url", "warehouseUri"), _ANY),
}
"""By key, of what is another in every run or place."""
_MATCHERS_IN = {"processing_engine": {"version": _ANY}, "sourceCodeLocation": {"version": _COMMIT}}
"""By facet, of keys that mean something else elsewhere."""
_LEFT_OUT = frozenset({"producer", "schemaURL", "_producer", "_schemaURL"})


def files() -> dict[str, str]:
    """All files that are made, by path below the folder."""
    made: dict[str, str] = {}
    for name, case in CASES.items():
        scenario = f"{COMPONENT}/scenarios/{name}"
        events = list(_with_one_end(told(case())))
        tests = []
        for number, event in enumerate(events, 1):
            file = f"{number}_{event['eventType'].lower()}.json"
            made[f"produced/{name}/{file}"] = _text(event)
            made[f"{scenario}/events/{file}"] = _text(expected(event))
            tests.append(_test(f"{name}_{file.removesuffix('.json')}", file, event))
        versions = {"component_versions": {"min": "0.1.0"}, "openlineage_versions": {"min": "1.53.0"}}
        made[f"{scenario}/config.json"] = _text({**versions, "tests": tests})
        made[f"{scenario}/scenario.md"] = f"# {name.replace('_', ' ').capitalize()}\n\n{case.__doc__}\n"
    return made


def expected(event: Mapping[str, Any]) -> Json:
    """The event with matchers; in their comparison a key that is left out may hold anything."""
    masked: Json = _expected(event, _MATCHERS)
    for field in masked["run"]["facets"].get("tags", {}).get("tags", ()):
        field["value"] = _ANY
    return masked


def _expected(value: Any, matchers: Mapping[str, str]) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, Mapping):
        return {
            key: matchers[key]
            if key in matchers and isinstance(one, str)
            else _expected(one, {**matchers, **_MATCHERS_IN.get(key, {})})
            for key, one in value.items()
            if key not in _LEFT_OUT
        }
    return [_expected(one, matchers) for one in value] if isinstance(value, list) else value


def _with_one_end(events: Iterable[Json]) -> Iterator[Json]:
    """A golden case may show several ways in which one run ends; a producer shows one."""
    ended = set()
    for event in events:
        run = event["run"]["runId"]
        if run not in ended:
            yield event
        if event["eventType"] != "START":
            ended.add(run)


def _test(name: str, file: str, event: Json) -> Json:
    facets = {*event["run"]["facets"], *event["job"]["facets"]}
    for dataset in (*event["inputs"], *event["outputs"]):
        facets |= {*dataset["facets"], *dataset.get("inputFacets", ()), *dataset.get("outputFacets", ())}
    levels = ["dataset", *(["column", "transformation"] if "columnLineage" in facets else [])]
    tags: Json = {"facets": sorted(facets)}
    if event["inputs"] or event["outputs"]:
        tags["lineage_level"] = {"iceberg": levels}
    return {"name": name, "path": f"events/{file}", "tags": tags}


def _text(value: Json) -> str:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n"


def differences(wanted: Any, found: Any, at: str = "") -> Iterator[str]:  # noqa: ANN401 - whatever JSON holds
    """Where a produced event is not as expected, by their rules; a key that is missing is a difference, too."""
    if isinstance(wanted, Mapping):
        for key, one in wanted.items():
            if key in found:
                yield from differences(one, found[key], f"{at}.{key}")
            else:
                yield f"{at}.{key} is missing"
    elif isinstance(wanted, list):
        if len(wanted) != len(found):
            yield f"{at} has {len(found)} elements, not {len(wanted)}"
        for place, (one, other) in enumerate(zip(wanted, found, strict=False)):
            yield from differences(one, other, f"{at}[{place}]")
    elif isinstance(wanted, str) and wanted.startswith("{{"):
        if not _matches(wanted, found):
            yield f"{at} is {found!r}, which is not {wanted}"
    elif wanted != found:
        yield f"{at} is {found!r}, not {wanted!r}"


def _matches(matcher: str, found: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    try:
        match matcher:
            case "{{ any(result) }}":
                return found is not None
            case "{{ is_datetime(result) }}":
                return datetime.fromisoformat(found.replace("Z", "+00:00")).tzinfo is not None
            case "{{ is_uuid(result) }}":
                return str(UUID(found)) == found
    except ValueError:
        return False
    pattern = re.fullmatch(r"\{\{ match\(result, '(.*)'\) \}\}", matcher)
    assert pattern is not None, matcher
    return re.fullmatch(pattern[1], found) is not None


if __name__ == "__main__":
    for folder in (FOLDER / "produced", FOLDER / COMPONENT / "scenarios"):
        rmtree(folder, ignore_errors=True)
    for path, text in files().items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_text(text, encoding="utf-8")
