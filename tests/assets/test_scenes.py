"""What an attempt keeps of its time: declaration, site and source, so that lineage needs nothing of today."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_assets.assets.git_source import GitFile, git_file
from lineage_assets.assets.platform import Platform
from lineage_assets.assets.scenes import scene_texts
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.scene import parse_scene
from lineage_assets.redaction import Secrets
from lineage_assets.settings import Settings, load_settings
from tests.support.recording import RecordingLauncher
from tests.support.small_shop import JOBS

COMMIT = "693e35482bc2e526ced2b5f9f76ef83dec6ec691"


def checkout(root: Path, *, head: str = "ref: refs/heads/main", url: str = "https://git.example.com/shop.git") -> Path:
    """A folder as git leaves it, and a file in it."""
    git = root / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text(f"{head}\n", encoding="utf-8")
    (git / "config").write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n', encoding="utf-8")
    (root / "jobs").mkdir()
    file = root / "jobs" / "orders.py"
    file.write_text("", encoding="utf-8")
    return file


def test_a_file_of_a_checkout_has_repository_commit_and_branch(tmp_path: Path) -> None:
    file = checkout(tmp_path)
    (tmp_path / ".git" / "refs" / "heads" / "main").write_text(f"{COMMIT}\n", encoding="utf-8")
    assert git_file(file) == GitFile("jobs/orders.py", "https://git.example.com/shop.git", COMMIT, "main")


def test_a_packed_branch_and_a_checked_out_commit_are_found(tmp_path: Path) -> None:
    packed, detached = tmp_path / "packed", tmp_path / "detached"
    file = checkout(packed)
    (packed / ".git" / "packed-refs").write_text(f"# pack-refs\n{COMMIT} refs/heads/main\n", encoding="utf-8")
    found = git_file(file)
    assert found is not None
    assert found.commit == COMMIT
    other = git_file(checkout(detached, head=COMMIT))
    assert other is not None
    assert (other.commit, other.branch) == (COMMIT, None)


def test_a_worktree_shares_what_its_repository_has(tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    checkout(main)
    (main / ".git" / "refs" / "heads" / "fix").write_text(f"{COMMIT}\n", encoding="utf-8")
    own = main / ".git" / "worktrees" / "tree"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/fix\n", encoding="utf-8")
    (own / "commondir").write_text("../..\n", encoding="utf-8")
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n", encoding="utf-8")
    assert git_file(tree / "orders.py") == GitFile("orders.py", "https://git.example.com/shop.git", COMMIT, "fix")


def test_credentials_in_the_address_are_left_out(tmp_path: Path) -> None:
    found = git_file(checkout(tmp_path, url="https://ann:s3cret@git.example.com/shop.git"))
    assert found is not None
    assert (found.repository, found.commit) == ("https://git.example.com/shop.git", None)


def test_what_lies_in_no_checkout_has_no_source_in_git(tmp_path: Path) -> None:
    assert git_file(tmp_path / "orders.py") is None


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings().model_copy(update={"home": tmp_path})


def test_a_scene_holds_the_asset_what_it_reads_and_the_text_of_its_job(settings: Settings) -> None:
    graph = AssetGraph.of(node for job in JOBS for node in job.nodes)
    weekly = JOBS[1]
    scene = parse_scene(scene_texts(weekly, Platform(graph, RecordingLauncher(), settings), Secrets())["weekly",])
    assert set(scene.graph.nodes) == {("weekly",), ("orders",)}
    assert scene.node == graph.nodes["weekly",]
    assert scene.source.text == "def weekly(orders: DataFrame) -> DataFrame:\n    return orders\n"
    assert scene.site.warehouse == (settings.home / "warehouse").as_uri()


def test_what_the_settings_say_of_the_source_comes_first_and_its_text_can_be_kept_back(settings: Settings) -> None:
    graph = AssetGraph.of(node for job in JOBS for node in job.nodes)
    said = settings.model_copy(
        update={"repository": "https://git.example.com/other", "commit": COMMIT, "tell_source_code": False}
    )
    scene = parse_scene(scene_texts(JOBS[0], Platform(graph, RecordingLauncher(), said), Secrets())["orders",])
    assert (scene.source.repository, scene.source.commit) == ("https://git.example.com/other", COMMIT)
    assert scene.source.text == ""


def test_a_secret_known_by_value_is_not_in_the_text_of_a_scene(settings: Settings) -> None:
    graph = AssetGraph.of(node for job in JOBS for node in job.nodes)
    platform = Platform(graph, RecordingLauncher(), settings)
    scene = parse_scene(scene_texts(JOBS[1], platform, Secrets(("return orders",)))["weekly",])
    assert scene.source.text == "def weekly(orders: DataFrame) -> DataFrame:\n    ***\n"
