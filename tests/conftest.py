"""What every test stands on: a state folder of its own, and the fixtures of ``tests/support``."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = [
    "tests.support.browser",
    "tests.support.event_check",
    "tests.support.lineage_page",
    "tests.support.lineage_server",
    "tests.support.postgres",
    "tests.support.spark",
]

# A shell starts what it puts in the background with Ctrl-C ignored; tests that send it, and their children, need it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The time one example takes says nothing on a busy machine.
settings.register_profile("lineage_assets", deadline=None)
settings.load_profile("lineage_assets")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the state of the person who runs it."""
    home = tmp_path / "home"
    monkeypatch.setenv("LINEAGE_ASSETS_HOME", str(home))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("OPENLINEAGE_CONFIG", os.devnull)  # an empty file; their own may name their company's server
    return home
