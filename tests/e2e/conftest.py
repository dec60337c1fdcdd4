"""The two worlds of the end-to-end tests, each lived once a suite: the story of the bad days, and one never bad."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from lineage_assets.cli.story import FIRST, LAST
from lineage_assets.pipelines.food_delivery import feed
from tests.e2e.worlds import NeverBad, Told, living_in, stop_drivers, tell, world

COST = pytest.StashKey[tuple[str, ...]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if {"told", "never_bad"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.spark)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What the story cost: told, not asserted, since it depends on the machine and on what else it does."""
    lines = config.stash.get(COST, ())
    if lines:
        terminalreporter.section("cost of the story")
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory, lineage_url: str, request: pytest.FixtureRequest) -> Iterator[Told]:
    """The story, told once; the namespace `food_delivery` of the lineage server is its alone."""
    home = tmp_path_factory.mktemp("story")
    with ExitStack() as kept:
        with living_in(home, lineage_url=lineage_url):
            result = tell(home, kept.enter_context(world(home)), lineage_url)
        request.config.stash[COST] = result.cost()
        yield result


@pytest.fixture(scope="session")
def never_bad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NeverBad]:
    """The truth: the feed was always right, and all days are made in one range, without a lineage server."""
    home = tmp_path_factory.mktemp("never_bad")
    with ExitStack() as kept:
        with living_in(home):
            story = kept.enter_context(world(home))
            try:
                story.drop_feed(feed.NO_FAULTS)
                run = story.run(FIRST, LAST)
            finally:
                stop_drivers(home)
            assert run.is_success
        yield NeverBad(home, story.verdicts())
