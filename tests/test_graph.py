"""The graph: order, readers, names, and declarations that cannot be."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_assets.datasets import Dataset
from lineage_assets.errors import AmbiguousAssetError, BadDeclarationError, CyclicGraphError, UnknownAssetError
from lineage_assets.graph import AssetGraph, Input, LineageJob, name_of
from lineage_assets.partitions import SAME_PARTITION, Window
from tests.support.graphs import WEEK, food_delivery, make_node, shuffled
from tests.support.strategies import graphs


@given(graphs())
def test_every_asset_comes_after_all_that_it_reads(graph: AssetGraph) -> None:
    place = {key: at for at, key in enumerate(graph.order)}
    assert set(place) == set(graph.nodes)
    for key, node in graph.nodes.items():
        for read in node.inputs:
            assert read.asset == key or place[read.asset] < place[key]


@given(graphs(), st.data())
def test_the_order_does_not_depend_on_the_order_of_declaration(graph: AssetGraph, data: st.DataObject) -> None:
    again = shuffled(graph, data.draw(st.permutations(range(len(graph.nodes)))))
    assert again.order == graph.order


@given(graphs())
def test_readers_are_inputs_turned_round(graph: AssetGraph) -> None:
    read_by = {(up, key, window) for up, readers in graph.readers.items() for key, window in readers}
    assert read_by == {(read.asset, key, read.window) for key, node in graph.nodes.items() for read in node.inputs}


def test_upstream_is_all_that_is_read_near_and_far_in_order_and_only_ours() -> None:
    graph = AssetGraph.of(
        [make_node("a"), make_node("b", "a", "weather"), make_node("stock", "b", ("stock", Window(-1, -1)))]
    )
    assert graph.upstream_of([("stock",)]) == (("a",), ("b",), ("stock",))
    assert graph.upstream_of([("b",), ("a",)]) == (("a",),)
    assert graph.upstream_of([("a",), ("weather",)]) == ()


def test_a_ring_is_refused_and_named() -> None:
    with pytest.raises(CyclicGraphError, match=r"a -> b -> a|b -> a -> b"):
        AssetGraph.of([make_node("a", "b"), make_node("b", "a")])


def test_an_asset_may_read_its_own_past() -> None:
    graph = AssetGraph.of([make_node("stock", ("stock", Window(-1, -1)))])
    assert graph.order == (("stock",),)


@pytest.mark.parametrize("window", [SAME_PARTITION, WEEK, Window(-1, 1)])
def test_an_asset_that_reads_itself_of_the_same_day_or_later_is_refused(window: Window) -> None:
    with pytest.raises(
        BadDeclarationError,
        match='input of "stock" "stock" is not valid: it may read its own past only; end its window at -1',
    ):
        make_node("stock", ("stock", window))


def test_an_asset_is_declared_once() -> None:
    with pytest.raises(BadDeclarationError, match='asset "orders" is not valid: declare it once'):
        AssetGraph.of([make_node("orders"), make_node("orders")])


def test_an_input_is_declared_once() -> None:
    with pytest.raises(BadDeclarationError, match="declare each input once"):
        make_node("week", "orders", ("orders", WEEK))


@pytest.mark.parametrize(("namespace", "name"), [("", "job"), ("ns", ""), ("ns", "  ")])
def test_a_lineage_job_without_a_name_is_refused(namespace: str, name: str) -> None:
    with pytest.raises(BadDeclarationError, match="give it a name that is not empty"):
        LineageJob(namespace, name)


def test_an_input_of_another_location_is_no_node() -> None:
    graph = AssetGraph.of([make_node("ours", "theirs")])
    assert graph.order == (("ours",),)
    assert graph.readers["theirs",] == ((("ours",), SAME_PARTITION),)


def test_outputs_of_one_job_are_made_together() -> None:
    graph = food_delivery()
    assert graph.made_with(("discounts",)) == (("discounts",), ("top_delivery_times",))
    assert graph.made_with(("orders",)) == (("orders",),)


def test_an_asset_is_found_by_its_full_name_or_its_last_part() -> None:
    node = make_node("orders")
    graph = AssetGraph.of([type(node)(("food", "orders"), node.job, node.partitions)])
    assert graph.find("food/orders") == graph.find("orders") == ("food", "orders")


def test_a_misspelt_asset_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownAssetError, match=r'No asset "ordres" in the graph\. Did you mean "orders"\?'):
        food_delivery().find("ordres")


@pytest.mark.parametrize("name", ["delivery_7_days", "food_delivery.delivery_7_days", "make_deliveries"])
def test_a_dataset_s_or_a_job_s_name_is_refused_with_the_asset_s(name: str) -> None:
    node = replace(
        make_node("deliveries"), dataset=Dataset("lake", "7 days", (), table="food_delivery.delivery_7_days")
    )
    with pytest.raises(UnknownAssetError, match=rf'No asset "{name}" in the graph\. Did you mean "deliveries"\?'):
        AssetGraph.of([node, make_node("delivery_times")]).find(name)


def test_a_job_s_name_that_stands_for_two_assets_names_neither() -> None:
    with pytest.raises(UnknownAssetError, match=r'No asset "delivery_times" in the graph\. `lineage-assets'):
        AssetGraph.of([make_node("a", job="delivery_times"), make_node("b", job="delivery_times")]).find(
            "delivery_times"
        )


def test_a_name_that_two_assets_end_with_is_refused_with_both() -> None:
    node = make_node("orders")
    graph = AssetGraph.of(type(node)((folder, "orders"), node.job, node.partitions) for folder in ("a", "b"))
    with pytest.raises(AmbiguousAssetError, match="may mean a/orders or b/orders"):
        graph.find("orders")


def test_a_key_is_written_with_slashes() -> None:
    assert name_of(("food", "orders")) == "food/orders"


def test_an_input_reads_the_same_partition_unless_said_otherwise() -> None:
    assert Input(("orders",)).window == SAME_PARTITION
