"""A lineage server for tests: the one OPENLINEAGE_URL names, else an embedded one for the whole suite.

Tests that ask it use namespaces of their own, so that they pass on a server that holds other things.
"""

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest

from lineage_assets.marquez.client import MarquezClient, marquez_at
from lineage_assets.marquez.process import down, up
from lineage_assets.settings import load_settings


@pytest.fixture(scope="session")
def lineage_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a lineage server that is up; an embedded one goes when this process does."""
    given = load_settings().openlineage_url
    if given is not None:
        yield given
        return
    home = tmp_path_factory.mktemp("lineage")
    yield up(home, owner_pid=os.getpid()).url
    down(home)


@pytest.fixture(scope="session")
def lineage_client(lineage_url: str) -> Iterator[MarquezClient]:
    with marquez_at(lineage_url) as client:
        yield client


@pytest.fixture
def lineage_namespace() -> str:
    """A namespace that no other test and no earlier suite has used."""
    return f"test-{uuid4()}"
