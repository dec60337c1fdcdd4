"""The pipelines above the jobs of one Dagster run, where a hierarchy is asked for: each a run of its own. Pure.

Told once the Dagster run is over and all is known: Marquez takes a parent's state from its own events alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from lineage_assets.ledger.record import Attempt, Closing, Fact, State
from lineage_assets.ledger.scene import parse_scene
from lineage_assets.lineage.events import Event, bare_event
from lineage_assets.lineage.parents import Parent, parent_of
from lineage_assets.lineage.turns import TurnType
from lineage_assets.partitions import keys_of


def pipelines_told(facts: Iterable[Fact]) -> tuple[Event, ...]:
    """START and end of every pipeline that a Dagster run had a part in; nothing of one that came to no outcome."""
    by_pipeline: dict[Parent, list[Fact]] = {}
    of_asset: dict[object, Parent] = {}
    for fact in facts:
        if isinstance(fact, Attempt):
            parent = parent_of(parse_scene(fact.scene).node.job, fact.run_id) if fact.scene else None
            if parent is None:
                continue
            of_asset[fact.asset] = parent
        if fact.asset in of_asset:
            by_pipeline.setdefault(of_asset[fact.asset], []).append(fact)
    return tuple(event for parent, found in by_pipeline.items() for event in _told(parent, found))


def _told(parent: Parent, facts: Sequence[Fact]) -> Iterable[Event]:
    job, lineage_run = parent
    started = [fact.started for fact in facts if isinstance(fact, Attempt)]
    ended = [_ended(fact) for fact in facts if not isinstance(fact, Attempt)]
    if not ended:
        return
    yield bare_event(TurnType.START, min(started), lineage_run, job, {})
    yield bare_event(_turn(facts), max(ended), lineage_run, job, {})


def _turn(facts: Sequence[Fact]) -> TurnType:
    """As its worst part ended; what a later attempt of the same run made good is not held against it."""
    last: dict[object, TurnType] = {}
    for fact in facts:
        match fact:
            case Attempt():
                pass
            case Closing():
                last.update({(fact.asset, key): TurnType.ABORT for key in keys_of(fact.partitions)})
            case _:
                last[fact.asset, fact.partition] = _TURNS.get(fact.state, TurnType.COMPLETE)
    turns = set(last.values())
    return next((turn for turn in (TurnType.FAIL, TurnType.ABORT) if turn in turns), TurnType.COMPLETE)


_TURNS = {State.FAILED: TurnType.FAIL, State.BLOCKED: TurnType.ABORT}


def _ended(fact: Fact) -> datetime:
    return fact.started if isinstance(fact, Attempt) else fact.ended
