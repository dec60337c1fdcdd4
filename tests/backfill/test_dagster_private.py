"""The private names of Dagster that we use are where and what they were; when this fails, Dagster has moved.

Then read what became of the name, mend `lineage_assets/dagster_private.py`, and run the canaries below it.
"""

import inspect
from collections.abc import Callable
from enum import Enum

import pytest
from dagster import Definitions, JobDefinition
from dagster._core.storage import tags as dagster_tags
from dagster._core.storage.tags import BACKFILL_ID_TAG, EXTERNALLY_MANAGED_ASSETS_TAG

from lineage_assets import dagster_private as private


def parameters(of: Callable[..., object]) -> tuple[str, ...]:
    return tuple(inspect.signature(of).parameters)


def test_every_name_offered_is_there() -> None:
    for name in private.__all__:
        assert hasattr(private, name), f"Dagster has moved: {name}"


def test_a_backfill_record_has_the_fields_we_write() -> None:
    assert {
        "backfill_id",
        "status",
        "from_failure",
        "tags",
        "backfill_timestamp",
        "asset_selection",
        "title",
        "description",
        "asset_backfill_data",
        "backfill_end_timestamp",
    } <= set(private.PartitionBackfill._fields)
    assert parameters(private.PartitionBackfill.get_asset_backfill_data) == ("self", "asset_graph")
    assert parameters(private.PartitionBackfill.with_asset_backfill_data) == (
        "self",
        "asset_backfill_data",
        "dynamic_partitions_store",
        "asset_graph",
    )


def test_a_storage_of_runs_tells_its_id() -> None:
    assert parameters(private.SqlRunStorage.get_run_storage_id) == ("self",)


def test_backfill_data_has_the_fields_we_write() -> None:
    assert private.AssetBackfillData._fields == (
        "target_subset",
        "requested_runs_for_target_roots",
        "latest_storage_id",
        "materialized_subset",
        "requested_subset",
        "failed_and_downstream_subset",
        "backfill_start_time",
    )
    assert private.AssetGraphSubset._fields == ("partitions_subsets_by_asset_key", "non_partitioned_asset_keys")
    assert private.TimestampWithTimezone._fields == ("timestamp", "timezone")


@pytest.mark.parametrize("status", ["REQUESTED", "CANCELING", "CANCELED", "COMPLETED_SUCCESS", "COMPLETED_FAILED"])
def test_a_backfill_has_the_states_we_write(status: str) -> None:
    assert issubclass(private.BulkActionStatus, Enum)
    assert private.BulkActionStatus[status].value == status


def test_a_backfill_id_is_what_dagster_makes() -> None:
    assert private.make_new_backfill_id().isalpha()


def test_the_tags_are_spelt_as_dagster_reads_them() -> None:
    assert private.BACKFILL_TAG == BACKFILL_ID_TAG
    assert private.DEFER_ASSET_EVENTS_TAG == EXTERNALLY_MANAGED_ASSETS_TAG
    assert private.USER_TAG == dagster_tags.USER_TAG


def test_runs_are_started_with_the_arguments_we_give() -> None:
    assert {"asset_selection", "instance", "tags", "run_config", "raise_on_error", "resources"} <= set(
        parameters(JobDefinition.execute_in_process)
    )
    assert parameters(Definitions.resolve_implicit_global_asset_job_def) == ("self",)
