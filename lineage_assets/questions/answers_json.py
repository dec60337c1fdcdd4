"""The answers as JSON: what `--json` prints, one object a question. Pure.

`why` names each version once, under `versions`; everything else refers to it by id, so no diamond is told twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from lineage_assets.graph import name_of
from lineage_assets.partitions import ranges_text
from lineage_assets.questions.foreign import ForeignJob
from lineage_assets.questions.history import Comparison, PartitionHistory, Tell
from lineage_assets.questions.impact import Impact, Reader
from lineage_assets.questions.known import Known
from lineage_assets.questions.spelled import (
    Json,
    cause_json,
    inputs_json,
    question_json,
    ref_json,
    source_json,
    time_json,
    unanswered_json,
    verdict_json,
)
from lineage_assets.questions.standing import CodeDiffers, Difference, Root
from lineage_assets.questions.trace import Made, Trace, version_id
from lineage_assets.questions.why import Why


def why_json(answer: Why) -> Json:
    known, data = answer.known, tuple(answer.data)
    quarantine = answer.quarantine
    return {
        **question_json("why", known, name_of(answer.ref.asset), answer.ref.partition),
        "standing": answer.standing.value,
        "newest_verdict": None if answer.verdict is None else verdict_json(known, answer.verdict),
        "data": version_id(data[0].verdict.record) if data else None,
        "confirmed_by": None if answer.confirmed is None else verdict_json(known, answer.confirmed),
        "versions": [_made_json(known, answer.data, made) for made in data],
        "is_cut": answer.is_cut,
        "roots": [_root_json(root) for root in answer.roots],
        "quarantine": None if quarantine is None else {"branch": quarantine.branch, "table": quarantine.table},
        "runs_without_verdict": [unanswered_json(run) for run in answer.runs],
        "differences": [_difference_json(one) for one in answer.differences],
        "stale_inputs": [ref_json(one) for one in answer.stale],
        "suspects": [{**ref_json(one.ref), "reason": one.reason} for one in answer.suspects],
        "next": list(answer.commands),
    }


def _made_json(known: Known, data: Trace, made: Made) -> Json:
    reads = [
        {
            **ref_json(read.ref),
            "data_version": read.version,
            "found": read.found.value,
            "id": None if read.made is None else version_id(data.made[read.made].verdict.record),
            "published_version": read.now,
            "is_superseded": read.is_superseded,
        }
        for read in made.reads
    ]
    return {**verdict_json(known, made.verdict), "verdicts": made.verdict_count, "reads": reads}


def _root_json(root: Root) -> Json:
    return {**ref_json(root.ref), "state": root.state, "cause": cause_json(root.cause), "run": root.run_id}


def _difference_json(one: Difference) -> Json:
    if isinstance(one, CodeDiffers):
        return {"what": "code", "read": one.read, "now": one.now}
    return {"what": "input", **ref_json(one.ref), "read": one.read, "now": one.now, "run": one.run_id}


def impact_json(answer: Impact, foreign: Sequence[ForeignJob] | None) -> Json:
    """`foreign_jobs` is null where no lineage server answered."""
    asset = name_of(answer.asset)
    return {
        **question_json("impact", answer.known, asset, ranges_text(answer.partitions)),
        "readers": [_reader_json(answer.known, reader) for reader in answer.readers],
        "roots": [_root_json(root) for root in answer.roots],
        "next": list(answer.commands),
        "foreign_jobs": None if foreign is None else [_foreign_json(job) for job in foreign],
    }


def _reader_json(known: Known, reader: Reader) -> Json:
    last = reader.newest
    return {
        **ref_json(reader.ref),
        "effect": reader.effect.value,
        "distance": reader.distance,
        "data": None if reader.consumed is None else verdict_json(known, reader.consumed),
        "reads": [
            {**ref_json(one.ref), "data_version": one.version, "published_version": one.now} for one in reader.reads
        ],
        "newest_verdict": None if last is None else {"state": last.record.state.value, "run": last.record.run_id},
        "cause": None if last is None else cause_json(last.record.cause),
        "earlier": [verdict_json(known, one) for one in reader.earlier],
    }


def _foreign_json(job: ForeignJob) -> Json:
    return {
        "namespace": job.namespace,
        "name": job.name,
        "owners": list(job.owners),
        "reads": [{"namespace": namespace, "name": name} for namespace, name in job.reads],
        "newest_run": None
        if job.run_id is None
        else {"id": job.run_id, "state": job.state, "at": None if job.at is None else time_json(job.at)},
    }


def history_json(answer: PartitionHistory) -> Json:
    return {
        **question_json("history", answer.known, name_of(answer.ref.asset), answer.ref.partition),
        "attempts": [_tell_json(answer.known, tell) for tell in answer.tells],
        "comparisons": [_comparison_json(one) for one in answer.comparisons],
    }


def _tell_json(known: Known, tell: Tell) -> Json:
    """An attempt of ours with a verdict, one without, or somebody else's materialization; the other two are null."""
    verdict = tell.verdict
    return {
        "number": tell.number,
        "at": time_json(tell.at),
        "verdict": None
        if verdict is None
        else {**verdict_json(known, verdict), "inputs": inputs_json(verdict.record.inputs)},
        "run_without_verdict": None if tell.unanswered is None else unanswered_json(tell.unanswered),
        "materialized_by": None if tell.stranger is None else tell.stranger.run_id,
        "source": source_json(tell.source),
        "columns": None
        if tell.dataset is None
        else [{"name": column.name, "type": column.type} for column in tell.dataset.fields],
    }


def _comparison_json(one: Comparison) -> Json:
    return {
        "before": one.before,
        "after": one.after,
        "changed": [{"what": each.what, "before": each.before, "after": each.after} for each in one.changed],
        "inputs": [{**ref_json(each.ref), "before": each.before, "after": each.after} for each in one.inputs],
        "source_diff": list(one.source_diff),
    }
