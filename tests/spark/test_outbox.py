"""What is sent is sent once: a partition's file is written whole, if it is not there, and never again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lineage_assets.spark.program import Output, Program
from lineage_assets.spark.refusal import RowsOutsideError
from lineage_assets.spark.report import Source, Transformation
from tests.support.spark import Lake, days_from, fresh_token, make_program

pytestmark = pytest.mark.spark

DAYS = days_from("2021-06-04", 2)
MAILS = (("to", "string"), ("amount", "int"), ("sent", "timestamp"))


def mailing(lake: Lake, job: str = "mails", **said: object) -> Program:
    lake.write("orders", DAYS, rows=2)
    columns = MAILS if job == "mails" else (("id", "int"), ("amount", "int"))
    output = Output(**{"asset": "mails", "columns": columns, "outbox": str(lake.folder / "outbox"), **said})
    return make_program(job, DAYS, outputs=(output,), tables=(lake.reads("orders", DAYS),))


def sent(folder: Path) -> dict[str, str]:
    box = folder / "outbox"
    return {str(path.relative_to(box)): path.read_text("utf-8") for path in sorted(box.rglob("*")) if path.is_file()}


def test_each_partition_gets_one_file_with_a_line_a_row(lake: Lake) -> None:
    report = lake.run(mailing(lake))
    files = sent(lake.folder)
    assert list(files) == ["ds=2021-06-04/mails.jsonl", "ds=2021-06-05/mails.jsonl"]
    assert [json.loads(line) for line in files["ds=2021-06-04/mails.jsonl"].splitlines()] == [
        {"to": "customer1878200@example.com", "amount": 10, "sent": "2021-06-04T12:30:00.123456Z"},
        {"to": "customer1878201@example.com", "amount": 40, "sent": "2021-06-04T12:30:00.123456Z"},
    ]
    assert report.outputs["mails"].snapshot is None
    assert [(one.published, one.rows, one.warning) for one in report.outputs["mails"].partitions.values()] == [
        (True, 2, None)
    ] * 2


def test_running_again_writes_nothing_and_warns_of_nothing_when_it_is_the_same(lake: Lake) -> None:
    program = mailing(lake)
    first = lake.run(program)
    before = sent(lake.folder)
    assert lake.run(program).outputs == first.outputs
    assert sent(lake.folder) == before


def test_other_content_is_a_warning_and_the_mail_that_was_sent_stays(lake: Lake) -> None:
    program = mailing(lake)
    first = lake.run(program)
    before = sent(lake.folder)
    lake.write("orders", DAYS[:1], rows=2, amount=99)
    again = lake.run(replace(program, token=fresh_token()))
    changed, same = (again.outputs["mails"].partitions[day] for day in DAYS)
    assert sent(lake.folder) == before
    assert (changed.published, same.warning) == (True, None)
    assert changed.warning is not None
    assert changed.warning.endswith("was written before with another content; it stays as it is")
    assert changed.fingerprint != first.outputs["mails"].partitions[DAYS[0]].fingerprint


def test_a_partition_without_rows_gets_an_empty_file_so_that_a_later_difference_is_seen(lake: Lake) -> None:
    program = mailing(lake)
    lake.clear("orders", DAYS[0])
    lake.run(program)
    assert sent(lake.folder)["ds=2021-06-04/mails.jsonl"] == ""


def test_a_bad_partition_is_not_sent(lake: Lake) -> None:
    program = mailing(lake, min_rows=2)
    lake.write("orders", DAYS[:1], rows=1)
    report = lake.run(program)
    assert list(sent(lake.folder)) == ["ds=2021-06-05/mails.jsonl"]
    assert report.outputs["mails"].partitions[DAYS[0]].cause == "incomplete data"


def test_rows_of_days_not_asked_for_are_refused_and_nothing_is_sent(lake: Lake) -> None:
    with pytest.raises(RowsOutsideError) as refused:
        lake.run(mailing(lake, "tomorrow"))
    assert refused.value.rows == {"2021-06-06": 2}
    assert sent(lake.folder) == {}


def test_what_the_job_read_is_observed_though_it_makes_no_dataset(lake: Lake) -> None:
    observed = lake.run(mailing(lake)).observed
    assert observed.inputs == (lake.table("orders"),)
    assert observed.outputs == (str(lake.folder / "outbox"),)
    assert observed.columns[str(lake.folder / "outbox")]["amount"] == (
        Source(lake.table("orders"), "amount", (Transformation("DIRECT", "IDENTITY"),)),
    )
