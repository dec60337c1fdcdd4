"""Names that would break a receiver never leave."""

from __future__ import annotations

import pytest

from lineage_assets.datasets import Dataset
from lineage_assets.errors import BadDeclarationError
from lineage_assets.graph import AssetGraph, AssetNode, LineageJob
from lineage_assets.lineage.names import check_names
from tests.lineage.facts import (
    DAYS,
    ORDERS,
)
from tests.support.graphs import days

JUNE_1_TO_4 = days("2021-06-01", "2021-06-04")


@pytest.mark.parametrize(
    ("job_name", "dataset", "what"),
    [
        ("example.etl\x00", ("food_delivery", "public.orders"), "lineage job name"),
        ("example.etl", ("food delivery", "public.orders"), "dataset namespace"),
        ("example.etl", ("food_delivery", "o" * 256), "dataset name"),
    ],
)
def test_a_name_that_breaks_a_receiver_is_refused_before_any_event(
    job_name: str, dataset: tuple[str, str], what: str
) -> None:
    node = AssetNode(ORDERS, LineageJob("food_delivery", job_name), DAYS, (), Dataset(*dataset, ()))
    with pytest.raises(BadDeclarationError, match=what):
        check_names(AssetGraph.of([node]))
