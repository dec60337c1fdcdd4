"""The way of one partition, in the order in which it goes: gate, intake, reuse, launch, record.

The body of every asset of ours, whoever started it: the UI, the command line, a sensor or a backfill.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from dagster import AssetExecutionContext, Failure, Output
from dagster import AssetKey as DagsterAssetKey

from lineage_assets.assets.asked import Asked, asked_of, runs_check
from lineage_assets.assets.book import Book
from lineage_assets.assets.code_version import code_version
from lineage_assets.assets.complete import COMPLETE_CHECK, missing_text
from lineage_assets.assets.declaration import JobDeclaration, Landing
from lineage_assets.assets.deferred import automatic_materializations_off
from lineage_assets.assets.drift import warned_drift
from lineage_assets.assets.intake import Landed, landed
from lineage_assets.assets.outcome import Making
from lineage_assets.assets.platform import Platform
from lineage_assets.assets.programs import Ready, program_of
from lineage_assets.assets.reuse import standing
from lineage_assets.assets.scenes import scene_texts
from lineage_assets.assets.scope import Scope, scope_of
from lineage_assets.assets.services import Services
from lineage_assets.assets.stale import warn_of_what_goes_stale
from lineage_assets.assets.telling import Telling
from lineage_assets.assets.waiting import through_gate
from lineage_assets.clock import utc_now
from lineage_assets.errors import LineageAssetsError
from lineage_assets.launch.launcher import ProgramFailedError, ProgramLostError
from lineage_assets.ledger.gate import Go
from lineage_assets.ledger.reader import LogReader
from lineage_assets.ledger.record import Cause
from lineage_assets.partitions import set_of
from lineage_assets.spark.execution import JOB_FAILED
from lineage_assets.spark.program import PUBLISHED_BY_ANOTHER

_MOST_ATTEMPTS = 3
"""Of partitions that a lost driver or another's publish took; what failed is not attempted again."""
_MOST_PROGRAMS = 16
"""After which one attempt halves no more: enough to find one bad day in a range of months."""


def run_job(context: AssetExecutionContext, declaration: JobDeclaration, services: Services) -> Iterator[Output[None]]:
    """Give every partition that a run asks of a job its verdict, whatever it is, and record it."""
    asked = asked_of(context, declaration)
    with automatic_materializations_off(context.run):
        scope = scope_of(context, asked, services.platform)
        warn_of_what_goes_stale(context, asked, scope, services.platform, services.log)
        step = begin(context, declaration, services, asked)
        with step.book.closing():
            ready = take_existing(step) if asked.is_adoption else reuse(step, take_in(step, gate(step, scope)))
            launch(step, ready)
        for node in asked.nodes:
            yield Output(None, DagsterAssetKey(node.key).to_python_identifier())
    raise_for_missing(context, step)


@dataclass(frozen=True, slots=True)
class Step:
    """What every part of the way needs."""

    context: AssetExecutionContext
    declaration: JobDeclaration
    platform: Platform
    log: LogReader
    making: Making
    book: Book

    @property
    def asked(self) -> Asked:
        return self.making.asked


def begin(context: AssetExecutionContext, declaration: JobDeclaration, services: Services, asked: Asked) -> Step:
    """Log the attempt: from here on a killed process leaves at least that."""
    platform = services.platform
    making = Making(
        asked=asked,
        number=1 + context.retry_number * _MOST_ATTEMPTS,
        # Never equal to a version of code: what was taken in is computed again as soon as it is in a plan.
        code_version="adopted" if asked.is_adoption else code_version(declaration, platform.launcher.conf),
        started=utc_now(),
        range_run=len(asked.partitions) > platform.settings.range_run_threshold,
        scenes=scene_texts(declaration, platform, services.secrets),
    )
    own = services.log.histories(node.key for node in asked.nodes)
    telling = Telling(services.projection, services.sender)
    book = Book(context, telling, dict(own), services.facts, services.secrets)
    book.open(making, asked.partitions)
    return Step(context, declaration, platform, services.log, making, book)


def take_existing(step: Step) -> Mapping[str, Ready]:
    """Adoption asks no gate: what is there was made without us, from inputs that nobody recorded."""
    step.book.start(step.asked.targets)
    return dict.fromkeys(step.asked.targets, Ready(Go({}, {}), {}))


def gate(step: Step, scope: Scope) -> Mapping[str, Go]:
    """Block what would read a bad partition; the others go on."""
    passed = through_gate(step.context, step.asked, scope, step.platform, step.log)
    step.book.before.update(passed.histories)
    now = utc_now()
    step.book.write(
        record for target, verdict in passed.blocked.items() for record in step.making.blocked(target, verdict, now)
    )
    step.book.start(passed.go)
    return passed.go


