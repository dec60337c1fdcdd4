"""The command line refuses in one paragraph and with exit code 2, and knows its commands without loading them."""

import pytest

from lineage_assets.cli.main import COMMANDS, main


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_help_names_every_command_and_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    shown = capsys.readouterr().out
    assert [name for name, purpose in COMMANDS.items() if f"{name} " not in shown or purpose not in shown] == []


def test_an_expected_error_is_one_paragraph_on_stderr_and_exit_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINEAGE_ASSETS_LAUNCHER", "tepid")
    assert run("jars", "fetch") == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert 'The setting LINEAGE_ASSETS_LAUNCHER="tepid" cannot be used' in shown.err


def test_a_misspelt_command_gets_the_nearest_one_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("bakfill", "orders") == 2
    assert 'No command "bakfill". Did you mean "backfill"?' in capsys.readouterr().err
