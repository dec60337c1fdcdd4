"""Law 8 for replays: told again from the log, once or often, whole or in parts, every attempt is one ended run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from dagster import DagsterInstance
from dagster import DagsterRunStatus as Status

from lineage_assets.ledger.owner import owner
from lineage_assets.ledger.record import State
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.extras import Extras
from lineage_assets.lineage.foreground import Audience
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.retelling import attempts_in
from lineage_assets.lineage.transport import HttpTransport, RejectedError, UndeliveredError
from lineage_assets.marquez.client import MarquezClient
from lineage_assets.marquez.shapes import Run, job_node_id
from lineage_assets.reconcile.bookmark import Bookmark
from lineage_assets.reconcile.replay import Source, chapters
from lineage_assets.reconcile.selection import Selection
from lineage_assets.reconcile.whole_log import follow_log, job_groups, made_with, pipelines_of
from tests.lineage.facts import DISCOUNTS, MENUS, ORDERS, STARTED, TOP, WEEKLY, attempt, verdict
from tests.reconcile.ledgers import Hearing, World, replay, run_of, write
from tests.support.graphs import days

RUNS = 10
"""Of the world: a range, two days of orders, a block and a day of the week, two outputs, two menus, two repairs."""


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def world() -> World:
    return World(f"test-{uuid4()}")


@pytest.fixture
def bookmark(tmp_path: Path) -> Bookmark:
    return Bookmark(tmp_path / "replay.json", "receiver", "")


def last_states(bodies: Iterable[str]) -> dict[str, str]:
    """The state of each lineage run by the last event of it to arrive."""
    events = [json.loads(body) for body in bodies]
    return {event["run"]["runId"]: event["eventType"] for event in events}


def read_by(run: Run) -> list[str]:
    """Without versions: Marquez adds to those of a run what an input's version is when its events come again."""
    return sorted({one.name for one in run.inputs})


def seen(client: MarquezClient, namespace: str) -> dict[str, Any]:
    """All that counts of a namespace on a server, ids included."""
    jobs = client.jobs(namespace)
    graphs = [client.lineage(job_node_id(namespace, job.name)) for job in jobs]
    datasets = [client.dataset(namespace, dataset.name) for dataset in client.datasets(namespace)]
    return {
        "jobs": [(job.name, job.description, job.inputs, job.outputs) for job in jobs],
        "runs": {
            job.name: sorted(
                (run.id, run.state, run.started_at, run.ended_at, read_by(run), run.outputs)
                for run in client.runs(namespace, job.name)
            )
            for job in jobs
        },
        "datasets": [(one.name, one.fields, one.current_version, one.facets) for one in datasets],
        "graph": [dict(sorted(found.nodes.items())) for found in graphs],
    }


def alike(client: MarquezClient, namespace: str) -> dict[str, Any]:
    """The same without what no two namespaces have in common: ids, and the name itself."""
    found = seen(client, namespace)
    known = {run_of(namespace, number): str(number) for number in range(1, 5)}
    runs = {
        job.name: sorted(
            (
                str(run.facets["nominalTime"]["nominalStartTime"]),
                known[run.facets["lineageAssets_attempt"]["dagsterRunId"]],
                run.state,
                run.ended_at,
                read_by(run),
                [(one.name, one.facets) for one in run.outputs],
            )
            for run in client.runs(namespace, job.name)
        )
        for job in client.jobs(namespace)
    }
    datasets = [(name, fields, facets) for name, fields, _, facets in found["datasets"]]
    told = {"jobs": found["jobs"], "runs": runs, "datasets": datasets, "graph": found["graph"]}
    return json.loads(json.dumps(told, default=str).replace(namespace, "NAMESPACE"))


def test_three_replays_leave_ids_runs_states_edges_and_current_versions_as_they_are(
    instance: DagsterInstance, world: World, bookmark: Bookmark, lineage_url: str, lineage_client: MarquezClient
) -> None:
    write(instance, world.facts())
    found = []
    for _ in range(3):
        transport = HttpTransport(lineage_url)
        assert replay(instance, world.graph, transport, bookmark).is_over
        transport.close()
        found.append(seen(lineage_client, world.namespace))
    assert found[0] == found[1] == found[2]
    assert sum(map(len, found[0]["runs"].values())) == RUNS