def take_in(step: Step, going: Mapping[str, Go]) -> Mapping[str, Ready]:
    """Look at the landing files of each day; a day whose files are missing or of another shape fails here."""
    found = {
        parameter: landed(read, step.platform.landing_root(read.folder), going)
        for parameter, read in step.declaration.reads.items()
        if isinstance(read, Landing)
    }
    causes: dict[str, Cause] = {}
    ready: dict[str, Ready] = {}
    for target, go in going.items():
        days = {parameter: by_day[target] for parameter, by_day in found.items()}
        bad = [day for day in days.values() if isinstance(day, Cause)]
        if bad:
            causes[target] = bad[0]
        else:
            ready[target] = Ready(go, {name: day for name, day in days.items() if isinstance(day, Landed)})
    now = utc_now()
    now_failed = (step.making.all_failed([target], cause, now) for target, cause in causes.items())
    step.book.write(chain.from_iterable(now_failed))
    return ready


def reuse(step: Step, ready: Mapping[str, Ready]) -> Mapping[str, Ready]:
    """Let stand what its own record shows unchanged in inputs and code; the rest is to be computed."""
    if not step.asked.may_reuse:
        return ready
    changed: dict[str, Ready] = {}
    now = utc_now()
    for target, one in ready.items():
        old = [
            standing(target, one, step.book.before[node.key], step.making.code_version, step.platform.holds_snapshot)
            for node in step.asked.nodes
        ]
        stands = [record for record in old if record is not None]
        if len(stands) < len(old):
            changed[target] = one
            continue
        step.book.write(
            step.making.reused(node, record, now) for node, record in zip(step.asked.nodes, stands, strict=True)
        )
    return changed


def launch(step: Step, ready: Mapping[str, Ready]) -> None:
    """Run one Spark program for all that remains and record what came of it; what was lost is attempted again."""
    making = step.making
    lost = launch_once(step, making, [ready] if ready else [])
    step.book.end()
    most = making.number + _MOST_ATTEMPTS - 1
    while lost and making.number < most:
        step.context.log.warning("Attempt %d of %d lost partitions: again.", making.number, most)
        partitions = [target for program in lost for target in program]
        making = replace(making, number=making.number + 1, started=utc_now())
        step.book.open(making, set_of(partitions))
        step.book.start(partitions)
        lost = launch_once(step, making, lost)
        step.book.end()


def launch_once(step: Step, making: Making, ready: Sequence[Mapping[str, Ready]]) -> list[Mapping[str, Ready]]:
    """One attempt: a verdict on every partition. What a lost driver or another's publish took is given back.

    One day's data can fail the program of a whole range. The range is then halved until the days that fail are found,
    and the others are made; a job that fails on every day is given up after a few programs.
    """
    waiting, lost = deque(ready), []
    programs = 0
    while waiting:
        asked = waiting.popleft()
        programs += 1
        try:
            lost += _run_program(step, making, asked)
        except ProgramFailedError as error:
            if error.cause == JOB_FAILED and len(asked) > 1 and programs < _MOST_PROGRAMS:
                step.context.log.warning("Halving a range of %d partitions to find what fails. %s", len(asked), error)
                waiting.extendleft(reversed(_halves(asked)))
            else:
                _fail(step, making, asked, Cause(error.cause, error.message))
        except LineageAssetsError as error:
            # Nothing ran, or nobody knows what did: the programs that wait would fare no better.
            is_lost = isinstance(error, ProgramLostError)
            left = [asked, *waiting]
            cause = Cause("driver lost" if is_lost else "not launched", str(error))
            _fail(step, making, chain.from_iterable(left), cause)
            return [*lost, *left] if is_lost else lost
    return lost


def _run_program(step: Step, making: Making, ready: Mapping[str, Ready]) -> list[Mapping[str, Ready]]:
    """Run one program; the partitions that it could not publish because another published them first."""
    lineage = step.book.telling.spark_lineage(making.asked.run_id, set_of(ready), making.number)
    program = program_of(step.declaration, step.asked, ready, step.platform, lineage)
    report = step.platform.launcher.launch(step.context, program)
    drift = warned_drift(step.context, program, report, step.platform, step.book.secrets)
    step.book.write(making.computed(program, report, ready, drift, utc_now()))
    outrun = {
        target
        for output in report.outputs.values()
        for target, one in output.partitions.items()
        if one.cause == PUBLISHED_BY_ANOTHER
    }
    return [{target: one for target, one in ready.items() if target in outrun}] if outrun else []


def _halves(ready: Mapping[str, Ready]) -> list[dict[str, Ready]]:
    items = sorted(ready.items())
    middle = len(items) // 2
    return [dict(items[:middle]), dict(items[middle:])]


def _fail(step: Step, making: Making, partitions: Iterable[str], cause: Cause) -> None:
    step.book.write(making.all_failed(partitions, cause, utc_now()))


def raise_for_missing(context: AssetExecutionContext, step: Step) -> None:
    """Fail the step itself where no `complete` check runs that would fail the run."""
    for node in step.asked.nodes:
        bad = [record for record in step.book.bad() if record.asset == node.key]
        if bad and not runs_check(context.run, DagsterAssetKey(node.key), COMPLETE_CHECK):
            raise Failure(missing_text(node.key, len(step.asked.partitions), bad), allow_retries=False)
