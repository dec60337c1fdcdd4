"""A backfill is one run of `example.backfill` in the lineage record: who, why, which plan, and what came of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from dagster import DagsterInstance

from lineage_assets.assets.definitions import build_definitions
from lineage_assets.backfill import telling
from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.submit import Label, close_record, open_record
from lineage_assets.backfill.tally import Tally
from lineage_assets.backfill.telling import Told
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.receipts import RECEIPT_TAG
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.lineage.sender import Sender
from lineage_assets.partitions import keys_of
from lineage_assets.pipelines.food_delivery.assets import JOBS
from lineage_assets.settings import load_settings
from tests.support.graphs import NOW
from tests.support.recording import RecordingLauncher
from tests.support.records import make_record

GRAPH = AssetGraph.of(node for job in JOBS for node in job.nodes)
ASK = Ask("orders", "2021-06-04", "2021-06-06", reason="the feed was repaired", requested_by="ann")


@dataclass
class KeptTransport:
    bodies: list[str] = field(default_factory=list)

    def emit(self, body: str) -> None:
        self.bodies.append(body)

    def close(self) -> None:
        self.bodies.append("closed")


@pytest.fixture
def transport(monkeypatch: pytest.MonkeyPatch) -> KeptTransport:
    kept = KeptTransport()
    monkeypatch.setattr(telling, "sender_for", lambda _settings: Sender(kept))
    return kept


def tell(transport: KeptTransport, *states: State, is_cancelled: bool = False) -> list[dict[str, Any]]:
    """The events of a backfill whose partitions have these states in turn, the last one for all that remain."""
    settings = load_settings().model_copy(update={"openlineage_url": None})
    definitions = build_definitions(JOBS, launcher=RecordingLauncher(), settings=settings)
    plan = ASK.plan_at(GRAPH, NOW)
    label = Label("repair", ASK.reason, ASK.requested_by, {})
    records: list[PartitionRecord] = []
    for each in plan.assets:
        for day in keys_of(each.partitions):
            records.append(make_record(day, states[min(len(records), len(states) - 1)], asset=each.asset))
    tally = Tally(plan).with_records(records)
    with DagsterInstance.ephemeral() as instance:
        open_record(instance, definitions, "abcdefgh", plan, label)
        told = Told.started(instance, "abcdefgh", definitions.resolve_asset_graph(), GRAPH, settings)
        close_record(instance, definitions, "abcdefgh", tally.cancelled() if is_cancelled else tally)
        assert "sent" in told.ended()
        record = instance.get_backfill("abcdefgh")
        assert record is not None
        assert record.tags[RECEIPT_TAG] == "sent"
    return [json.loads(body) for body in transport.bodies if body != "closed"]


def test_a_whole_backfill_is_a_start_and_a_complete_of_one_run(transport: KeptTransport) -> None:
    start, complete = tell(transport, State.GOOD)
    assert [start["eventType"], complete["eventType"]] == ["START", "COMPLETE"]
    assert start["job"]["namespace"] == "food_delivery"
    assert start["job"]["name"] == "example.backfill"
    assert start["run"]["runId"] == complete["run"]["runId"]


def test_it_says_who_asked_why_and_for_which_plan(transport: KeptTransport) -> None:
    start, _ = tell(transport, State.GOOD)
    said = json.dumps(start["run"]["facets"])
    for word in ("ann", "the feed was repaired", ASK.plan_at(GRAPH, NOW).fingerprint, "abcdefgh"):
        assert word in said


def test_bad_partitions_make_it_a_failure_with_counts(transport: KeptTransport) -> None:
    _, fail = tell(transport, State.FAILED, State.BLOCKED, State.REUSED, State.GOOD)
    assert fail["eventType"] == "FAIL"
    (facet,) = [value for name, value in fail["run"]["facets"].items() if name.endswith("backfill")]
    assert facet["result"] == {"repaired": 54, "reused": 1, "failed": 1, "blocked": 1, "notRun": 0}


def test_a_cancelled_one_is_aborted(transport: KeptTransport) -> None:
    _, abort = tell(transport, State.GOOD, is_cancelled=True)
    assert abort["eventType"] == "ABORT"
