"""The parts of which the JSON of every answer is made: refs, records, versions. Pure; keys are never renamed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lineage_assets.graph import name_of
from lineage_assets.ledger.record import Cause, PartitionRecord, PartitionRef
from lineage_assets.ledger.scene import SourceCode
from lineage_assets.ledger.seen import Unanswered
from lineage_assets.questions.known import Known, Verdict
from lineage_assets.questions.trace import lineage_run_of, version_id

ANSWER_VERSION = 1
"""Rises when a key changes its meaning or goes; new keys may come at any time."""

Json = dict[str, Any]


def question_json(what: str, known: Known, asset: str, partitions: str) -> Json:
    return {
        "version": ANSWER_VERSION,
        "question": {"ask": what, "asset": asset, "partition": partitions, "at": time_json(known.at)},
        "began": None if known.began is None else time_json(known.began),
    }


def ref_json(ref: PartitionRef) -> Json:
    return {"asset": name_of(ref.asset), "partition": ref.partition}


def time_json(time: datetime) -> str:
    return time.isoformat()


def cause_json(cause: Cause | None) -> Json | None:
    return None if cause is None else {"kind": cause.kind, "message": cause.message}


def source_json(source: SourceCode | None) -> Json | None:
    """Where the code is kept; its text is in Marquez and in the diff of a comparison."""
    if source is None:
        return None
    return {name: getattr(source, name) for name in ("repository", "commit", "branch", "path")}


def verdict_json(known: Known, verdict: Verdict) -> Json:
    """A record with all that people ask of it, its inputs left out."""
    record = verdict.record
    lineage_run = lineage_run_of(known, verdict)
    return {
        "id": version_id(record),
        **ref_json(verdict.ref),
        "state": record.state.value,
        "recorded": time_json(verdict.seen.at),
        **_run_json(record),
        "backfill_reason": known.reason(record),
        "lineage_run": None if lineage_run is None else str(lineage_run),
        "code_version": record.code_version,
        "source": source_json(known.source(verdict)),
        "data_version": record.fingerprint,
        "snapshot": None if record.snapshot is None else str(record.snapshot),
        "rows": record.rows,
        "landing_version": record.landing,
        "checks": [_check_json(one) for one in record.assertions],
        "cause": cause_json(record.cause),
        "blocked_by": [ref_json(ref) for ref in record.blocked_by],
        "warning": record.warning,
        "drift": list(record.drift),
    }


def _run_json(record: PartitionRecord) -> Json:
    return {
        "run": record.run_id,
        "attempt": record.number,
        "backfill": record.backfill,
        "made_by": record.made_by,
        "started": time_json(record.started),
        "ended": time_json(record.ended),
        "spark_application": record.application_id,
    }


def _check_json(check: Any) -> Json:  # noqa: ANN401 - an assertion, spelled as it is
    names = ("kind", "success", "column", "expected", "actual")
    return {name: getattr(check, name) for name in names}


def inputs_json(inputs: Mapping[Any, Mapping[str, str | None]]) -> list[Json]:
    return [
        {**ref_json(PartitionRef(asset, partition)), "data_version": version}
        for asset, days in sorted(inputs.items())
        for partition, version in sorted(days.items())
    ]


def unanswered_json(run: Unanswered) -> Json:
    closing = run.closing
    return {
        "run": run.run_id,
        "asked": time_json(run.asked),
        "is_live": run.is_live,
        "status": run.status,
        "attempt": None if run.attempt is None else run.attempt.number,
        "backfill": None if run.attempt is None else run.attempt.backfill,
        "cause": None if closing is None else cause_json(closing.cause),
    }
