"""Every refusal names what failed, the value given and the mend, and keeps its fields."""

import pytest

from lineage_assets.errors import (
    CyclicGraphError,
    LineageAssetsError,
    SettingError,
    UnknownAssetError,
    did_you_mean,
)

REFUSALS = [
    (UnknownAssetError("orders_dialy", ["orders_daily"]), ["orders_dialy", "lineage-assets graph"]),
    (SettingError("OPENLINEAGE_URL", "nowhere", "it is no address"), ["OPENLINEAGE_URL", "nowhere", "unset"]),
    (CyclicGraphError(["a", "b", "a"]), ["a -> b -> a", "Take one"]),
]


@pytest.mark.parametrize(("refusal", "words"), REFUSALS, ids=lambda given: type(given).__name__)
def test_a_refusal_names_the_thing_the_value_and_the_mend(refusal: LineageAssetsError, words: list[str]) -> None:
    assert [word for word in words if word not in str(refusal)] == []


def test_a_refusal_is_one_paragraph() -> None:
    assert [str(refusal) for refusal, _ in REFUSALS if "\n" in str(refusal)] == []


def test_an_unknown_asset_gets_the_nearest_known_name() -> None:
    assert str(UnknownAssetError("orders_dialy", ["menus", "orders_daily"])) == (
        'No asset "orders_dialy" in the graph. Did you mean "orders_daily"? `lineage-assets graph` lists all.'
    )


def test_an_unknown_asset_like_no_other_gets_no_guess() -> None:
    assert did_you_mean("xyz", ["orders_daily"]) == ""


def test_a_refusal_keeps_its_fields() -> None:
    refusal = UnknownAssetError("x", ["menus", "categories"])
    assert (refusal.name, refusal.known) == ("x", ("categories", "menus"))
