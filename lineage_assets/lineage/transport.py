"""How one event gets to a receiver: over HTTP, one connection kept open.

Tries once and says what came of it; knows no queue and no second try.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Protocol

import httpx

from lineage_assets.errors import LineageAssetsError

_PATH = "/api/v1/lineage"
_TIMEOUT = httpx.Timeout(10.0, connect=2.0)
_TOO_MANY_REQUESTS = 429
_SERVER_ERRORS = 500
_BAD_REQUEST = 400


class UndeliveredError(LineageAssetsError):
    """An event did not arrive, or nobody knows whether it did; another try may do."""

    def __init__(self, url: str, reason: str, *, is_answer: bool) -> None:
        self.url = url
        self.reason = reason
        self.is_answer = is_answer
        """The receiver answered, and said that it cannot now."""
        super().__init__(f"{url} did not take the event: {reason}. It is sent again by itself.")


class RejectedError(LineageAssetsError):
    """The receiver refuses the event, now and for ever."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        self.reason = reason
        super().__init__(f"{url} refuses the event: {reason}. Check OPENLINEAGE_URL and OPENLINEAGE_API_KEY.")


class Transport(Protocol):
    """What carries events away: HTTP here; a file or a message queue could take its place."""

    def emit(self, body: str) -> None:
        """Deliver one event, or raise `UndeliveredError` or `RejectedError`."""

    def close(self) -> None: ...


class HttpTransport:
    """POST to an OpenLineage receiver."""

    def __init__(self, url: str, api_key: str | None = None) -> None:
        self.url = url
        headers = {"Content-Type": "application/json"}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        # A proxy for the world outside is none for this machine.
        self._client = httpx.Client(headers=headers, timeout=_TIMEOUT, trust_env=not _is_this_machine(url))

    def emit(self, body: str) -> None:
        try:
            answer = self._client.post(f"{self.url}{_PATH}", content=body)
        except httpx.HTTPError as error:
            raise UndeliveredError(self.url, str(error) or type(error).__name__, is_answer=False) from error
        if answer.is_success:
            return
        reason = f"HTTP {answer.status_code}"
        if _may_come_right(answer):
            raise UndeliveredError(self.url, reason, is_answer=True)
        raise RejectedError(self.url, reason)

    def close(self) -> None:
        self._client.close()


def _may_come_right(answer: httpx.Response) -> bool:
    if answer.status_code == _TOO_MANY_REQUESTS:
        return True
    # Marquez answers 500 to JSON that it cannot read, and says 400 inside: that stays as it is.
    return answer.status_code >= _SERVER_ERRORS and _code_inside(answer) != _BAD_REQUEST


def _code_inside(answer: httpx.Response) -> int | None:
    try:
        told = answer.json()
    except ValueError:
        return None  # an HTML page, as Marquez sends for some errors
    code = told.get("code") if isinstance(told, dict) else None
    return code if isinstance(code, int) else None


def _is_this_machine(url: str) -> bool:
    host = httpx.URL(url).host
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
