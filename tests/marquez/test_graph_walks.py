"""Walks over a lineage graph as Marquez answers it."""

from lineage_assets.marquez.shapes import (
    LineageGraph,
    dataset_node_id,
    downstream_jobs,
    graph_of,
    job_node_id,
    run_of,
)


def graph(**jobs: tuple[str, str]) -> LineageGraph:
    """Jobs by name, each with the datasets it reads and writes, one letter each."""
    edges = [
        *((dataset_node_id("n", used), job_node_id("n", job)) for job, (read, _) in jobs.items() for used in read),
        *(
            (job_node_id("n", job), dataset_node_id("n", made))
            for job, (_, written) in jobs.items()
            for made in written
        ),
    ]
    nodes = [
        {
            "id": node,
            "type": node.split(":")[0].upper(),
            "data": {"namespace": "n", "name": node.split(":")[2]},
            "inEdges": [{"origin": origin, "destination": node} for origin, end in edges if end == node],
            "outEdges": [{"origin": node, "destination": end} for origin, end in edges if origin == node],
        }
        for node in {end for edge in edges for end in edge}
    ]
    return graph_of({"graph": nodes})


def names(found: tuple[str, ...]) -> list[str]:
    return [node.removeprefix("job:n:") for node in found]


def test_downstream_are_readers_and_their_readers_nearest_first() -> None:
    chain = graph(load=("", "a"), clean=("a", "b"), count=("b", "c"), mail=("ac", ""))
    assert names(downstream_jobs(chain, "job:n:load")) == ["clean", "mail", "count"]
    assert names(downstream_jobs(chain, "job:n:mail")) == []


def test_siblings_that_share_an_input_are_not_downstream() -> None:
    siblings = graph(one=("a", "b"), two=("a", "c"), other=("", "b"))
    assert names(downstream_jobs(siblings, "job:n:one")) == []


def test_a_ring_of_jobs_ends_where_it_closes_and_leaves_the_job_itself_out() -> None:
    ring = graph(one=("c", "a"), two=("a", "b"), three=("b", "c"))
    assert names(downstream_jobs(ring, "job:n:one")) == ["two", "three"]
    assert names(downstream_jobs(graph(alone=("a", "a")), "job:n:alone")) == []


def test_an_edge_that_leaves_the_graph_is_not_followed() -> None:
    whole = graph(load=("", "a"), clean=("a", "b"))
    cut = LineageGraph({id_: node for id_, node in whole.nodes.items() if node.name != "clean"})
    assert downstream_jobs(cut, "job:n:load") == ()


def test_times_are_read_with_any_fraction_and_an_absent_end_is_none() -> None:
    run = run_of({"id": "1", "state": "RUNNING", "createdAt": "2021-06-01T00:00:00.5Z", "startedAt": None})
    assert run.created_at.isoformat() == "2021-06-01T00:00:00.500000+00:00"
    assert (run.started_at, run.ended_at) == (None, None)
