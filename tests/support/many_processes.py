"""The small shop with each step in a process of its own, by a function that Dagster's executor can find again."""

from __future__ import annotations

import os
import signal

from dagster import Definitions, JobDefinition, define_asset_job, multiprocess_executor

from lineage_assets.assets.definitions import build_definitions
from lineage_assets.settings import load_settings
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Report
from tests.support.recording import RecordingLauncher, report_of
from tests.support.small_shop import JOBS

KILL = "kill"
"""A file in the state folder: the process that launches a program ends as by the kernel's hand."""


def answer(program: Program) -> Report:
    if (load_settings().home / KILL).exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return report_of(program)


def shop_job() -> JobDefinition:
    definitions = build_definitions(
        JOBS, launcher=RecordingLauncher(answer), settings=load_settings(), executor=multiprocess_executor
    )
    # Dagster's own job of all assets has a name that a job found by a function may not have.
    named = Definitions(jobs=[define_asset_job("shop", selection=["orders", "weekly"])])
    return Definitions.merge(definitions, named).resolve_job_def("shop")
