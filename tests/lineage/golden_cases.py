"""The situations whose whole events are kept in `golden/`; `python -m tests.lineage.golden_cases` writes them anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from lineage_assets.ledger.record import Assertion, Cause, ColumnSource, PartitionRef, State, Transformation
from lineage_assets.lineage.backfills import (
    BackfillResult,
    BackfillTold,
    backfill_ended,
    backfill_started,
)
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.extras import Extras
from lineage_assets.lineage.hierarchy import pipelines_told
from lineage_assets.lineage.parents import backfill_job
from lineage_assets.partitions import key_of
from tests.lineage.facts import (
    CITIES,
    DISCOUNTS,
    MAILS,
    ORDERS,
    PRICES,
    RATES,
    STARTED,
    TOP,
    WEEKLY,
    attempt,
    graph,
    graph_with_neighbours,
    projection,
    verdict,
)
from tests.support.graphs import days

FOLDER = Path(__file__).parent / "golden"
SCHEMA_CHANGE = Cause("schema change", 'the column "menu_id" is missing')
IDENTITY = Transformation("DIRECT", "IDENTITY")
COUNTED = Transformation("DIRECT", "AGGREGATION", masking=True)
UPSTREAM = Cause("upstream", "reads what is bad: orders 2021-06-04 (schema change)")


def good() -> Iterable[Event]:
    """A windowed partition with all that is known of it, in a backfill."""
    tried, of = days("2021-06-01"), {"asset": WEEKLY, "backfill": "bkfl"}
    week = days("2021-05-26", "2021-06-01")
    record = verdict(
        "2021-06-01",
        **of,
        inputs={ORDERS: {key_of(day): "f" * 32 for day in week}, ("menus",): {"2021-06-01": "e" * 32}},
        input_rows={ORDERS: {key_of(day): 120 for day in week}, ("menus",): {"2021-06-01": 7}},
        input_snapshots={ORDERS: 6412980114027655001, ("menus",): 9022},
        columns={
            "order_id": (ColumnSource(ORDERS, "id", (IDENTITY,)),),
            "menu_id": (ColumnSource(("menus",), "id", (COUNTED,)), ColumnSource(ORDERS, "menu_id")),
        },
        row_sources=(ColumnSource(ORDERS, "menu_id", (Transformation("INDIRECT", "JOIN"),)),),
        size_bytes=4096,
        files=1,
        nulls={"order_id": 0},
        assertions=(Assertion("row_count", success=True, expected=">= 1", actual="120"),),
        spark_version="3.5.5",
        application_id="local-1622851200000",
    )
    attempts = [attempt(tried, **of)]
    return (*projection().started(attempts, tried), *projection().ended(attempts, tried, [record]))


def failed() -> Iterable[Event]:
    """A day whose feed has lost a column."""
    tried = days("2021-06-04")
    attempts = [attempt(tried)]
    record = verdict("2021-06-04", State.FAILED, cause=SCHEMA_CHANGE)
    return (*projection().started(attempts, tried), *projection().ended(attempts, tried, [record]))


def blocked() -> Iterable[Event]:
    """Three days of two causes: a pair for the first two, a pair for the third."""
    root = PartitionRef(ORDERS, "2021-06-04")
    two = Cause("upstream", f"{UPSTREAM.message}, 2021-06-06 (freshness)")
    records = [
        verdict("2021-06-04", State.BLOCKED, WEEKLY, cause=UPSTREAM, blocked_by=(root,)),
        verdict("2021-06-05", State.BLOCKED, WEEKLY, cause=UPSTREAM, blocked_by=(root,)),
        verdict("2021-06-06", State.BLOCKED, WEEKLY, cause=two, blocked_by=(root, PartitionRef(ORDERS, "2021-06-06"))),
    ]
    attempts = [attempt(days("2021-06-01", "2021-06-07"), WEEKLY)]
    return projection().blocked(attempts, records)


def reused() -> Iterable[Event]:
    """The same inputs and the same code: what an older run made stands."""
    tried = days("2021-06-02")
    attempts = [attempt(tried, backfill="bkfl")]
    record = verdict("2021-06-02", State.REUSED, backfill="bkfl", made_by="an-older-run")
    return (*projection().started(attempts, tried), *projection().ended(attempts, tried, [record]))


def two_outputs() -> Iterable[Event]:
    """One day with one of its two outputs in quarantine: the run fails, what was published is told."""
    tried = days("2021-06-03")
    attempts = [attempt(tried, asset) for asset in (TOP, DISCOUNTS)]
    records = [
        verdict("2021-06-03", asset=TOP, rows=3),
        verdict("2021-06-03", State.FAILED, DISCOUNTS, cause=Cause("nulls", "4 of 9 rows have no id")),
    ]
    return (*projection().started(attempts, tried), *projection().ended(attempts, tried, records))


def outbox() -> Iterable[Event]:
    """Mails are no dataset."""
    tried = days("2021-06-03")
    attempts = [attempt(tried, MAILS)]
    record = verdict("2021-06-03", asset=MAILS, snapshot=None)
    return (*projection().started(attempts, tried), *projection().ended(attempts, tried, [record]))


def range_run() -> Iterable[Event]:
    """Four days as one run, one of them bad."""
    tried = days("2021-06-01", "2021-06-04")
    attempts = [attempt(tried, WEEKLY, range_run=True)]
    records = [verdict(key_of(day), asset=WEEKLY, range_run=True) for day in days("2021-06-01", "2021-06-03")]
    records.append(verdict("2021-06-04", State.FAILED, WEEKLY, range_run=True, cause=Cause("nulls", "no id in 2 rows")))
    return (*projection().started(attempts, tried), *projection().ended(attempts, tried, records))


def hierarchy() -> Iterable[Event]:
    """All that is told only where asked for: the pipeline above the run, the backfill above both, physical names."""
    tried, told = days("2021-06-02"), projection(Extras(parents=True, symlinks=True))
    attempts = [attempt(tried, backfill="bkfl", backfill_job=("food_delivery", "example.backfill"))]
    record = verdict("2021-06-02", backfill="bkfl")
    events = (*told.started(attempts, tried), *told.ended(attempts, tried, [record]))
    return (*events, *pipelines_told([*attempts, record]))


def external() -> Iterable[Event]:
    """Two inputs that other producers make: one read through a window, one whole."""
    tried, read = days("2021-06-03"), days("2021-06-01", "2021-06-03")
    attempts = [attempt(tried, PRICES, of=graph_with_neighbours())]
    record = verdict(
        "2021-06-03",
        asset=PRICES,
        inputs={RATES: {key_of(day): "9022" for day in read}, CITIES: {"2021-06-03": None}},
        input_snapshots={RATES: 9022},
        columns={"price": (ColumnSource(RATES, "rate", (IDENTITY,)),), "city": (ColumnSource(CITIES, "name"),)},
    )
    return (*projection().started(attempts, tried), *projection().ended(attempts, tried, [record]))


def backfill() -> Iterable[Event]:
    """A backfill is a run of a job of its own; here in two ways to end."""
    jobs = [node.job for node in graph().nodes.values()]
    told = BackfillTold(
        id="bkfl",
        job=backfill_job(jobs),
        started=STARTED,
        requested_by="oncall@example.com",
        reason="the feed of orders is repaired",
        plan="5f2b8c",
        assets=4,
        partitions=12,
        estimate_seconds=90.0,
    )
    end = STARTED + timedelta(minutes=9)
    return (
        backfill_started(told),
        backfill_ended(told, BackfillResult(end, repaired=9, reused=3)),
        backfill_ended(told, BackfillResult(end, repaired=7, failed=1, blocked=3, not_run=1)),
    )


CASES: Mapping[str, Callable[[], Iterable[Event]]] = {
    case.__name__: case
    for case in (good, failed, blocked, reused, two_outputs, outbox, range_run, hierarchy, external, backfill)
}


def told(events: Iterable[Event]) -> list[dict[str, Any]]:
    return [json.loads(event.body) for event in events]


def kept(name: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return events


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, case in CASES.items():
        text = json.dumps(told(case()), indent=2, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
