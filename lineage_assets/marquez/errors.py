"""Refusals of this room: a lineage server that cannot be started, reached or asked."""

from pathlib import Path

from lineage_assets.errors import LineageAssetsError
from lineage_assets.redaction import redact_text


class PortTakenError(LineageAssetsError):
    """The embedded server was to listen on a port that is in use."""

    def __init__(self, port: int) -> None:
        self.port = port
        super().__init__(
            f"The embedded lineage server cannot listen on port {port}: it is in use. "
            "Name another one with --port, or leave it out to get a free one."
        )


class OtherPortError(LineageAssetsError):
    """The server is up already, on another port than asked for."""

    def __init__(self, url: str, port: int) -> None:
        self.url = url
        self.port = port
        super().__init__(
            f"The embedded lineage server is up at {url}, not on port {port}. "
            "Use that one, or run `lineage-assets marquez down` first."
        )


class OtherServerError(LineageAssetsError):
    """The state folder has a lineage server already, of another kind than asked for."""

    def __init__(self, url: str, found: str, asked: str) -> None:
        self.url = url
        super().__init__(
            f"The lineage server of this state folder is {found} at {url}; {asked} was asked for. "
            "Use that one, or run `lineage-assets marquez down` first; what it holds is kept."
        )


class DockerMissingError(LineageAssetsError):
    """There is no docker command here."""

    def __init__(self) -> None:
        super().__init__(
            "Marquez's official images need Docker, and there is no command `docker` on PATH. "
            "Install Docker, or run `lineage-assets marquez up` for the embedded server, which needs nothing."
        )


class DockerRefusedError(LineageAssetsError):
    """The docker command did not do what it was asked."""

    def __init__(self, command: str, said: str, mend: str) -> None:
        self.command = command
        self.said = said
        words = said or "it said nothing"
        super().__init__(f"`{command}` failed: {words if words.endswith('?') else f'{words}.'} {mend}")


class ServerBusyError(LineageAssetsError):
    """Somebody else starts or stops the server and does not get done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(
            f"Another process has been starting or stopping the lineage server in {folder} for too long. "
            "Try again; if it stays so, end that process."
        )


class ServerDidNotStartError(LineageAssetsError):
    """The embedded server ended, or said nothing, before it answered."""

    def __init__(self, log: Path, last_words: str) -> None:
        self.log = log
        self.last_words = last_words
        said = f" Its last words: {last_words}" if last_words else ""
        super().__init__(f"The embedded lineage server did not start; its log is {log}.{said}")


class ServerDidNotStopError(LineageAssetsError):
    """The embedded server was killed and is still there."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        super().__init__(
            f"The embedded lineage server, process {pid}, does not end, not even when it is killed: "
            "it waits for its disk, or belongs to another user. Look at that, and give the command again."
        )


class MarquezUnreachableError(LineageAssetsError):
    """No answer from the lineage server."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = redact_text(url)
        self.reason = redact_text(reason)
        super().__init__(
            f"No lineage server answers at {self.url}: {self.reason}. "
            "Start one with `lineage-assets marquez up`, or set OPENLINEAGE_URL to one that runs."
        )


class MarquezRefusedError(LineageAssetsError):
    """The lineage server answered with an error."""

    def __init__(self, request: str, status: int, answer: str) -> None:
        self.request = redact_text(request)
        self.status = status
        self.answer = redact_text(answer)
        super().__init__(f"The lineage server answered {status} to {self.request}: {self.answer}")


class NotInMarquezError(MarquezRefusedError):
    """The lineage server does not know what was asked for."""


class NotMarquezError(LineageAssetsError):
    """Something answers, and not as Marquez does."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = redact_text(url)
        self.reason = redact_text(reason)
        super().__init__(
            f"What answers at {self.url} is no Marquez: {self.reason}. Point OPENLINEAGE_URL to one; "
            "another OpenLineage receiver takes events, but cannot be asked."
        )