def test_an_empty_server_becomes_what_one_is_that_the_runs_told_as_they_went(
    instance: DagsterInstance, world: World, bookmark: Bookmark, lineage_url: str, lineage_client: MarquezClient
) -> None:
    undisturbed = World(f"{world.namespace}-as-it-went")
    transport = HttpTransport(lineage_url)
    assert Audience(transport).send(undisturbed.as_it_went()).is_complete
    write(instance, world.facts())
    assert replay(instance, world.graph, transport, bookmark).is_over
    transport.close()
    assert alike(lineage_client, world.namespace) == alike(lineage_client, undisturbed.namespace)


def test_a_part_told_again_takes_over_neither_the_graph_nor_the_current_versions(
    instance: DagsterInstance, world: World, bookmark: Bookmark, lineage_url: str, lineage_client: MarquezClient
) -> None:
    """The repaired day is the newest; of an older one told again the newest comes after it."""
    write(instance, world.facts())
    transport = HttpTransport(lineage_url)
    replay(instance, world.graph, transport, bookmark)
    before = seen(lineage_client, world.namespace)
    part = Selection(frozenset({ORDERS}), date(2021, 5, 24), date(2021, 5, 25))
    assert replay(instance, world.graph, transport, bookmark, part).attempts == 1
    transport.close()
    assert seen(lineage_client, world.namespace) == before


def test_the_start_of_a_run_comes_just_before_its_end(
    instance: DagsterInstance, world: World, bookmark: Bookmark
) -> None:
    write(instance, world.facts())
    hearing = Hearing()
    done = replay(instance, world.graph, hearing, bookmark)
    events = [json.loads(body) for body in hearing.bodies]
    pairs = list(zip(events[::2], events[1::2], strict=True))
    assert (done.attempts, done.events, len(pairs)) == (7, 2 * RUNS, RUNS)
    for start, end in pairs:
        assert start["run"]["runId"] == end["run"]["runId"]
        assert (start["eventType"], end["eventType"] != "START") == ("START", True)


def test_the_events_are_those_that_the_runs_sent_byte_for_byte(
    instance: DagsterInstance, world: World, bookmark: Bookmark
) -> None:
    write(instance, world.facts())
    hearing = Hearing()
    replay(instance, world.graph, hearing, bookmark)
    assert Counter(hearing.bodies) == Counter(event.body for event in world.as_it_went())


@pytest.mark.parametrize("is_kept", [True, False], ids=["place kept", "killed before it was kept"])
def test_killed_at_any_event_and_begun_again_every_run_is_ended_once(
    instance: DagsterInstance, world: World, tmp_path: Path, *, is_kept: bool
) -> None:
    write(instance, world.facts())
    expected = last_states(event.body for event in world.as_it_went())
    for most in range(2 * RUNS):
        mark = Bookmark(tmp_path / f"{most}.json", "receiver", "")
        heard = Hearing(most)
        with pytest.raises(KeyboardInterrupt):
            replay(instance, world.graph, heard, mark)
        heard.most = None
        place = mark.place if is_kept else 0
        again = replay(instance, world.graph, heard, Bookmark(mark.file, "receiver", "", place))
        assert again.is_over
        assert last_states(heard.bodies) == expected
        resent = Counter(body for body in heard.bodies if json.loads(body)["eventType"] != "START")
        if is_kept:
            # Of the attempt that was cut off no more than was told of it comes twice.
            assert resent.total() - len(resent) <= 2
        assert not mark.file.exists()


