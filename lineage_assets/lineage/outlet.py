"""The one door that events leave by: whatever receives them, secrets are masked on the way out and in what is said.

In-process sending and replay both open it, so that an event leaves as the same bytes whoever sends it.
"""

from __future__ import annotations

import ssl

from lineage_assets.lineage.client_transport import ClientTransport, token_source
from lineage_assets.lineage.composite import CompositeTransport
from lineage_assets.lineage.configuration import ReceiverConfigurationError, read_configuration
from lineage_assets.lineage.foreground import Audience
from lineage_assets.lineage.http_receiver import HttpReceiver
from lineage_assets.lineage.receiver import ClientReceiver, CompositeReceiver, Off, Receiver, find_receiver
from lineage_assets.lineage.transport import HttpTransport, RejectedError, Transport, UndeliveredError
from lineage_assets.redaction import Secrets
from lineage_assets.settings import Settings, secrets_of


class Outlet:
    """A transport behind which no secret is seen."""

    def __init__(self, transport: Transport, secrets: Secrets) -> None:
        self._transport = transport
        self._secrets = secrets

    def emit(self, body: str) -> None:
        try:
            self._transport.emit(self._secrets.body(body))
        except UndeliveredError as error:
            said = self._secrets.text(error.url), self._secrets.text(error.reason)
            raise UndeliveredError(*said, is_answer=error.is_answer) from None
        except RejectedError as error:
            raise RejectedError(self._secrets.text(error.url), self._secrets.text(error.reason)) from None
        except Exception as error:  # noqa: BLE001 - of a stranger's transport, too, nothing may come out unmasked
            # Whatever this is, it must not end the thread that carries all the other events.
            reason = self._secrets.text(f"{type(error).__name__}: {error}")
            raise UndeliveredError("the receiver", reason, is_answer=True) from None

    def close(self) -> None:
        self._transport.close()


def open_outlets(settings: Settings) -> tuple[Outlet, ...] | Off | None:
    """A door to each receiver that gets every event by itself; None when there is nobody.

    Raises `ReceiverConfigurationError`.
    """
    receiver = find_receiver(settings)
    if receiver is None or isinstance(receiver, Off):
        return receiver
    secrets = known_secrets(settings)
    return tuple(Outlet(transport, secrets) for transport in _transports(receiver))


def open_audience(settings: Settings) -> Audience | Off | None:
    """The same doors for who sends an event at a time and waits for it: a flush, a replay."""
    outlets = open_outlets(settings)
    return Audience(*outlets) if isinstance(outlets, tuple) else outlets


def known_secrets(settings: Settings) -> Secrets:
    """The secrets of the environment and of OpenLineage's configuration, by value."""
    secrets = secrets_of(settings)
    try:
        configured = read_configuration(settings)
    except ReceiverConfigurationError:
        return secrets  # whoever opens an outlet hears of it
    return secrets if configured is None else secrets | configured.secrets()


def _transports(receiver: Receiver) -> tuple[Transport, ...]:
    match receiver:
        case CompositeReceiver(members, True, True):
            return tuple(transport for member in members for transport in _transports(member))
        case _:
            return (_transport(receiver),)


def _transport(receiver: Receiver) -> Transport:
    match receiver:
        case HttpReceiver():
            return _http(receiver)
        case ClientReceiver():
            return ClientTransport(receiver)
        case CompositeReceiver(members, after_failure, after_success):
            inner = tuple(_transport(member) for member in members)
            return CompositeTransport(inner, until_first=not after_success, until_failure=not after_failure)
        case Off(reason):
            raise ValueError(reason)  # whoever is off is left out before


def _http(receiver: HttpReceiver) -> HttpTransport:
    tokens = receiver.tokens
    try:
        return HttpTransport(receiver, None if tokens is None else token_source(tokens, receiver.url))
    except (ssl.SSLError, OSError) as error:
        raise ReceiverConfigurationError(receiver.url, "sslContext", receiver.tls, str(error)) from None
