"""Standing at the gate: ask, and while a live run makes an input, wait, bounded, and ask again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from dagster import AssetExecutionContext

from lineage_assets.assets.asked import Asked
from lineage_assets.assets.platform import Platform
from lineage_assets.assets.scope import Scope
from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.dagster_log import live_runs
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.gate import Blocked, Gate, Go, Verdict, Wait
from lineage_assets.ledger.reader import LogReader
from lineage_assets.ledger.record import Cause, PartitionRef
from lineage_assets.partitions import PartitionSet, set_of

_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Passed:
    """The last word on every partition asked for, and the histories it was made from."""

    go: Mapping[str, Go]
    blocked: Mapping[str, Blocked]
    histories: Mapping[AssetKey, History]


def through_gate(
    context: AssetExecutionContext, asked: Asked, scope: Scope, platform: Platform, log: LogReader
) -> Passed:
    """Verdicts on all partitions that a run asks of a job; no verdict is `Wait` any more."""
    node = asked.nodes[0]
    upstream = platform.graph.upstream_of([node.key])
    deadline = time.monotonic() + platform.settings.gate_wait_seconds
    is_told = False
    while True:
        histories = log.histories(upstream)
        live = live_runs(context.instance, histories) - {asked.run_id}
        others = platform.snapshots_of_others(node)
        gate = Gate(platform.graph, histories, live, _pending(scope, histories, asked), others)
        verdicts: dict[str, Verdict] = {target: gate.judge(node, target) for target in asked.targets}
        waits = {target: verdict for target, verdict in verdicts.items() if isinstance(verdict, Wait)}
        if waits and time.monotonic() < deadline:
            if not is_told:
                context.log.info("Waiting for %s: a live run is making what is to be read.", _named(waits))
            is_told = True
            time.sleep(_POLL_SECONDS)
            continue
        seconds = platform.settings.gate_wait_seconds
        return Passed(
            go={target: verdict for target, verdict in verdicts.items() if isinstance(verdict, Go)},
            blocked={target: v for target, verdict in verdicts.items() if (v := _last_word(verdict, seconds))},
            histories=histories,
        )


def _pending(scope: Scope, histories: Mapping[AssetKey, History], asked: Asked) -> dict[AssetKey, PartitionSet]:
    """What other runs of the same backfill are still to make upstream."""
    if not scope.is_daemons:
        return {}
    pending = {}
    for asset, history in histories.items():
        judged = (day for day, record in history.verdicts.items() if record.backfill == asked.backfill)
        pending[asset] = scope.partitions.get(asset, PartitionSet()) - set_of(judged)
    return pending


def _last_word(verdict: Verdict, seconds: float) -> Blocked | None:
    match verdict:
        case Go():
            return None
        case Blocked():
            return verdict
        case Wait(refs=refs):
            return Blocked(Cause("upstream", f"still being made after {seconds:.0f} s: {_refs(refs)}"), refs)


def _named(waits: Mapping[str, Wait]) -> str:
    return _refs(tuple(sorted({ref for wait in waits.values() for ref in wait.refs})))


def _refs(refs: tuple[PartitionRef, ...]) -> str:
    return ", ".join(f"{name_of(ref.asset)} {ref.partition}" for ref in refs)
