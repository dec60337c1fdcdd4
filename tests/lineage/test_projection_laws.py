"""Law 8: every attempt at a partition, or range, is exactly one ended run, however often its events are made."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from lineage_assets.ledger.record import (
    Attempt,
    Cause,
    Closing,
    PartitionRecord,
    PartitionRef,
    State,
)
from lineage_assets.ledger.record_json import from_json, to_json
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.retelling import retell, unended
from lineage_assets.lineage.turns import TurnType
from lineage_assets.partitions import PartitionSet, key_of, keys_of, set_of
from tests.lineage.facts import DAYS, DISCOUNTS, ORDERS, RUN, STARTED, TOP, attempt, projection, verdict

FIRST = DAYS.first.toordinal()
CAUSES = [Cause("upstream", "reads what is bad: orders"), Cause("upstream", "reads what is missing: orders")]


@dataclass(frozen=True)
class Story:
    """One attempt at the job with two outputs, and all that came of it."""

    attempts: tuple[Attempt, ...]
    records: tuple[PartitionRecord, ...]

    @property
    def tried(self) -> PartitionSet:
        return set_of(record.partition for record in self.records if record.state is not State.BLOCKED)

    def events(self) -> tuple[Event, ...]:
        told = projection()
        return (
            *told.blocked(self.attempts, self.records),
            *told.started(self.attempts, self.tried),
            *told.ended(self.attempts, self.tried, self.records),
        )


@st.composite
def stories(draw: st.DrawFn) -> Story:
    chosen = draw(st.sets(st.integers(FIRST, FIRST + 19), min_size=1))
    is_range = draw(st.booleans())
    attempts = tuple(attempt(PartitionSet.of(chosen), asset, range_run=is_range) for asset in (TOP, DISCOUNTS))
    tried = st.sampled_from([State.GOOD, State.REUSED, State.FAILED])
    records: list[PartitionRecord] = []
    for day in sorted(chosen):
        key = key_of(day)
        if draw(st.booleans()):
            records += [verdict(key, draw(tried), one.asset, range_run=is_range) for one in attempts]
        else:
            by = (PartitionRef(ORDERS, draw(st.sampled_from(["2021-05-24", "2021-05-25"]))),)
            cause = draw(st.sampled_from(CAUSES))
            records += [
                verdict(key, State.BLOCKED, one.asset, range_run=is_range, cause=cause, blocked_by=by)
                for one in attempts
            ]
    return Story(attempts, tuple(records))


@given(stories())
def test_every_run_has_one_start_and_after_it_one_end(story: Story) -> None:
    starts, ends = Counter(), Counter()
    for event in story.events():
        if event.type is TurnType.START:
            starts[event.lineage_run_id] += 1
        else:
            assert starts[event.lineage_run_id] == 1
            ends[event.lineage_run_id] += 1
    assert set(starts.values()) == {1}
    assert starts == ends


@given(stories())
def test_every_partition_tried_is_in_a_run_that_ended_as_it_did(story: Story) -> None:
    ended = {event.lineage_run_id: event.type for event in story.events() if event.type is not TurnType.START}
    for key in keys_of(story.tried):
        states = {record.state for record in story.records if record.partition == key}
        (start,) = projection().started([replace(one, range_run=False) for one in story.attempts], set_of([key]))
        expected = TurnType.FAIL if State.FAILED in states else TurnType.COMPLETE
        in_a_range_of_its_own = not story.attempts[0].range_run or expected is TurnType.FAIL
        if in_a_range_of_its_own:
            assert ended[start.lineage_run_id] is expected


@given(stories(), st.randoms(use_true_random=False))
def test_made_again_from_the_log_the_events_are_the_same_bytes(story: Story, random: st.Random) -> None:
    again = [from_json(record.asset, to_json(record)) for record in story.records]
    attempts = [from_json(one.asset, to_json(one)) for one in story.attempts]
    random.shuffle(again)
    random.shuffle(attempts)
    replayed = Story(
        tuple(one for one in attempts if isinstance(one, Attempt)),
        tuple(one for one in again if isinstance(one, PartitionRecord)),
    )
    assert [event.body for event in replayed.events()] == [event.body for event in story.events()]


@given(stories())
def test_told_from_the_log_alone_the_events_are_those_that_the_run_sent(story: Story) -> None:
    (retold,) = retell([*story.attempts, *story.records], projection())
    assert [event.body for event in retold] == [event.body for event in story.events()]


@given(stories(), st.data())
def test_what_was_cut_off_is_told_in_part_and_with_its_closing_in_full(story: Story, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(story.records)))
    facts = [*story.attempts, *story.records[:cut]]
    (part,) = retell(facts, projection())
    assert [event.type for event in part].count(TurnType.START) * 2 == len(part)
    closings = [
        Closing(asset, RUN, number, left, STARTED, Cause("cancelled", "the run was cancelled"))
        for (asset, number), left in unended(facts).items()
    ]
    (whole,) = retell([*facts, *closings], projection())
    ended = Counter(event.lineage_run_id for event in whole if event.type is not TurnType.START)
    assert set(ended.values()) == {1}
    told = PartitionSet()
    for event in whole:
        facet = json.loads(event.body)["run"]["facets"]["lineageAssets_attempt"]
        first, last = (facet["partition"],) * 2 if "partition" in facet else facet["partitions"].values()
        told |= PartitionSet.between(*(date.fromisoformat(key).toordinal() for key in (first, last)))
    assert told == story.attempts[0].partitions
