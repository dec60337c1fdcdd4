"""Our own run facets, as classes of the OpenLineage client; their schemas are in `lineage/schemas/`."""

from __future__ import annotations

from typing import Any

import attr
from openlineage.client.facet_v2 import RunFacet

from lineage_assets.lineage.facets import SCHEMAS


def _schema(name: str) -> str:
    return f"{SCHEMAS}/{name}.json#/$defs/{name}"


@attr.define
class LineageAssetsAttemptRunFacet(RunFacet):
    dagsterRunId: str  # noqa: N815 - OpenLineage's spelling, here and below
    assetKeys: list[list[str]]  # noqa: N815
    attempt: int
    codeVersion: str  # noqa: N815
    partition: str | None = None
    partitions: dict[str, str] | None = None
    applicationId: str | None = None  # noqa: N815
    drift: list[str] | None = None

    @staticmethod
    def _get_schema() -> str:
        return _schema("LineageAssetsAttemptRunFacet")


@attr.define
class LineageAssetsBackfillRunFacet(RunFacet):
    id: str
    run: dict[str, str]
    requestedBy: str | None = None  # noqa: N815
    reason: str | None = None
    plan: dict[str, str | int] | None = None
    estimateSeconds: float | None = None  # noqa: N815
    result: dict[str, int] | None = None

    @staticmethod
    def _get_schema() -> str:
        return _schema("LineageAssetsBackfillRunFacet")


@attr.define
class LineageAssetsBlockRunFacet(RunFacet):
    kind: str
    cause: str
    blockedBy: list[dict[str, Any]]  # noqa: N815
    blockedByCount: int  # noqa: N815

    @staticmethod
    def _get_schema() -> str:
        return _schema("LineageAssetsBlockRunFacet")


@attr.define
class LineageAssetsReuseRunFacet(RunFacet):
    made: list[dict[str, Any]]
    madeCount: int  # noqa: N815

    @staticmethod
    def _get_schema() -> str:
        return _schema("LineageAssetsReuseRunFacet")
