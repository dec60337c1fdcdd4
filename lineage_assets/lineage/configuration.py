"""The configuration of lineage as OpenLineage has it: a file, the variables OPENLINEAGE__*, OPENLINEAGE_URL.

Merged as OpenLineage's client does it, but without its writing to the environment and without its silence about
mistakes. Knows where each key came from, and no kind of receiver.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lineage_assets.errors import LineageAssetsError
from lineage_assets.redaction import MASK, Secrets, is_secret_name, redact_text
from lineage_assets.settings import Settings, openlineage_files

_PREFIX = "OPENLINEAGE__"
_BY_URL = "default_http"
"""What OpenLineage's client calls the receiver of OPENLINEAGE_URL among several."""


class ReceiverConfigurationError(LineageAssetsError):
    """The receiver of lineage is configured in a way that cannot be meant."""

    def __init__(self, place: str, key: str, value: object, reason: str) -> None:
        self.place = place
        self.key = key
        self.value = MASK if is_secret_name(key) else redact_text(str(value))
        self.reason = redact_text(reason)
        named = f'{key}="{self.value}" in {place}' if key else place
        self.told = f"{named}: {self.reason}"
        """What is wrong, in one line."""
        end = "" if self.told.endswith(("?", ".")) else "."
        super().__init__(
            f"The receiver of lineage cannot be used: {self.told}{end} Mend it or take it out; until then events stay "
            "on record in Dagster's event log."
        )


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping of the configuration, and where it stands."""

    options: Mapping[str, Any] = field(repr=False)
    path: tuple[str, ...]
    place: str

    def get(self, *names: str) -> Any:  # noqa: ANN401 - whatever YAML holds
        """The value under the first of these spellings that is there, else None."""
        return next((self.options[name] for name in names if self.options.get(name) is not None), None)

    def text(self, *names: str) -> str | None:
        value = self.get(*names)
        if value is None or isinstance(value, str):
            return value
        raise self.refused(names[0], value, "it is no text")

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.get(name)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        raise self.refused(name, value, "it is neither true nor false")

    def section(self, *names: str) -> Section | None:
        value = self.get(*names)
        if value is None:
            return None
        if isinstance(value, Mapping):
            return Section(value, (*self.path, names[0]), self.place)
        raise self.refused(names[0], value, "it holds no keys and values")

    def refused(self, key: str, value: object, reason: str) -> ReceiverConfigurationError:
        return ReceiverConfigurationError(self.place, ".".join((*self.path, key)), value, reason)

    def secrets(self) -> Secrets:
        """What stands here under the name of a secret."""
        return Secrets.of(_secret_values(self.options, is_secret=False))


def read_configuration(settings: Settings) -> Section | None:
    """The section `transport`, as the settings and files have it now; None where nothing is configured.

    The file comes before the variables OPENLINEAGE__*, and these before OPENLINEAGE_URL: that is OpenLineage's order.
    """
    file = _file(settings)
    in_file = {} if file is None else _read(file)
    variables = {name: value.get_secret_value() for name, value in settings.openlineage_nested.items()}
    merged = _merged(_nested(variables), in_file)
    place = f"the file {file}" if "transport" in in_file else f"the variables {_PREFIX}TRANSPORT__*"
    transport = Section(merged, (), place).section("transport")
    by_url = _by_url(settings)
    if transport is None or not transport.options:
        return None if by_url is None else Section(by_url, (), "OPENLINEAGE_URL and its like")
    return Section({**transport.options, **_completed(transport.options, by_url)}, transport.path, place)


def _file(settings: Settings) -> Path | None:
    named = settings.openlineage_config
    if named is None:
        return next((path for path in openlineage_files() if path.is_file()), None)
    if not named.exists() or named.is_dir():
        raise ReceiverConfigurationError("the environment", "OPENLINEAGE_CONFIG", named, "there is no such file")
    return named


def _read(file: Path) -> Mapping[str, Any]:
    try:
        read = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:  # its text shows the lines around, and these may hold a key
        line = "" if error.problem_mark is None else f" in line {error.problem_mark.line + 1}"
        raise ReceiverConfigurationError(f"the file {file}", "", "", f"no YAML, {error.problem}{line}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no YAML in UTF-8"
        raise ReceiverConfigurationError(f"the file {file}", "", "", str(reason)) from None
    if read is None:
        return {}
    if not isinstance(read, Mapping):
        raise ReceiverConfigurationError(f"the file {file}", "", "", "it holds no keys and values")
    return read


def _nested(variables: Mapping[str, str]) -> dict[str, Any]:
    """The tree that `OPENLINEAGE__TRANSPORT__TYPE` and its like spell; a shorter name overrules longer ones."""
    tree: dict[str, Any] = {}
    for name in sorted(variables, reverse=True):
        *above, last = name.removeprefix(_PREFIX).lower().split("__")
        inner = tree
        for key in above:
            inner = inner.setdefault(key, {})
        inner[last] = variables[name] if is_secret_name(last) else _as_json(variables[name])
    return tree


def _as_json(value: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return json.loads(value)
    except ValueError:
        return value


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(below, value) if both and below is not None else value
    return merged


def _by_url(settings: Settings) -> dict[str, Any] | None:
    if settings.openlineage_url is None:
        return None
    named: dict[str, Any] = {"type": "http", "url": settings.openlineage_url}
    if settings.openlineage_endpoint is not None:
        named["endpoint"] = settings.openlineage_endpoint
    if settings.lineage_key is not None:
        named["auth"] = {"type": "api_key", "apiKey": settings.lineage_key}
    return named


def _completed(options: Mapping[str, Any], by_url: Mapping[str, Any] | None) -> dict[str, Any]:
    """What OPENLINEAGE_URL adds to a configuration that says no address itself."""
    if by_url is None:
        return {}
    if options.get("type") == "composite":
        members = options.get("transports", {})
        return {"transports": {_BY_URL: by_url, **members}} if isinstance(members, Mapping) else {}
    if options.get("type") in ("http", "async_http") and "url" not in options:
        return {key: value for key, value in by_url.items() if key not in options}
    return {}


def _secret_values(value: Any, *, is_secret: bool) -> Iterator[str]:  # noqa: ANN401 - whatever YAML holds
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _secret_values(item, is_secret=is_secret or is_secret_name(str(key)))
    elif isinstance(value, list):
        for item in value:
            yield from _secret_values(item, is_secret=is_secret)
    elif is_secret:
        yield str(value)
