"""What a publish leaves in the summary of its commit, as text: small, since a table keeps every summary for long.

From it a driver that finds its work done gives the report that the first one would have given. A partition is a list
`[published, rows, fingerprint, size, files]` with an object behind where there is more to say; what follows from these
and from the checks of the output, which are kept once, is not kept. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lineage_assets.spark.program import Output
from lineage_assets.spark.report import Assertion, Observed, PartitionReport, Pinned

TOKEN = "lineage_assets.token"  # noqa: S105 - no secret, the unit that published
"""In the summary of a snapshot: which unit published it."""

RECORDS = "lineage_assets.records"
"""In the same summary: what came of each partition, published or not."""

CHECKS = "lineage_assets.checks"
"""In the same summary: what the audit asked of every partition."""

INPUTS = "lineage_assets.inputs"
"""In the same summary: input asset to the snapshots it was read at."""

OBSERVED = "lineage_assets.observed"
"""In the same summary: what Spark's listener told of this output."""

STAGED = "lineage_assets.staged"
"""In the summary of a staged snapshot: the token."""

_MORE = ("cause", "message", "warning")

Packed = list[Any]
"""One partition."""


@dataclass(frozen=True)
class Checks:
    """What the audit asks of every partition of an output."""

    min_rows: int = 0
    required: tuple[str, ...] = ()
    key: tuple[str, ...] = ()

    @classmethod
    def of(cls, output: Output) -> Checks:
        return cls(output.min_rows, output.required, output.key)

    def assertions(self, rows: int, nulls: Mapping[str, int], keys: int | None) -> tuple[Assertion, ...]:
        """What was asked of a partition with so many rows, nulls by column and different keys, and what was seen."""
        told = []
        if self.min_rows:
            told.append(_assertion("row_count", None, f">= {self.min_rows}", rows, success=rows >= self.min_rows))
        told += [_assertion("not_null", name, "0", nulls[name], success=not nulls[name]) for name in self.required]
        if keys is not None:
            is_one = len(self.key) == 1
            kind = "unique" if is_one else f"unique({', '.join(self.key)})"
            told.append(_assertion(kind, self.key[0] if is_one else None, str(rows), keys, success=keys >= rows))
        return tuple(told)


def records_text(reports: Mapping[str, PartitionReport]) -> str:
    return _text({day: _packed(report) for day, report in reports.items()})


def checks_text(output: Output) -> str:
    return _text([output.min_rows, output.required, output.key])


def inputs_text(inputs: Mapping[str, Pinned]) -> str:
    return _text({asset: [one.base, one.apart] if one.apart else one.base for asset, one in inputs.items()})


def observed_text(observed: Observed) -> str:
    return _text(observed.to_json())


def parse_records(summary: Mapping[str, str]) -> dict[str, Packed]:
    """What came of each partition; none of a commit that is not ours."""
    read: dict[str, Any] = json.loads(summary.get(RECORDS, "{}"))
    return {day: _packed_anew(one) if isinstance(one, dict) else one for day, one in read.items()}


def parse_inputs(summary: Mapping[str, str]) -> dict[str, Pinned]:
    read = json.loads(summary[INPUTS])
    return {asset: Pinned(*one) if isinstance(one, list) else Pinned(one) for asset, one in read.items()}


def parse_observed(summary: Mapping[str, str]) -> Observed:
    return Observed.from_json(json.loads(summary.get(OBSERVED, "{}")))


def parse_reports(summary: Mapping[str, str]) -> dict[str, PartitionReport]:
    """The reports that `records_text` packed."""
    min_rows, required, key = json.loads(summary.get(CHECKS, "[0, [], []]"))
    checks = Checks(min_rows, tuple(required), tuple(key))
    return {day: _unpacked(packed, checks) for day, packed in parse_records(summary).items()}


def is_published(packed: Packed) -> bool:
    return bool(packed[0])


def fingerprint_of(packed: Packed) -> str | None:
    found: str | None = packed[2]
    return found


def _packed(report: PartitionReport) -> Packed:
    more: dict[str, Any] = {name: value for name in _MORE if (value := getattr(report, name)) is not None}
    nulls = {name: count for name, count in report.nulls.items() if count}
    if nulls:
        more["nulls"] = nulls
    repeated = next((one for one in report.assertions if _is_repeated_key(one)), None)
    if repeated is not None:
        more["keys"] = int(str(repeated.actual))
    told = [int(report.published), report.rows, report.fingerprint, report.size_bytes, report.files]
    return [*told, more] if more else told


def _packed_anew(record: Mapping[str, Any]) -> Packed:
    """A partition as protocol 1 kept it: tables outlive versions of this package."""
    more = {name: record[name] for name in _MORE if name in record}
    return [int(record["published"]), record.get("rows", 0), record.get("fingerprint"), None, None, more]


def _unpacked(packed: Packed, checks: Checks) -> PartitionReport:
    published, rows, fingerprint, size_bytes, files, *rest = packed
    more: dict[str, Any] = rest[0] if rest else {}
    nulls = {name: more.get("nulls", {}).get(name, 0) for name in checks.required}
    keys = more.get("keys", rows) if checks.key else None
    return PartitionReport(
        published=bool(published),
        **{name: more.get(name) for name in _MORE},
        rows=rows,
        fingerprint=fingerprint,
        size_bytes=size_bytes,
        files=files,
        nulls=nulls,
        assertions=checks.assertions(rows, nulls, keys),
    )


def _is_repeated_key(assertion: Assertion) -> bool:
    return assertion.kind.startswith("unique") and not assertion.success


def _assertion(kind: str, column: str | None, expected: str, actual: int, *, success: bool) -> Assertion:
    return Assertion(kind, success, column, expected, str(actual))


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
