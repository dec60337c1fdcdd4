"""A receiver behind an address, as OpenLineage's configuration describes it: endpoint, key or token, headers, TLS.

Reads values and looks whether files are there; opens no connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from lineage_assets.lineage.configuration import Section
from lineage_assets.settings import DEFAULT_ENDPOINT


@dataclass(frozen=True, slots=True)
class Tls:
    """Whom to believe, and what to show of oneself."""

    verify: bool = True
    authorities: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class HttpReceiver:
    """An OpenLineage receiver behind an address: Marquez, the embedded server, any other."""

    url: str = field(repr=False)
    """It may have a password in it."""
    api_key: SecretStr | None = None
    endpoint: str = DEFAULT_ENDPOINT
    tokens: Mapping[str, Any] | None = field(default=None, repr=False)
    """How to come by a bearer token, in OpenLineage's words (`jwt`, `oauth2`, a class), where there is no key."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tls: Tls = Tls()
    timeout_seconds: float = 10.0
    is_compressed: bool = False


def http_receiver(section: Section) -> HttpReceiver:
    """The receiver that a transport `http` describes."""
    url = section.text("url")
    if url is None or not _is_address(url):
        raise section.refused("url", "" if url is None else url, "it is no http:// or https:// address")
    timeout = section.get("timeout")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or timeout <= 0):
        raise section.refused("timeout", timeout, "it is no number of seconds above 0")
    compression = section.text("compression")
    if compression not in (None, "gzip"):
        raise section.refused("compression", compression, "only gzip is known")
    endpoint = section.text("endpoint")
    default = HttpReceiver(url.rstrip("/"))
    key, tokens = _auth(section)
    return HttpReceiver(
        default.url,
        key,
        default.endpoint if endpoint is None else endpoint.strip("/"),
        tokens,
        _headers(section),
        _tls(section),
        default.timeout_seconds if timeout is None else float(timeout),
        compression is not None,
    )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False


def _auth(section: Section) -> tuple[SecretStr | None, Mapping[str, Any] | None]:
    auth = section.section("auth")
    if auth is None or not auth.options:
        return None, None
    kind = auth.text("type")
    if kind is None:
        raise auth.refused("type", "", "it says how a key is used: api_key, jwt, oauth2, or a class")
    if kind != "api_key":
        if kind not in ("jwt", "oauth2") and "." not in kind:
            raise auth.refused("type", kind, "only api_key, jwt, oauth2 and classes are known")
        return None, auth.options
    key = auth.get("apiKey", "apikey", "api_key")
    if key is None:
        raise auth.refused("apiKey", "", "there is no key")
    return SecretStr(_header(auth, "apiKey", key)), None


def _headers(section: Section) -> dict[str, str]:
    given = section.section("custom_headers", "customHeaders", "headers")
    if given is None:
        return {}
    return {_header(given, "name", name): _header(given, str(name), value) for name, value in given.options.items()}


def _header(section: Section, key: str, value: object) -> str:
    """The value as a header holds it; a line's end at the end of a key is what a file or an editor left there."""
    text = str(value).strip()
    if not (text.isascii() and text.isprintable()):
        raise section.refused(key, value, "no header can hold it; only ASCII without control characters")
    return text


def _tls(section: Section) -> Tls:
    verify = section.flag("verify", default=True)
    given = section.section("sslContext", "ssl_context", "sslcontext")
    if given is None:
        return Tls(verify)
    names = (
        ("caCertPath", "ca_cert_path"),
        ("clientCertPath", "client_cert_path"),
        ("clientKeyPath", "client_key_path"),
    )
    paths = [_path(given, *spelled, spelled[0].lower()) for spelled in names]
    if paths[2] is not None and paths[1] is None:
        raise given.refused("clientKeyPath", paths[2], "a key is of no use without clientCertPath")
    return Tls(verify, *paths)


def _path(section: Section, *names: str) -> Path | None:
    text = section.text(*names)
    if text is None:
        return None
    path = Path(text).expanduser()
    if not path.is_file():
        raise section.refused(names[0], text, "there is no such file")
    return path
