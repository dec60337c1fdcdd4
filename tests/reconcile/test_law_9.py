"""Law 9: a receiver that is refused, hangs, falters or is slow costs a run little, fails nothing and loses nothing.

Measured is what a run spends on lineage: in making its events and giving them away, and in waiting at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from time import monotonic, thread_time

import pytest
from dagster import DagsterInstance

from lineage_assets.assets.telling import Telling
from lineage_assets.ledger.dagster_log import facts_of_run
from lineage_assets.ledger.record import PartitionRecord
from lineage_assets.lineage.delivery import Delivery
from lineage_assets.lineage.sender import Sender
from lineage_assets.reconcile.passes import Project, flush
from tests.lineage.receivers import Answer, Heard, answering, hanging, nobody, receiver
from tests.reconcile.test_flush import LONG_AGO, receipt
from tests.support.recording import RecordingLauncher
from tests.support.records import NOON
from tests.support.world import ShopWorld

STATED_SECONDS = 2.0
"""What the end of a run of less than 40 s may wait."""
BUSY_SECONDS = 1.0
"""Of a machine that does other things meanwhile."""
SLOW_SECONDS = 30.0
EVENTS = 14
"""Two for each day that is tried of three jobs, two for the days that a job is blocked on."""


@dataclass
class Spent:
    """Seconds that one run spent on lineage."""

    telling: float = 0.0
    """Of the run's own thread, at work: making events and giving them away."""
    closing: float = 0.0
    all: float = 0.0


@dataclass(frozen=True)
class Came:
    """What came of a run."""

    spent: Spent
    is_success: bool
    records: tuple[PartitionRecord, ...]
    receipt: str | None
    said: str
    """The line on lineage in the log of the run."""


def ok(_: Heard) -> Answer:
    return 201, ""


def faltering(_: Heard) -> Answer:
    return 500, "<html>"


def slow(heard: Heard) -> Answer:
    heard.gone.wait(SLOW_SECONDS)
    return 201, ""


RECEIVERS: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "refused": nobody,
    "hanging": hanging,
    "answering 500": lambda: answering(faltering),
    "slow by 30 s": lambda: answering(slow),
}


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> Spent:
    """Filled by the runs of the test; a run clears it first."""
    found = Spent()
    close = Sender.close

    def timed(name: str) -> Callable[..., None]:
        told: Callable[..., None] = getattr(Telling, name)

        def tell(self: Telling, *facts: object) -> None:
            began = thread_time()
            told(self, *facts)
            found.telling += thread_time() - began

        return tell

    def timed_close(self: Sender, run_seconds: float) -> Delivery:
        began = monotonic()
        try:
            return close(self, run_seconds)
        finally:
            found.closing += monotonic() - began
            found.all = run_seconds

    for name in ("opened", "started", "blocked", "keep", "ended"):
        monkeypatch.setattr(Telling, name, timed(name))
    monkeypatch.setattr(Sender, "close", timed_close)
    return found


def run_of(world: ShopWorld, url: str, spent: Spent) -> tuple[ShopWorld, Came]:
    """Three days, the second without a file, in a shop of its own that tells a receiver."""
    spent.telling = spent.closing = spent.all = 0.0
    settings = world.settings.model_copy(update={"openlineage_url": url})
    shop = ShopWorld(settings, world.instance, RecordingLauncher())
    shop.feed(1, 3)
    run = shop.run(1, 3)
    records = [fact for fact in facts_of_run(shop.instance, run.run_id) if isinstance(fact, PartitionRecord)]
    logs = shop.instance.all_logs(run.run_id)
    said = [entry.user_message for entry in logs if entry.user_message.startswith("Lineage: ")]
    return shop, Came(
        replace(spent), run.success, tuple(_timeless(one) for one in records), receipt(shop.instance, run.run_id), *said
    )


def _timeless(record: PartitionRecord) -> PartitionRecord:
    return replace(record, run_id="", made_by=None, started=NOON, ended=NOON)


@pytest.mark.parametrize("kind", RECEIVERS)
def test_a_bad_receiver_costs_a_run_no_more_than_is_stated_and_changes_nothing_in_it(
    world: ShopWorld, spent: Spent, kind: str
) -> None:
    with receiver(ok) as heard, DagsterInstance.ephemeral() as other:
        _, undisturbed = run_of(ShopWorld(world.settings, other, RecordingLauncher()), heard.url, spent)
        assert undisturbed.receipt == "sent"
        assert len(heard.events) == EVENTS
    with RECEIVERS[kind]() as url:
        shop, came = run_of(world, url, spent)
    assert came.spent.telling < max(0.05 * came.spent.all, undisturbed.spent.telling + 0.1)
    assert came.spent.closing < STATED_SECONDS + BUSY_SECONDS
    assert (came.is_success, came.records) == (undisturbed.is_success, undisturbed.records)
    assert came.receipt == "pending"
    assert f"{EVENTS} not sent" in came.said
    with receiver(ok) as back:
        settings = shop.settings.model_copy(update={"openlineage_url": back.url})
        told = flush(
            Project(shop.instance, shop.graph, shop.definitions.resolve_asset_graph(), settings), since=LONG_AGO
        )
    assert (told.events, told.stopped) == (EVENTS, None)
    ids = {event["run"]["runId"] for event in back.events}
    ends = [event["run"]["runId"] for event in back.events if event["eventType"] != "START"]
    assert sorted(ends) == sorted(ids)