def test_a_receiver_that_goes_away_stops_it_and_the_same_goes_on(
    instance: DagsterInstance, world: World, bookmark: Bookmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineage_assets.lineage.foreground._TRIES", 1)

    class Gone(Hearing):
        def emit(self, body: str) -> None:
            if len(self.bodies) == self.most:
                raise UndeliveredError("http://127.0.0.1:1", "connection refused", is_answer=False)
            super().emit(body)

    write(instance, world.facts())
    heard = Gone(8)
    stopped = replay(instance, world.graph, heard, bookmark)
    assert (stopped.is_over, stopped.attempts) == (False, 2)
    assert stopped.stopped == "http://127.0.0.1:1 takes no events: connection refused"
    assert json.loads(bookmark.file.read_text())["delivered"] == stopped.place
    heard.most = None
    assert replay(instance, world.graph, heard, bookmark).attempts == 5
    assert last_states(heard.bodies) == last_states(event.body for event in world.as_it_went())


@pytest.mark.usefixtures("no_pauses")
def test_a_receiver_that_goes_down_holds_up_no_other_and_the_bookmark_stays_where_it_left(
    instance: DagsterInstance, world: World, bookmark: Bookmark
) -> None:
    write(instance, world.facts())
    gone, there = (
        Hearing(8, error=UndeliveredError("http://127.0.0.1:1", "connection refused", is_answer=False)),
        Hearing(),
    )
    stopped = replay(instance, world.graph, Audience(gone, there), bookmark)
    assert stopped.stopped == "http://127.0.0.1:1 takes no events: connection refused"
    assert not stopped.is_over
    assert (len(gone.bodies), len(there.bodies)) == (8, 2 * RUNS)
    alone = Bookmark(bookmark.file, bookmark.receiver, bookmark.selection)
    gone.most = None
    replay(instance, world.graph, Audience(gone), replace(alone, place=bookmark.place))
    assert last_states(gone.bodies) == last_states(there.bodies)


def test_what_is_refused_for_good_is_counted_and_the_rest_is_told(
    instance: DagsterInstance, world: World, bookmark: Bookmark
) -> None:
    class Choosy(Hearing):
        def emit(self, body: str) -> None:
            if '"example.etl_menus"' in body:
                raise RejectedError("http://127.0.0.1:1", "HTTP 413")
            super().emit(body)

    write(instance, world.facts())
    done = replay(instance, world.graph, Choosy(), bookmark)
    assert (done.is_over, done.events, done.rejected, done.reason) == (True, 2 * RUNS - 4, 4, "HTTP 413")


def test_a_receiver_that_refuses_everything_is_not_asked_a_thousand_times(
    instance: DagsterInstance, world: World, bookmark: Bookmark
) -> None:
    class Closed(Hearing):
        def emit(self, body: str) -> None:
            self.bodies.append(body)
            raise RejectedError("http://127.0.0.1:1", "HTTP 401")

    write(instance, world.facts())
    closed = Closed()
    done = replay(instance, world.graph, closed, bookmark)
    assert done.stopped == "the receiver refuses every event (HTTP 401)"
    assert len(closed.bodies) == 10
    assert not bookmark.file.exists()
    there = Hearing()
    done = replay(instance, world.graph, Audience(Closed(), there), bookmark)
    assert (done.is_over, len(there.bodies)) == (True, 2 * RUNS)


def test_an_attempt_that_goes_on_is_left_to_its_process(
    instance: DagsterInstance, world: World, bookmark: Bookmark
) -> None:
    open_one = attempt(days("2021-06-08"), of=world.graph, run_id=str(uuid4()), owner=owner())
    write(instance, [open_one], Status.STARTED)
    heard = Hearing()
    assert replay(instance, world.graph, heard, bookmark).events == 0


def test_of_an_attempt_whose_process_is_gone_what_has_ended_is_told(
    instance: DagsterInstance, world: World, bookmark: Bookmark
) -> None:
    dead = {"run_id": str(uuid4())}
    two = attempt(days("2021-06-08", "2021-06-09"), of=world.graph, owner=owner().replace(":", ":1", 1), **dead)
    write(instance, [two, verdict("2021-06-08", **dead)], Status.STARTED)
    heard = Hearing()
    replay(instance, world.graph, heard, bookmark)
    assert [json.loads(body)["eventType"] for body in heard.bodies] == ["START", "COMPLETE"]


def test_what_is_recorded_while_it_is_read_is_told_too(
    instance: DagsterInstance, world: World, bookmark: Bookmark
) -> None:
    facts = world.facts()
    write(instance, facts[:-2])

    class Slow(Hearing):
        def emit(self, body: str) -> None:
            if not self.bodies:
                write(instance, facts[-2:])
            super().emit(body)

    assert replay(instance, world.graph, Slow(), bookmark).events == 2 * RUNS


def test_a_selection_takes_whole_attempts_and_then_the_newest_of_each_job_touched(
    instance: DagsterInstance, world: World
) -> None:
    write(instance, world.facts())
    log = attempts_in(follow_log(instance, [ORDERS]))
    part = Selection(frozenset({ORDERS}), date(2021, 6, 3), date(2021, 6, 3))
    told = [
        [json.loads(event.body) for events in chapter.told for event in events]
        for chapter in chapters(Source(log), part, Projection())
    ]
    ends = [[(_partition(event), event["eventType"]) for event in one if event["eventType"] != "START"] for one in told]
    assert ends == [[("2021-06-03", "COMPLETE"), ("2021-06-04", "FAIL")], [("2021-06-04", "COMPLETE")]]


def test_where_the_newest_run_failed_the_newest_that_left_data_comes_before_it(
    instance: DagsterInstance, world: World
) -> None:
    of = world.graph
    for number, (day, state) in enumerate(
        [("2021-06-01", State.GOOD), ("2021-06-02", State.GOOD), ("2021-06-03", State.FAILED)]
    ):
        run = {"run_id": run_of(world.namespace, number)}
        write(instance, [attempt(days(day), of=of, **run), verdict(day, state, **run)])
    part = Selection(first=date(2021, 6, 1), last=date(2021, 6, 1))
    source = Source(attempts_in(follow_log(instance, [ORDERS])))
    *_, tail = chapters(source, part, Projection())
    told = [json.loads(event.body) for events in tail.told for event in events]
    assert [(_partition(event), event["eventType"]) for event in told] == [
        ("2021-06-02", "START"),
        ("2021-06-02", "COMPLETE"),
        ("2021-06-03", "START"),
        ("2021-06-03", "FAIL"),
    ]


def test_assets_that_a_job_makes_together_are_read_together(instance: DagsterInstance, world: World) -> None:
    write(instance, world.facts())
    known = sorted(world.graph.nodes)
    assert made_with(instance, {TOP}, known) == {TOP, DISCOUNTS}
    assert sorted(map(sorted, job_groups(instance, [ORDERS, TOP, MENUS, DISCOUNTS, WEEKLY]))) == [
        [DISCOUNTS, TOP],
        [MENUS],
        [ORDERS],
        [WEEKLY],
    ]


def test_backfills_are_told_among_the_attempts_by_time(instance: DagsterInstance, world: World) -> None:
    write(instance, world.facts())
    story = tuple(world.as_it_went()[:2])
    moments = [(STARTED + timedelta(minutes=30), story), (STARTED + timedelta(days=9), story)]
    source = Source(attempts_in(follow_log(instance, sorted(world.graph.nodes))), backfills=moments)
    kinds = [chapter.is_attempt for chapter in chapters(source, Selection(), Projection())]
    assert kinds == [True, True, True, False, True, True, True, True, False, False]
    part = Selection(frozenset({MENUS}))
    source = Source(attempts_in(follow_log(instance, [MENUS])), backfills=moments)
    assert [chapter.is_attempt for chapter in chapters(source, part, Projection())] == [True, False]


def test_with_a_hierarchy_each_pipeline_is_told_before_its_first_run(instance: DagsterInstance, world: World) -> None:
    write(instance, world.facts())
    source = Source(
        attempts_in(follow_log(instance, sorted(world.graph.nodes))), pipelines=lambda one: pipelines_of(instance, one)
    )
    told = [
        event for one in chapters(source, Selection(), Projection(Extras(parents=True))) for event in _flat(one.told)
    ]
    parents = {event.lineage_run_id: place for place, event in enumerate(told) if event.job == "example"}
    assert len(parents) == 4
    for place, event in enumerate(told):
        parent = json.loads(event.body)["run"]["facets"].get("parent")
        if parent is not None:
            (of,) = [at for run, at in parents.items() if str(run) == parent["run"]["runId"]]
            assert of < place


def _flat(told: Iterable[tuple[Event, ...]]) -> list[Event]:
    return [event for events in told for event in events]


def _partition(event: dict[str, Any]) -> str:
    return str(event["run"]["facets"]["nominalTime"]["nominalStartTime"])[:10]
