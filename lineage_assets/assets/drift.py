"""Where what Spark read and wrote is not what was declared: a sentence each, with the mend. Never silently believed.

Warns in the log of the run, once a program; refuses to fail anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dagster import AssetExecutionContext

from lineage_assets.assets.platform import Platform
from lineage_assets.graph import name_of
from lineage_assets.redaction import Secrets
from lineage_assets.spark.program import Output, Program
from lineage_assets.spark.report import Observed, Report

Names = Mapping[str, str]
"""Physical name to asset."""


def warned_drift(
    context: AssetExecutionContext, program: Program, report: Report, platform: Platform, secrets: Secrets
) -> tuple[str, ...]:
    """The drift of a program that ended well, after a warning in the log of its run."""
    tables = ((platform.table_of(asset), name_of(asset)) for asset in platform.graph.nodes)
    found = drift_of(program, report, {table: name for table, name in tables if table is not None})
    found = tuple(map(secrets.text, found))
    if found:
        context.log.warning("Declared and done differ: %s %s.", program.lineage.job, "; ".join(found))
    return found


def drift_of(program: Program, report: Report, names: Names) -> tuple[str, ...]:
    """The differences, unmasked; none where Spark's events are missing, or nothing was computed."""
    observed = report.observed
    if program.existing or observed.problem is not None:
        return ()
    return (
        *_undeclared(program, observed, names),
        *_unread(program, observed),
        *_unwritten(program, observed, names),
        *_elsewhen(program, report),
    )


def _undeclared(program: Program, observed: Observed, names: Names) -> Iterator[str]:
    declared = {read.table for read in program.tables} | {landing.root for landing in program.landings}
    for place in _places(observed.inputs, declared):
        mend = (
            f"declare {names[place]} in reads=…"
            if place in names
            else "declare it in reads=…, files as landing(…), a table by the asset that makes it"
        )
        yield f"reads {names.get(place, place)}, which is not declared: {mend}"


def _unread(program: Program, observed: Observed) -> Iterator[str]:
    # Of a job that was asked for, or did, a part of its work only nothing is known of what the rest reads.
    if not program.is_whole or not {_place_of(output) for output in program.outputs} <= set(observed.outputs):
        return
    declared = {read.parameter: (read.asset, read.table) for read in program.tables if read.window or read.is_whole}
    declared.update({read.parameter: (f"the landing files {read.root}", read.root) for read in program.landings})
    for parameter, (name, place) in sorted(declared.items()):
        if place not in observed.inputs:
            yield f"declares {name}, which it does not read: drop the parameter {parameter}"


def _unwritten(program: Program, observed: Observed, names: Names) -> Iterator[str]:
    declared = {place for output in program.outputs if (place := _place_of(output)) is not None}
    for place in _places(observed.outputs, declared):
        yield (
            f"writes {names.get(place, place)}, which is none of its outputs: "
            "return it as a declared output, or take the write out"
        )


def _elsewhen(program: Program, report: Report) -> Iterator[str]:
    """Inputs read at another snapshot than the one that the record names: past the frame that the job was given."""
    for read in program.tables:
        at = report.snapshots.get(read.asset)
        if at is None:
            continue
        others = set(report.observed.versions.get(read.table, ())) - {at.base, *at.apart.values()}
        if others:
            found = ", ".join(map(str, sorted(others)))
            yield f"reads {read.asset} at the snapshot {found} too: read it through the parameter {read.parameter} only"


def _places(found: tuple[str, ...], declared: set[str]) -> list[str]:
    """Where else; of files in partition folders the folder that holds these."""
    return sorted({name.partition("/ds=")[0] if "/" in name else name for name in found if name not in declared})


def _place_of(output: Output) -> str | None:
    return output.outbox if output.table is None else output.table
