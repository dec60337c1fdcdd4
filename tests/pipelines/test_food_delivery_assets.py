"""The declared graph is the one of the backfill blog."""

from __future__ import annotations

from lineage_assets.assets.declaration import JobDeclaration, Landing
from lineage_assets.graph import AssetGraph
from lineage_assets.partitions import SAME_PARTITION, trailing_days
from lineage_assets.pipelines.food_delivery import feed
from lineage_assets.pipelines.food_delivery.assets import JOBS
from tests.support.graphs import food_delivery

GRAPH = AssetGraph.of(node for job in JOBS for node in job.nodes)

SOURCE_JOBS = {
    "example.etl_menus",
    "example.etl_categories",
    "example.etl_menu_items",
    "example.etl_orders",
    "example.etl_customers",
    "example.etl_order_status",
    "example.etl_drivers",
    "example.etl_restaurants",
}


def declared(lineage_job: str) -> JobDeclaration:
    return next(job for job in JOBS if job.lineage_job.name == lineage_job)


def dataset_edges() -> dict[str, tuple[set[str], set[str]]]:
    """Lineage job to the datasets that it reads and makes."""
    datasets = {key: node.dataset.name for key, node in GRAPH.nodes.items() if node.dataset is not None}
    return {
        job.lineage_job.name: (
            {datasets[read.asset] for node in job.nodes for read in node.inputs},
            {datasets[node.key] for node in job.nodes if node.key in datasets},
        )
        for job in JOBS
    }


def downstream_jobs(lineage_job: str) -> set[str]:
    """The way of the blog's script: out of the job to its datasets, out of those to the jobs that read them."""
    edges = dataset_edges()
    found: set[str] = set()
    left = [lineage_job]
    while left:
        made = edges[left.pop()][1]
        readers = {job for job, (reads, _) in edges.items() if reads & made}
        left += readers - found
        found |= readers
    return found


def test_thirteen_jobs_make_thirteen_datasets() -> None:
    made = [name for _, outputs in dataset_edges().values() for name in outputs]
    assert len(JOBS) == 13
    assert len(made) == len(set(made)) == 13


def test_each_job_reads_and_makes_what_the_blog_says() -> None:
    edges = dataset_edges()
    for name in SOURCE_JOBS:
        assert edges.pop(name) == (set(), {name.replace("example.etl_", "public.")})
    assert edges == {
        "example.etl_orders_7_days": (
            {"public.menus", "public.menu_items", "public.orders", "public.categories"},
            {"public.orders_7_days"},
        ),
        "example.etl_delivery_7_days": (
            {
                "public.orders_7_days",
                "public.customers",
                "public.order_status",
                "public.drivers",
                "public.restaurants",
            },
            {"public.delivery_7_days"},
        ),
        "example.delivery_times_7_days": (
            {"public.delivery_7_days"},
            {"public.top_delivery_times", "public.discounts"},
        ),
        "example.orders_popular_day_of_week": (
            {"public.top_delivery_times", "public.customers"},
            {"public.popular_orders_day_of_week"},
        ),
        "example.email_discounts": ({"public.discounts", "public.customers"}, set()),
    }


def test_downstream_of_a_job_is_what_the_blogs_script_finds() -> None:
    popular, mails = "example.orders_popular_day_of_week", "example.email_discounts"
    times, deliveries = "example.delivery_times_7_days", "example.etl_delivery_7_days"
    assert downstream_jobs("example.etl_orders") == {
        "example.etl_orders_7_days",
        deliveries,
        times,
        popular,
        mails,
    }
    assert downstream_jobs("example.etl_order_status") == {deliveries, times, popular, mails}
    assert downstream_jobs(deliveries) == {times, popular, mails}
    assert downstream_jobs(times) == {popular, mails}
    assert downstream_jobs(popular) == downstream_jobs(mails) == set()


def test_only_orders_and_their_states_are_read_for_a_week() -> None:
    windows = {
        (job.lineage_job.name, read.asset[0]): read.window
        for job in JOBS
        for node in job.nodes
        for read in node.inputs
        if read.window != SAME_PARTITION
    }
    assert windows == {
        ("example.etl_orders_7_days", "orders"): trailing_days(7),
        ("example.etl_delivery_7_days", "order_status"): trailing_days(7),
    }


def test_the_graph_that_other_tests_use_is_this_one() -> None:
    stand_in = food_delivery()
    assert {key: set(node.inputs) for key, node in GRAPH.nodes.items()} == {
        key: set(node.inputs) for key, node in stand_in.nodes.items()
    }


def test_sources_take_the_columns_that_the_feed_drops() -> None:
    for table in feed.TABLES:
        landing = declared(f"example.etl_{table}").reads["landing"]
        assert isinstance(landing, Landing)
        dropped = feed.rows_of(feed.DEMO, table, feed.DEMO.opening)[0]
        assert tuple(column.name for column in landing.columns) == tuple(dropped)


def test_a_tenth_of_a_days_orders_is_too_few_and_half_is_enough() -> None:
    (orders,) = declared("example.etl_orders").makes
    assert orders.checks.min_rows == 25


def test_all_jobs_have_an_owner_and_say_what_they_do() -> None:
    assert {job.lineage_job.owners for job in JOBS} == {("team:food-delivery",)}
    assert all(job.lineage_job.description.endswith(".") for job in JOBS)
    assert all(made.description.endswith(".") for job in JOBS for made in job.makes)


def test_every_table_has_a_key_and_requires_it() -> None:
    for job in JOBS:
        for made in job.makes:
            assert made.checks.key
            assert set(made.checks.key) <= set(made.checks.required)
