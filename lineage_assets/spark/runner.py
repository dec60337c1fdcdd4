"""The runner: one program, from its verified code to its report, in the order in which things happen.

The same on a laptop and on a cluster; refuses to know who asked and where the report goes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lineage_assets.spark.cancellation import stop_if_cancelled
from lineage_assets.spark.code import load_job
from lineage_assets.spark.contract import BrokenContract, broken_contract, contracted
from lineage_assets.spark.existing import audit_existing
from lineage_assets.spark.external import locations
from lineage_assets.spark.inputs import changed_landings, pinned, read_landing, read_table, target_frame
from lineage_assets.spark.listener import Heard, listening
from lineage_assets.spark.observed import fold_events
from lineage_assets.spark.outbox import OutboxPlace
from lineage_assets.spark.place import Adopted, Place, Staged
from lineage_assets.spark.program import Output, Program
from lineage_assets.spark.refusal import NoPlaceError, RowsOutsideError, WrongResultError
from lineage_assets.spark.report import Observed, PartitionReport, Pinned, Report
from lineage_assets.spark.session import hold
from lineage_assets.spark.staging import prepared_table
from lineage_assets.spark.summary import INPUTS, OBSERVED, inputs_text, observed_text


def run(spark: SparkSession, program: Program, *, events_file: Path) -> Report:
    """Run the program and say what came of every partition; raises when nothing of it may be published.

    Good partitions are published even when others are bad. Run again with the same token after a kill, it reports what
    was published before the kill and computes only the other outputs.
    """
    hold(spark)
    if program.existing:
        return audit_existing(spark, program)
    job = load_job(program)
    seconds: dict[str, float] = {}
    with _timed(seconds, "read"):
        places = [_place(spark, output, program) for output in program.outputs]
        adopted = {place.output.asset: found for place in places if (found := place.adopted()) is not None}
        pending = [place for place in places if place.output.asset not in adopted]
        snapshots = _snapshots(spark, program, adopted.values(), is_computed=bool(pending))
        given = _arguments(spark, program, job, snapshots) if pending else {}
    watched = listening(spark, program.lineage, events_file) if pending else nullcontext(Heard())
    with watched as heard, _timed(seconds, "stage"):
        # A job may do more than return frames: all of it is observed.
        results = _results(program, job(**given)) if pending else {}
        stop_if_cancelled(spark)
        staged = {place.output.asset: _stage(place, results[place.output.asset], program) for place in pending}
    seconds["listener"] = round(heard.seconds, 3)
    with _timed(seconds, "audit"):
        verdicts = _verdicts(staged, program)
    stop_if_cancelled(spark)
    observed = _observed(spark, heard, program)
    with _timed(seconds, "publish"):
        notes = {place.output.asset: _notes(snapshots, observed, place.output) for place in pending}
        published = {asset: one.publish(verdicts[asset], notes[asset]) for asset, one in staged.items()}
    return Report(
        outputs={**{asset: found.report for asset, found in adopted.items()}, **published},
        snapshots=snapshots,
        observed=sum((found.observed for found in adopted.values()), observed),
        spark_version=spark.version,
        application_id=spark.sparkContext.applicationId,
        seconds=seconds,
    )


def _notes(snapshots: Mapping[str, Pinned], observed: Observed, output: Output) -> dict[str, str]:
    """What is kept with a publish, for the driver that finds it done."""
    return {INPUTS: inputs_text(snapshots), OBSERVED: observed_text(observed.of_output(output.table))}


def _place(spark: SparkSession, output: Output, program: Program) -> Place:
    if output.table is not None:
        return prepared_table(spark, output, output.table, program)
    if output.outbox is not None:
        return OutboxPlace(spark, output, Path(output.outbox), program)
    raise NoPlaceError(output.asset)


def _snapshots(
    spark: SparkSession, program: Program, adopted: Iterable[Adopted], *, is_computed: bool
) -> dict[str, Pinned]:
    """Input asset to the snapshots read; what was published before says at which, and the rest must follow."""
    found_now = {read.asset: pinned(spark, read) for read in program.tables} if is_computed else {}
    snapshots = {asset: at for asset, at in found_now.items() if at is not None}
    for found in adopted:
        snapshots.update(found.inputs)
    return snapshots


def _arguments(
    spark: SparkSession, program: Program, job: Callable[..., Any], snapshots: Mapping[str, Pinned]
) -> dict[str, DataFrame]:
    frames = {read.parameter: read_table(spark, read, snapshots.get(read.asset)) for read in program.tables}
    frames.update({read.parameter: read_landing(spark, read) for read in program.landings})
    if "targets" in inspect.signature(job).parameters:
        frames["targets"] = target_frame(spark, program.targets)
    return frames


def _results(program: Program, returned: object) -> Mapping[str, DataFrame]:
    """The frames by asset; a job may make more than is asked for."""
    wanted = [output.asset for output in program.outputs]
    if isinstance(returned, DataFrame) and len(wanted) == 1:
        return {wanted[0]: returned}
    if isinstance(returned, Mapping) and all(isinstance(returned.get(asset), DataFrame) for asset in wanted):
        return returned
    kind = (
        f"a mapping of {', '.join(map(str, returned))}"
        if isinstance(returned, Mapping)
        else f"{type(returned).__name__}"
    )
    raise WrongResultError(program.function, kind, wanted)


def _stage(place: Place, frame: DataFrame, program: Program) -> Staged:
    difference = broken_contract(frame, place.output)
    if difference is not None:
        return BrokenContract(difference, program.targets)
    return place.stage(contracted(frame, place.output))


def _refuse_rows_outside(staged: Mapping[str, Staged]) -> None:
    for asset, one in staged.items():
        rows = one.rows_outside()
        if rows:
            for each in staged.values():
                each.discard()
            raise RowsOutsideError(asset, rows)


def _verdicts(staged: Mapping[str, Staged], program: Program) -> dict[str, dict[str, PartitionReport]]:
    """By asset what was really written, judged; raises when some of it was not asked for."""
    _refuse_rows_outside(staged)
    spoilt = changed_landings(program.landings)
    return {
        asset: {
            day: replace(verdict, published=False, cause="landing changed", message=spoilt[day])
            if day in spoilt
            else verdict
            for day, verdict in one.audited().items()
        }
        for asset, one in staged.items()
    }


def _observed(spark: SparkSession, heard: Heard, program: Program) -> Observed:
    folders = [read.root for read in program.landings]
    folders += [output.outbox for output in program.outputs if output.outbox is not None]
    tables = locations(spark, program.tables) if heard.events else {}
    return replace(fold_events(heard.events, folders, tables), problem=heard.problem)


@contextmanager
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    start = perf_counter()
    try:
        yield
    finally:
        seconds[phase] = round(perf_counter() - start, 3)
