"""What is told of an error: enough to act upon, in one line."""

import pytest

from lineage_assets.spark.cancellation import CancelledError
from lineage_assets.spark.execution import Failure
from lineage_assets.spark.refusal import NoSuchJobError

JAVA = """An error occurred while calling o62.collect.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 1 times
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2856)
\t... 40 more
Caused by: java.lang.RuntimeException: no such menu
"""


def raised(error: Exception) -> Failure:
    with pytest.raises(type(error)) as caught:
        raise error
    return Failure.of(caught.value)


def test_a_java_stack_trace_becomes_one_line_with_its_cause() -> None:
    failure = raised(RuntimeError(JAVA))
    assert failure.kind == "job failed"
    assert failure.message == (
        "RuntimeError: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 1 times "
        "Caused by: java.lang.RuntimeException: no such menu"
    )
    assert "test_execution.py" in failure.stack


def test_a_refusal_is_its_own_sentence() -> None:
    failure = raised(NoSuchJobError("jobs:orders"))
    assert (failure.kind, failure.message[:39]) == ("refused", 'There is no function "jobs:orders". Nam')


def test_what_nobody_wants_any_more_is_cancelled_not_failed() -> None:
    assert raised(CancelledError()).kind == "cancelled"
