"""The answers as they are drawn: whole texts, from told logs."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import datetime, timezone

from rich.console import Console

from lineage_assets.cli.history_text import print_history
from lineage_assets.cli.impact_text import print_impact
from lineage_assets.cli.why_text import print_why
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.record import Assertion, Cause, Closing, PartitionRef, State
from lineage_assets.ledger.scene import SourceCode
from lineage_assets.ledger.seen import Unanswered
from lineage_assets.partitions import set_of, trailing_days
from lineage_assets.questions.answers_json import impact_json, why_json
from lineage_assets.questions.foreign import ForeignJob
from lineage_assets.questions.standing import Root, Standing
from tests.questions.telling import MIDNIGHT, Told, hour
from tests.support.graphs import diamond, make_node

DAY = "2021-06-06"
SHOP = AssetGraph.of(
    [
        make_node("orders"),
        make_node("weekly", ("orders", trailing_days(3)), "weather"),
        make_node("best", "weekly"),
    ]
)


def shop() -> Told:
    told = Told(SHOP)
    for day, version in (("2021-06-04", "o4"), ("2021-06-05", "o5")):
        told.good("orders", day, version, rows=1500, landing="landed-on-time", run_id="run-of-both", snapshot=77)
    told.good("orders", DAY, "o6", rows=1, drift=("reads lake.x, which is not declared",))
    reads = {"orders": {"2021-06-04": "o4", "2021-06-05": "o5", DAY: "o6"}, "weather": {DAY: None}}
    told.good(
        "weekly", DAY, "w6", reads, assertions=(Assertion("row_count", success=True), Assertion("unique", success=True))
    )
    return told


def drawn(draw: object, *arguments: object) -> list[str]:
    console = Console(file=io.StringIO(), width=80, highlight=False)
    assert callable(draw)
    draw(console, *arguments)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_why_names_the_snapshot_of_what_is_not_ours_where_it_is_known() -> None:
    told = Told(SHOP)
    told.good("weekly", DAY, "w6", {"weather": {"2021-06-05": "9022", DAY: "9022"}})
    lines = drawn(print_why, told.asked().why("weekly", DAY))
    assert "  └─ weather 2021-06-05..2021-06-06  not ours, snapshot 9022" in lines


def test_why_cuts_what_is_to_be_looked_at_and_never_what_is_to_be_run() -> None:
    answer = shop().asked().why("weekly", DAY)
    (suspect,) = answer.suspects
    roots = tuple(Root(PartitionRef((f"asset_{number:02}",), DAY), "failed") for number in range(12))
    many = [f"lineage-assets backfill asset_{number:02} --from {DAY} --to {DAY}" for number in range(12)]
    bad = replace(answer, standing=Standing.MADE_FROM_BAD, suspects=(suspect,) * 12, roots=roots)
    lines = drawn(print_why, bad)
    at = lines.index("Look at first")
    assert lines[at + 10 : at + 14] == [lines[at + 1], "  and 2 more; `--json` has all", "Next", f"  {many[0]}"]
    assert lines[-12:] == [f"  {command}" for command in many]


def test_why_draws_days_that_share_a_run_as_one_line_and_what_is_not_ours() -> None:
    told = shop()
    told.good("orders", "2021-06-05", "o5-again", run_id="run-later")
    assert drawn(print_why, told.asked().why("weekly", DAY)) == [
        "weekly 2021-06-06: stale",
        "  made         2021-06-13 04:00:00 UTC by run run-4, attempt 1",
        "  code         version c1, no git commit is known",
        "  data         version w6, 2 of 2 checks passed",
        f"  lineage run  {why_json(told.asked().why('weekly', DAY))['versions'][0]['lineage_run']}",
        "  differs      orders 2021-06-05 is version o5-again now, by run run-later; o5 was read",
        "  made from",
        "  ├─ orders 2021-06-04  run run-of-b, version o4, 1,500 rows, landing files landed-o",
        (
            "  ├─ orders 2021-06-05  run run-of-b, version o5, 1,500 rows, landing files landed-o;"
            " PUBLISHED AGAIN SINCE in another version"
        ),
        "  ├─ orders 2021-06-06  run run-3, version o6, 1 row",
        "  └─ weather 2021-06-06  not ours",
        "Look at first",
        "  orders 2021-06-05: read in a version that was replaced on 2021-06-13 05:00 by run run-late",
        "  orders 2021-06-06: 1 row, where half of the others have 1,500 or more; reads lake.x, which is not declared",
        "Next",
        "  lineage-assets backfill orders --from 2021-06-05 --to 2021-06-05 --without-root",
    ]


def test_why_draws_a_shared_version_once_and_refers_to_it() -> None:
    told = Told(diamond())
    told.good("top", DAY, "t")
    told.good("left", DAY, "l", {"top": {DAY: "t"}})
    told.good("right", DAY, "r", {"top": {DAY: "t", "2021-06-05": "gone"}})
    told.good("bottom", DAY, "b", {"left": {DAY: "l"}, "right": {DAY: "r"}})
    lines = drawn(print_why, told.asked().why("bottom", DAY))
    assert lines[lines.index("  made from") :][:6] == [
        "  made from",
        "  ├─ left 2021-06-06  run run-2, version l",
        "  │  └─ top 2021-06-06  run run-1, version t",
        "  └─ right 2021-06-06  run run-3, version r",
        "     ├─ top 2021-06-05  no record of the version that was read",
        "     └─ top 2021-06-06  (drawn above)",
    ]


def test_why_says_where_it_was_cut() -> None:
    told = shop()
    told.good("best", DAY, "b6", {"weekly": {DAY: "w6"}})
    lines = drawn(print_why, told.asked().why("best", DAY, 0))
    assert "  └─ weekly 2021-06-06  further up" in lines
    assert "More lies further up: --depth N follows it." in lines


def test_why_not_gathers_the_days_that_went_wrong_in_one_run_and_names_the_data_still_there() -> None:
    told = shop()
    told.failed("orders", DAY, "incomplete data", "6 rows; kept on the branch b_1 of lake.shop.orders")
    told.blocked("weekly", DAY, ("orders", DAY))
    lines = drawn(print_why, told.asked().why("weekly", DAY))
    assert lines[:4] == [
        "weekly 2021-06-06: blocked",
        "  said         2021-06-13 06:00:00 UTC by run run-6, attempt 1: blocked",
        "  because      upstream: reads what is bad",
        (
            "  began at     orders 2021-06-06: failed, incomplete data: 6 rows;"
            " kept on the branch b_1 of lake.shop.orders, in run run-5"
        ),
    ]
    assert "  still there  2021-06-13 04:00:00 UTC by run run-4, attempt 1" in lines
    assert "  quarantine   branch b_1 of lake.shop.orders" in drawn(print_why, told.asked().why("orders", DAY))


def test_why_names_the_run_that_let_data_stand_the_newer_code_and_a_run_that_ended_without_a_word() -> None:
    told = Told(SHOP)
    told.good("orders", DAY, "o6")
    told.good("orders", DAY, "o6", state=State.REUSED, made_by="run-1", run_id="run-2")
    told.unfinished("orders", DAY, is_live=False)
    lines = drawn(print_why, told.asked(code={"orders": "c2"}).why("orders", DAY))
    assert "  let stand    2021-06-13 02:00:00 UTC by run run-2, attempt 1" in lines
    assert "  differs      the code is version c2 now, c1 made it" in lines
    asked = "asked at 2021-06-13 00:00:00 UTC"
    assert f"  no verdict   run run-silent, {asked}, ended without a verdict (failure)" in lines
    assert "  made from    no partition of ours" in lines


def test_what_is_being_made_again_is_not_asked_for_again() -> None:
    told = Told(SHOP)
    told.failed("orders", DAY)
    told.unfinished("orders", DAY, is_live=True, status="started")
    lines = drawn(print_why, told.asked().why("orders", DAY))
    assert lines[0] == "orders 2021-06-06: failed"
    assert "  being made   run run-silent is to make it (started), asked at 2021-06-13 00:00:00 UTC" in lines
    assert "Next" not in lines


def test_history_draws_attempts_commits_and_the_diff_of_the_source() -> None:
    told = Told(SHOP)
    first = told.good("weekly", DAY, "w1", {"orders": {DAY: "o1"}}, rows=5, warning="late")
    told.attempt(
        first, SourceCode("return orders\n", repository="git@example.com:shop.git", commit="a" * 40, path="j.py")
    )
    second = told.good("weekly", DAY, "w1", {"orders": {DAY: "o2", "2021-06-05": "p"}}, rows=5, code_version="c2")
    told.attempt(second, SourceCode("return orders.limit(9)\n", commit="b" * 40, path="j.py"))
    told.good("weekly", DAY, "w1", state=State.REUSED, made_by=second.run_id, code_version="c2")
    lines = drawn(print_history, told.asked().history("weekly", DAY))
    assert "     code version c1, commit aaaaaaaaaaaa, j.py of repository git@example.com:shop.git" in lines
    assert "     read orders 2021-06-05..2021-06-06" in lines
    assert "     late" in lines
    assert f"     the data of run {second.run_id} stands" in lines
    start = lines.index("From 1 to 2")
    assert lines[start : start + 11] == [
        "From 1 to 2",
        "  code version: c1 -> c2",
        "  commit: aaaaaaaaaaaa -> bbbbbbbbbbbb (git log aaaaaaaaaaaa..bbbbbbbbbbbb)",
        "  input orders 2021-06-05: not read -> version p",
        "  input orders 2021-06-06: version o1 -> version o2",
        "  --- j.py@aaaaaaaaaaaa",
        "  +++ j.py@bbbbbbbbbbbb",
        "  @@ -1 +1 @@",
        "  -return orders",
        "  +return orders.limit(9)",
        "From 2 to 3",
    ]


def test_history_says_when_nothing_changed_and_why_a_run_gave_no_verdict() -> None:
    told = Told(SHOP)
    told.good("orders", DAY, "o")
    told.good("orders", DAY, "o")
    told.unfinished("orders", DAY, is_live=False)
    ref, (silent,) = next(iter(told.silent.items()))
    closing = Closing(
        ("orders",), "run-silent", 1, set_of([DAY]), MIDNIGHT, Cause("cancelled", "the run was cancelled")
    )
    live = Unanswered("run-live", MIDNIGHT, is_live=True, status="queued")
    told.silent[ref] = [replace(silent, closing=closing), live]
    lines = drawn(print_history, told.asked().history("orders", DAY))
    asked = "asked at 2021-06-13 00:00:00 UTC"
    assert f"     run run-silent, {asked}, ended without a verdict (failure): the run was cancelled" in lines
    assert "     run run-live is to make it (queued), asked at 2021-06-13 00:00:00 UTC" in lines
    assert "  nothing that is on record changed" in lines


def test_impact_draws_what_readers_read_and_the_jobs_of_others() -> None:
    told = shop()
    told.good("orders", DAY, "o6-again")
    told.blocked("weekly", "2021-06-07", ("orders", DAY))
    job = ForeignJob("airflow", "bi.report", ("team:bi",), (("shop", "weekly"),), "1-2", "COMPLETED", MIDNIGHT)
    never = ForeignJob("airflow", "bi.board", (), (), None, None, None)
    answer = replace(told.asked(), at=datetime(2021, 6, 14, tzinfo=timezone.utc)).impact("orders", DAY)
    assert drawn(print_impact, answer, [job, never], None) == [
        "orders 2021-06-06: reaches 6 partitions, directly or through others: 1 bad, 4 never made, 1 stale",
        "  weekly",
        "    stale  2021-06-06",
        "      by run run-4, attempt 1, code c1",
        "      read orders 2021-06-06 in version o6; o6-again is published now",
        "    bad  2021-06-07",
        "      blocked: upstream: reads what is bad",
        "    never made  2021-06-08",
        "  best",
        "    never made  2021-06-06..2021-06-08",
        "Jobs of others downstream, by the lineage server",
        "  airflow / bi.report  team:bi; newest run 1-2 COMPLETED at 2021-06-13 00:00:00 UTC",
        "  airflow / bi.board  no owner is named; it never ran",
        "Next",
        "  lineage-assets plan orders --from 2021-06-06 --without-root",
    ]
    foreign = impact_json(answer, [job, never])["foreign_jobs"]
    assert [one["newest_run"] for one in foreign] == [
        {"id": "1-2", "state": "COMPLETED", "at": "2021-06-13T00:00:00+00:00"},
        None,
    ]


def test_impact_says_the_same_of_several_assets_once_and_one_partition_is_one() -> None:
    told = Told(diamond())
    told.failed("top", "2021-06-12")
    for asset in ("left", "right", "bottom"):
        told.blocked(asset, "2021-06-12", ("top", "2021-06-12"))
    assert drawn(print_impact, told.asked().impact("top", "2021-06-12"), [], None) == [
        "top 2021-06-12: reaches 3 partitions, directly or through others: 3 bad",
        "  left, right, bottom",
        "    bad  2021-06-12",
        "      blocked: upstream: reads what is bad",
        "The lineage server knows no job of others downstream.",
        "Next",
        "  lineage-assets backfill top --from 2021-06-12 --to 2021-06-12",
    ]
    assert drawn(print_impact, told.asked().impact("left", "2021-06-12"), [], None)[0] == (
        "left 2021-06-12: reaches 1 partition, directly or through others: 1 bad"
    )


def test_an_answer_of_the_past_says_so_in_its_second_line() -> None:
    past = shop().asked(at=hour(0))
    said = (
        "  as of 2021-06-13 00:00:00 UTC, not of now;"
        " nothing was on record yet, the first is of 2021-06-13 03:00:00 UTC"
    )
    assert drawn(print_why, past.why("orders", DAY))[1] == said
    assert not any("missing" in line for line in drawn(print_why, past.why("weekly", DAY)))
    assert drawn(print_history, past.history("orders", DAY))[1:] == [said]
    assert drawn(print_impact, past.impact("orders", DAY), [], None)[1] == said
    later = drawn(print_history, shop().asked(at=hour(3)).history("orders", DAY))
    assert later[1] == "  as of 2021-06-13 03:00:00 UTC, not of now"
    assert "Next" not in later


def test_a_range_tells_its_landing_files_and_its_checks_together() -> None:
    told = Told(SHOP)
    checks = (Assertion("row_count", success=True), Assertion("unique", success=True))
    days = {"2021-06-04": "o4", "2021-06-05": "o5", DAY: "o6"}
    for day, version in days.items():
        told.good("orders", day, version, rows=7, landing=f"l{version}", run_id="run-of-all", assertions=checks)
    told.good("weekly", DAY, "w6", {"orders": days})
    assert (
        "  └─ orders 2021-06-04..2021-06-06  run run-of-a, 3 versions, 21 rows in all,"
        " landing files in 3 versions, 6 of 6 checks passed"
    ) in drawn(print_why, told.asked().why("weekly", DAY))


def test_the_reason_of_a_backfill_is_said_beside_its_name() -> None:
    told = Told(SHOP)
    told.reasons["sohmxomj"] = "late file\n of the 6th"
    told.good("orders", DAY, "o6", backfill="sohmxomj")
    by = 'run run-1, attempt 1, backfill sohmxomj "late file of the 6th"'
    assert f"  made         2021-06-13 01:00:00 UTC by {by}" in drawn(print_why, told.asked().why("orders", DAY))
    assert f"     {by}" in drawn(print_history, told.asked().history("orders", DAY))
    said = why_json(told.asked().why("orders", DAY))["newest_verdict"]
    assert (said["backfill"], said["backfill_reason"]) == ("sohmxomj", "late file\n of the 6th")


def test_what_reads_something_stale_names_it() -> None:
    told = shop()
    told.good("best", DAY, "b6", {"weekly": {DAY: "w6"}})
    told.good("orders", "2021-06-05", "o5-again")
    lines = drawn(print_why, told.asked().why("best", DAY))
    assert lines[0] == "best 2021-06-06: reads what is stale"
    assert "  stale input  weekly 2021-06-06" in lines
