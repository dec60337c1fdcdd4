"""The package offers what an author needs, by name, and nothing that is not there."""

import pytest

import lineage_assets


@pytest.mark.parametrize("name", lineage_assets.__all__)
def test_an_offered_name_is_the_one_that_its_module_defines(name: str) -> None:
    assert getattr(lineage_assets, name).__name__ == name


def test_no_name_is_offered_twice_or_without_a_home() -> None:
    assert lineage_assets.__all__ == sorted(lineage_assets._HOMES)


def test_a_name_that_is_not_offered_is_missing_as_from_any_module() -> None:
    with pytest.raises(AttributeError, match="no attribute 'trailing_weeks'"):
        lineage_assets.trailing_weeks  # noqa: B018 - asking is the test
