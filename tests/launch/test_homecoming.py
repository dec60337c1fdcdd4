"""What a program sends through Pipes is known when its session is closed, and no half of it."""

from collections.abc import Callable
from pathlib import Path

from dagster import AssetExecutionContext, DagsterInstance, asset, materialize
from dagster_pipes import (
    PipesContext,
    PipesDefaultContextLoader,
    PipesDefaultMessageWriter,
    PipesMappingParamsLoader,
    decode_param,
)

from lineage_assets.launch.homecoming import came_home, open_home
from lineage_assets.spark.execution import Failure
from lineage_assets.spark.report import OutputReport, PartitionReport, Report

Send = Callable[[PipesContext], None]
LONG = Report(
    {
        "orders": OutputReport(
            {f"day {number}": PartitionReport(published=True, rows=number) for number in range(5000)}, 2**62 + 1
        )
    }
)


def home_of(send: Send, after: Callable[[Path], None] = lambda _: None) -> Report | Failure | None:
    """What comes home, in a real step, of a program that sends this."""
    came: list[Report | Failure | None] = []

    @asset
    def orders(context: AssetExecutionContext) -> None:
        with open_home(context) as session:
            params = PipesMappingParamsLoader(session.get_bootstrap_env_vars())
            with PipesContext(params, PipesDefaultContextLoader(), PipesDefaultMessageWriter()) as program:
                send(program)
            after(Path(decode_param(session.get_bootstrap_env_vars()["DAGSTER_PIPES_MESSAGES"])["path"]))
        came.append(came_home(session))

    with DagsterInstance.ephemeral() as instance:
        materialize([orders], instance=instance)
    return came[0]


def test_a_report_of_thousands_of_partitions_comes_home_whole() -> None:
    assert home_of(lambda program: program.report_custom_message({"report": LONG.to_json()})) == LONG


def test_a_failure_comes_home_as_what_it_is() -> None:
    sent = {"kind": "job failed", "message": "no such menu", "stack": ""}
    assert home_of(lambda program: program.report_custom_message({"failure": sent})) == Failure(**sent)


def test_of_a_program_that_was_killed_while_it_wrote_nothing_comes_home() -> None:
    def cut(messages: Path) -> None:
        with messages.open("a") as file:
            file.write('{"method": "report_custom_message", "params": {"payload": {"rep')

    assert home_of(lambda _: None, cut) is None
