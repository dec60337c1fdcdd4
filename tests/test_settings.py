"""Settings come from the environment alone, and a bad one is refused by its variable's name."""

from datetime import date, timedelta
from pathlib import Path
from traceback import format_exception

import pytest

from lineage_assets.clock import utc_now
from lineage_assets.errors import SettingError
from lineage_assets.settings import Settings, child_environment, load_settings, project_folder, secrets_of


def test_the_state_folder_lies_beside_the_nearest_workspace_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / "project" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "project" / "workspace.yaml").touch()
    monkeypatch.delenv("LINEAGE_ASSETS_HOME")
    monkeypatch.chdir(deep)
    assert load_settings().home == tmp_path / "project" / ".lineage_assets"


def test_without_a_workspace_file_the_working_folder_is_the_project(tmp_path: Path) -> None:
    assert project_folder(tmp_path) == tmp_path


def test_dagster_lives_in_the_state_folder_unless_it_has_a_home(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().dagster_home == own_home / "dagster"
    monkeypatch.setenv("DAGSTER_HOME", "/elsewhere")
    assert load_settings().dagster_home == Path("/elsewhere")


def test_a_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINEAGE_ASSETS_HOME", "state")
    assert load_settings().home == tmp_path / "state"


def test_an_empty_variable_counts_as_unset(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", "")
    monkeypatch.setenv("DAGSTER_HOME", "")
    assert (load_settings().openlineage_url, load_settings().dagster_home) == (None, own_home / "dagster")


def test_each_load_reads_the_environment_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().launcher == "warm"
    monkeypatch.setenv("LINEAGE_ASSETS_LAUNCHER", "submit")
    assert load_settings().launcher == "submit"


def test_the_sample_partitions_are_those_of_the_story(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOOD_DELIVERY_FIRST", raising=False)
    monkeypatch.delenv("FOOD_DELIVERY_LAST", raising=False)
    settings = load_settings()
    assert (settings.first_partition, settings.last_partition) == (date(2021, 5, 24), date(2021, 6, 12))


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("FOOD_DELIVERY_FIRST", "yesterday", "valid date"),
        ("FOOD_DELIVERY_FIRST", "2031-01-01", "it is after FOOD_DELIVERY_LAST"),
        ("OPENLINEAGE_URL", "localhost:5000", "no http:// or https:// address"),
        ("OPENLINEAGE_URL", "http://", "no http:// or https:// address"),
        ("LINEAGE_ASSETS_LAUNCHER", "tepid", "'warm' or 'submit'"),
        ("LINEAGE_ASSETS_RANGE_RUN_THRESHOLD", "0", "greater than or equal to 1"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_variable(
    variable: str, value: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingError) as refused:
        load_settings()
    assert (refused.value.variable, refused.value.value) == (variable, value)
    assert reason in refused.value.reason


def test_a_trailing_slash_makes_no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:5000/")
    assert load_settings().openlineage_url == "http://127.0.0.1:5000"


def test_a_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "hush")
    assert "hush" not in repr(load_settings())


def test_the_password_of_an_address_is_not_shown_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", "http://me:hunter2@127.0.0.1:5000")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__URL", "http://me:hunter2@127.0.0.1:5000")
    assert "hunter2" not in repr(load_settings()) + str(load_settings())
    assert "'http://***@127.0.0.1:5000'" in repr(load_settings())


def test_nor_is_it_when_the_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", "ftp://me:hunter2@127.0.0.1")
    with pytest.raises(SettingError) as refused:
        load_settings()
    assert "hunter2" not in "".join(format_exception(refused.value))
    assert refused.value.value == "ftp://***@127.0.0.1"


def test_the_secrets_of_the_environment_are_known_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "a-key-of-lineage")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__AUTH__APIKEY", "another-key-9")
    monkeypatch.setenv("WAREHOUSE_PASSWORD", "swordfish-1")
    monkeypatch.setenv("DATABASE_URL", "postgres://me:from-an-address@h/db")
    monkeypatch.setenv("BROKEN_URL", "http://[::1")
    monkeypatch.setenv("PLAIN", "an honest value")
    monkeypatch.setenv("PWD", "/an/honest/folder")
    values = secrets_of(load_settings()).values
    assert {"a-key-of-lineage", "another-key-9", "swordfish-1", "from-an-address"} <= set(values)
    assert not {"an honest value", "/an/honest/folder"} & set(values)


@pytest.mark.parametrize("before", ["ghp-token@", "ann:hunter2@", "ann:p@ss@", ""])
def test_a_token_in_the_address_of_the_repository_is_left_out(before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEAGE_ASSETS_REPOSITORY", f"https://{before}git.example.com/shop.git")
    assert load_settings().repository == "https://git.example.com/shop.git"


def test_settings_can_be_given_by_name_instead() -> None:
    assert Settings(range_run_threshold=3).range_run_threshold == 3


def test_a_child_inherits_what_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("REMOVED", "1")
    child = child_environment({"ADDED": "2", "REMOVED": None})
    assert (child["KEPT"], child["ADDED"], "REMOVED" in child) == ("1", "2", False)


def test_the_clock_speaks_utc() -> None:
    assert utc_now().utcoffset() == timedelta(0)
