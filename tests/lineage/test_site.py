"""Where tables lie and what runs, as this machine knows it."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from lineage_assets.lineage import site
from lineage_assets.lineage.site import local_site


def test_a_state_folder_is_a_site_with_the_versions_installed() -> None:
    found = local_site(Path("/srv/state"))
    assert found.warehouse == "file:///srv/state/warehouse"
    assert found.spark_version == version("pyspark")
    assert (found.catalog, found.catalog_type) == ("lake", "jdbc")


def test_what_nobody_installed_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> str:
        raise site.PackageNotFoundError(name)

    monkeypatch.setattr(site, "version", nowhere)
    assert local_site(Path("/srv/state")).adapter_version == "unknown"
