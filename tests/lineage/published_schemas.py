"""A check of whole events against the published OpenLineage schemas, and against our own facets' schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

import lineage_assets.lineage

OWN = Path(lineage_assets.lineage.__file__).parent / "schemas"

_Schema = Mapping[str, Any]

_ALSO_FOR = {("Dataset", "dataQualityAssertions"): "InputDataset"}
"""Published for inputs only; we tell of an output what was asked of it before it was published, in the same form."""
_VERSION = re.compile(r"/(\d+)-\d+-\d+/")


class EventCheck:
    """Finds what is wrong with an event; a facet without a schema is wrong too."""

    def __init__(self, spec: Path) -> None:
        self._core = _read(spec / "OpenLineage.json")
        facets = [_read(path) for folder in (spec / "facets", OWN) for path in sorted(folder.glob("*.json"))]
        self._registry: Registry[Any] = Registry().with_resources(
            [(schema["$id"], DRAFT202012.create_resource(schema)) for schema in (self._core, *facets)]
        )
        self._facets: dict[tuple[str, str], _Schema] = {}
        self._by_first_property: dict[str, list[_Schema]] = {}
        for schema in facets:
            self._by_first_property.setdefault(next(iter(schema["properties"])), []).append(schema)
            for name in schema.get("properties", {}):
                for entity in _entities(schema):
                    self._facets[entity, name] = schema

    def errors(self, event: Mapping[str, Any]) -> Iterator[str]:
        yield from self._against(self._core, event, "event")
        for entity, facets in _facets_of(event):
            for name, facet in facets.items():
                schema = self._facets.get((entity, name), self._facets.get((_ALSO_FOR.get((entity, name), ""), name)))
                if schema is None:
                    yield f"{entity} facet {name}: there is no schema"
                elif not _is_version_of(facet["_schemaURL"].partition("#")[0], schema["$id"]):
                    yield f"{entity} facet {name}: says it follows {facet['_schemaURL']}, not {schema['$id']}"
                else:
                    yield from self._against(schema, {name: facet}, f"{entity} facet")

    def errors_upstream(self, event: Mapping[str, Any]) -> Iterator[str]:
        """What OpenLineage's compatibility tests would find, whichever schema they happen to keep of one facet name.

        They know a facet by its name alone, so `tags` of a run may be held against the schema of a dataset's.
        """
        yield from self._against(self._core, event, "event")
        for _, facets in _facets_of(event):
            for name, facet in facets.items():
                schemas = self._by_first_property.get(name)
                if schemas is None:
                    yield f"facet {name} is not recognized"
                for schema in schemas or ():
                    yield from self._against(schema, {name: facet}, "facet")

    def _against(self, schema: _Schema, instance: object, where: str) -> Iterator[str]:
        validator = Draft202012Validator(
            schema, registry=self._registry, format_checker=Draft202012Validator.FORMAT_CHECKER
        )
        for error in validator.iter_errors(instance):
            yield f"{where} {error.json_path}: {error.message}"


def _is_version_of(said: str, known: str) -> bool:
    """Whether an event follows the schema at hand, or a version of it that changed no meaning."""
    return _VERSION.sub(r"/\1/", said) == _VERSION.sub(r"/\1/", known)


def _read(path: Path) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def _entities(schema: _Schema) -> Iterator[str]:
    """Which entities a facet's schema is for: the core facets that its definitions build on."""
    text = json.dumps(schema)
    for entity in ("Run", "Job", "Dataset", "InputDataset", "OutputDataset"):
        if f"OpenLineage.json#/$defs/{entity}Facet" in text:
            yield entity


def _facets_of(event: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "Run", event["run"]["facets"]
    yield "Job", event["job"]["facets"]
    for entity, key, own in (("InputDataset", "inputs", "inputFacets"), ("OutputDataset", "outputs", "outputFacets")):
        for dataset in event[key]:
            yield "Dataset", dataset["facets"]
            yield entity, dataset[own]
