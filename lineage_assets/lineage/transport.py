"""How one event gets to a receiver: over HTTP, one connection kept open.

Tries once and says what came of it; knows no queue and no second try.
"""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Callable
from ipaddress import ip_address
from typing import Protocol

import httpx

from lineage_assets.errors import LineageAssetsError
from lineage_assets.lineage.http_receiver import HttpReceiver, Tls
from lineage_assets.redaction import redact_text

_CONNECT_SECONDS = 2.0
_SERVER_ERRORS = 500
_BAD_REQUEST = 400
_OF_THE_WAY = frozenset({401, 403, 404, 407, 408, 429})
"""A key, an address, a proxy, a limit: what is wrong is the way there, and not the event."""


class UndeliveredError(LineageAssetsError):
    """An event did not arrive, or nobody knows whether it did; another try may do."""

    def __init__(self, url: str, reason: str, *, is_answer: bool) -> None:
        self.url = redact_text(url)
        self.reason = redact_text(reason)
        self.is_answer = is_answer
        """The receiver answered, and said that it cannot now."""
        super().__init__(f"{self.url} did not take the event: {self.reason}. It is sent again by itself.")


class RejectedError(LineageAssetsError):
    """The receiver refuses this very event, now and for ever."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = redact_text(url)
        self.reason = redact_text(reason)
        super().__init__(
            f"{self.url} refuses the event: {self.reason}. Once that is mended, `lineage-assets lineage replay` "
            "tells it again."
        )


class Transport(Protocol):
    """What carries events away: HTTP here, a file or a message queue in `client_transport`."""

    def emit(self, body: str) -> None:
        """Deliver one event, or raise `UndeliveredError` or `RejectedError`."""

    def close(self) -> None: ...


class HttpTransport:
    """POST to an OpenLineage receiver."""

    def __init__(self, receiver: HttpReceiver | str, bearer: Callable[[], str | None] | None = None) -> None:
        told = HttpReceiver(receiver) if isinstance(receiver, str) else receiver
        address = httpx.URL(f"{told.url}/{told.endpoint}")
        # Whoever logs requests, httpx itself among them, logs their addresses: the password does not stay in there.
        user = (address.username, address.password) if address.userinfo else None
        self._address = address.copy_with(username=None, password=None)
        self._key = None if told.api_key is None else told.api_key.get_secret_value()
        self._bearer = bearer
        """Fetches what to show instead of a key; whoever made it keeps it while it is good."""
        self._is_compressed = told.is_compressed
        headers = {"Content-Type": "application/json", **told.headers}
        if told.is_compressed:
            headers["Content-Encoding"] = "gzip"
        self._client = httpx.Client(
            headers=headers,
            auth=user,
            verify=_trust(told.tls),
            timeout=httpx.Timeout(told.timeout_seconds, connect=min(_CONNECT_SECONDS, told.timeout_seconds)),
            # A proxy for the world outside is none for this machine.
            trust_env=not _is_this_machine(address.host),
        )

    @property
    def url(self) -> str:
        """The address, without what must not be shown."""
        return redact_text(str(self._address))

    def emit(self, body: str) -> None:
        content = body.encode()
        if self._is_compressed:
            content = gzip.compress(content, mtime=0)
        try:
            answer = self._client.post(self._address, content=content, headers=self._authorization())
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

    def _authorization(self) -> dict[str, str]:
        if self._bearer is None:
            return {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        try:
            bearer = self._bearer()
        except Exception as error:
            raise UndeliveredError(self.url, f"no token for it: {error}", is_answer=False) from error
        return {} if bearer is None else {"Authorization": bearer}


def _trust(tls: Tls) -> ssl.SSLContext | bool:
    if tls.authorities is None and tls.certificate is None:
        return tls.verify
    context = ssl.create_default_context(cafile=tls.authorities)
    if not tls.verify and tls.authorities is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.certificate is not None:
        context.load_cert_chain(tls.certificate, tls.key)
    return context


def _may_come_right(answer: httpx.Response) -> bool:
    if answer.is_redirect or answer.status_code in _OF_THE_WAY:
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


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
