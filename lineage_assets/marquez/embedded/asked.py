"""A request as the reads of this server want it: names decoded, numbers checked.

Knows Marquez's rules for parameters and how it refuses them.
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote
from uuid import UUID

from starlette.requests import Request

from lineage_assets.marquez.embedded.instants import instant
from lineage_assets.marquez.embedded.refusals import InvalidRequestError, RefusedRequestError, no_such_path

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_ZONED = re.compile(_DAY.pattern + r"T\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2})")


class Asked:
    """The path and the query of one request."""

    def __init__(self, request: Request, now: int) -> None:
        self.now = now
        """When it came, in microseconds since 1970."""
        self._path = request.path_params
        self._query = request.query_params

    def name(self, part: str) -> str:
        """A part of the path; it may hold slashes, which came encoded."""
        return unquote(self._path[part])

    def id(self, part: str) -> str:
        return _uuid(self.name(part))

    def text(self, parameter: str, default: str = "") -> str:
        return self._query.get(parameter, default)

    def needed(self, parameter: str, fault: str = "null") -> str:
        value = self.text(parameter)
        if not value:
            raise InvalidRequestError(400, [f"query param {parameter} must not be {fault}"])
        return value

    def needed_id(self, parameter: str) -> str:
        return _uuid(self.needed(parameter))

    def number(self, parameter: str, default: int) -> int:
        asked = self.text(parameter, str(default))
        if not re.fullmatch(r"[+-]?\d{1,9}", asked):
            raise no_such_path()
        return int(asked)

    def page(self, limit: int = 100) -> tuple[int, int]:
        """Limit and offset."""
        asked = {"limit": self.number("limit", limit), "offset": self.number("offset", 0)}
        faults = [
            f"query param {name} must be greater than or equal to 0" for name, value in asked.items() if value < 0
        ]
        if faults:
            raise InvalidRequestError(400, faults)
        return asked["limit"], asked["offset"]

    def some_of(self, parameter: str, choices: Sequence[str]) -> Sequence[str]:
        """Those of the choices that were named, or all when none was."""
        chosen = [value.upper() for value in self._query.getlist(parameter)]
        if not set(chosen) <= set(choices):
            raise RefusedRequestError(400, f"query param {parameter} must be one of [{', '.join(choices)}]")
        return chosen or choices

    def one_of(self, parameter: str, choices: Sequence[str]) -> str:
        """The choice that was named, or the first of them."""
        return self.some_of(parameter, choices)[0]

    def instant(self, parameter: str, default: str) -> int:
        value = self.text(parameter, default)
        if not _ZONED.fullmatch(value):
            at = len(value) if _DAY.fullmatch(value) else 0
            raise RefusedRequestError(400, f"Parameter is invalid: Text '{value}' could not be parsed at index {at}")
        return instant(value)


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise no_such_path() from None
