"""What the server refuses, in the words and with the status codes of Marquez."""

from collections.abc import Sequence

from lineage_assets.errors import LineageAssetsError


class RefusedRequestError(LineageAssetsError):
    """A request that gets a status of 400 or above; ``answer`` is the body."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        self.answer: dict[str, object] = {"code": status, "message": message}
        super().__init__(message)


class InvalidRequestError(RefusedRequestError):
    """A request with faults that are listed."""

    def __init__(self, status: int, faults: Sequence[str]) -> None:
        super().__init__(status, "; ".join(faults))
        self.answer = {"errors": sorted(faults)}


def not_found(what: str, name: str) -> RefusedRequestError:
    return RefusedRequestError(404, f"{what} '{name}' not found.")


def no_such_path() -> RefusedRequestError:
    return RefusedRequestError(404, "HTTP 404 Not Found")
