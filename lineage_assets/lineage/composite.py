"""Several transports as one, in OpenLineage's words: until one succeeds, or until one fails.

Each try goes only to those that have not taken the event, so that trying again doubles nothing.
"""

from __future__ import annotations

from lineage_assets.lineage.transport import RejectedError, Transport, UndeliveredError


class CompositeTransport:
    """Delivered when all have the event; with ``until_first``, when one has it."""

    def __init__(
        self, members: tuple[Transport, ...], *, until_first: bool = False, until_failure: bool = False
    ) -> None:
        self._members = members
        self._until_first = until_first
        self._until_failure = until_failure
        self._body: str | None = None
        self._took: set[int] = set()

    def emit(self, body: str) -> None:
        if body != self._body:
            self._body, self._took = body, set()
        failures: list[UndeliveredError | RejectedError] = []
        for number, member in enumerate(self._members):
            if number in self._took:
                continue
            try:
                member.emit(body)
            except (UndeliveredError, RejectedError) as error:
                failures.append(error)
                if self._until_failure:
                    break
            else:
                self._took.add(number)
                if self._until_first:
                    failures.clear()
                    break
        if failures:
            # As long as one of them may come right the event is not given up.
            raise next((one for one in failures if isinstance(one, UndeliveredError)), failures[0])
        self._body = None

    def close(self) -> None:
        for member in self._members:
            member.close()
