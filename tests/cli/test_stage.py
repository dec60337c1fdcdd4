"""The stage of the demo says where everything is, and shows no secret."""

from __future__ import annotations

import io
import sysconfig
from pathlib import Path

import pytest
from dagster import DagsterInstance, Definitions
from rich.console import Console

from lineage_assets.cli import stage
from lineage_assets.cli.project import Project
from lineage_assets.cli.story import Story
from lineage_assets.graph import AssetGraph
from lineage_assets.settings import load_settings


def test_the_stage_shows_no_password_and_empties_its_own_folder_also_when_asked_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "http://me:hunter2@127.0.0.1:1"
    settings = load_settings().model_copy(update={"home": tmp_path, "openlineage_url": address})
    monkeypatch.setattr(stage, "load_settings", lambda: settings)

    class CurtainError(Exception):
        """The project is loaded after the address was said."""

    def curtain() -> None:
        raise CurtainError

    monkeypatch.setattr(stage, "load_project", curtain)
    for name in ("ready_for_lineage", "ready_for_spark", "forget_receivers", "use_home"):
        monkeypatch.setattr(stage, name, lambda *_, **__: None)
    said = io.StringIO()
    with pytest.raises(CurtainError), stage.demo_stage(Console(file=said, width=200)):
        pass
    assert "Lineage server: http://***@127.0.0.1:1" in said.getvalue()
    settings = settings.model_copy(update={"home": tmp_path / "demo"})
    (tmp_path / "demo" / "left over").touch()
    with pytest.raises(CurtainError), stage.demo_stage(Console(file=said, width=200)):
        pass
    assert [one.name for one in (tmp_path / "demo").iterdir()] == ["of-the-demo"]


@pytest.mark.parametrize(("is_kept", "offered"), [(False, True), (True, False)])
def test_where_to_look_next_starts_from_nothing_and_offers_no_server_that_is_up(
    tmp_path: Path, *, is_kept: bool, offered: bool
) -> None:
    settings = load_settings().model_copy(update={"home": tmp_path / "demo"})
    with DagsterInstance.ephemeral() as instance:
        story = Story(Project(Definitions(), AssetGraph({})), instance, tmp_path)
        said = io.StringIO()
        stage.Stage(settings, story, "http://127.0.0.1:1").show_ways_on(Console(file=said, width=80), is_kept=is_kept)
    commands = sysconfig.get_path("scripts")
    assert f'eval "$({commands}/lineage-assets env {tmp_path}/demo)"\n' in said.getvalue()
    assert ("marquez up" in said.getvalue(), "dagster dev" in said.getvalue()) == (offered, offered)
