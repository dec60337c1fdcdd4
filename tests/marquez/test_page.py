"""The embedded server's page in a real browser, over a server that holds three bad days."""

import re
from itertools import combinations
from urllib.parse import unquote, urlsplit

import pytest

from lineage_assets.marquez.embedded.app import READS
from lineage_assets.marquez.embedded.identity import installed_version
from tests.contract.recorded import SCENARIOS, steps_of
from tests.support.browser import DESK, PHONE, Locator, Page, Tab

ORDERS = "#in=food_delivery&namespace=food_delivery&job=example.etl_orders"
BLOCKED = "#in=food_delivery&namespace=food_delivery&job=example.etl_delivery_7_days"


def shown(tab: Tab, address: str) -> Page:
    """The page at this address, when it has read all it shows."""
    tab.page.goto(address)
    tab.page.wait_for_selector("main[aria-busy=false]")
    return tab.page


def texts(found: Locator) -> list[str]:
    """What is seen of each, once there is any; a drawing has text but no inner text."""
    found.first.wait_for(state="attached")
    seen = found.evaluate_all("all => all.map(each => each.innerText ?? each.textContent)")
    return [re.sub(r"\s+", " ", text).strip() for text in seen]


def test_the_page_says_what_server_it_is(tab: Tab, lineage_page: str) -> None:
    said = shown(tab, lineage_page).locator("#server").inner_text()
    assert said.startswith(f"lineage_assets embedded lineage server {installed_version()}. This is not Marquez")


def test_the_first_look_names_each_bad_job_its_partitions_and_the_cause(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, f"{lineage_page}/#in=food_delivery")
    bad = "2021-06-04 to 2021-06-06"
    assert texts(page.locator(".bad-jobs li")) == [
        f"example.etl_orders failed {bad} no landing file for 2021-06-06",
        f"example.etl_orders_7_days blocked {bad} orders 2021-06-06 failed: no landing file for 2021-06-06",
        f"example.etl_delivery_7_days blocked {bad} orders 2021-06-06 failed: no landing file for 2021-06-06",
    ]


def test_the_graph_draws_13_jobs_and_13_datasets_apart_and_from_left_to_right(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, f"{lineage_page}/#in=food_delivery")
    boxes = {node.get_attribute("aria-label"): node.bounding_box() for node in page.locator(".node").all()}
    assert [sum(label.startswith(kind) for label in boxes) for kind in ("job", "dataset")] == [13, 13]
    for one, other in combinations(boxes.values(), 2):
        beside = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        assert beside or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
    way = ("job example.etl_orders ", "dataset public.orders ", "job example.etl_orders_7", "dataset public.orders_7")
    places = [next(box["x"] for label, box in boxes.items() if label.startswith(start)) for start in way]
    assert places == sorted(set(places))


def test_a_node_tells_its_state_by_word_and_mark_and_not_by_colour_alone(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, f"{lineage_page}/#in=food_delivery")
    for job, mark, state in (("orders", "failed", "failed"), ("orders_7_days", "aborted", "blocked")):
        node = page.get_by_label(f"job example.etl_{job} in food_delivery: {state} 2021-06-06", exact=True)
        assert texts(node.locator(".state")) == [f"{state} 2021-06-06"]
        assert [mark in each.get_attribute("class") for each in node.locator(".mark").all()][-3:] == [True] * 3
    forms = {mark: page.locator(f".legend .mark.{mark}").get_attribute("d") for mark in ("completed", "failed", "none")}
    assert len(set(forms.values())) == 3


def test_a_click_on_a_job_shows_what_is_upstream_and_downstream(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, f"{lineage_page}/#in=food_delivery")
    page.get_by_label("job example.etl_orders_7_days in").click()
    page.wait_for_selector(".node.selected")
    assert texts(page.locator(".node.upstream .name")) == ["etl_orders", "etl_menus", "orders", "menus"]
    downstream = texts(page.locator(".node.downstream .name"))
    assert downstream[:3] == ["orders_7_days", "etl_delivery_7_days", "delivery_7_days"]
    assert "customers" not in downstream
    assert texts(page.locator("#details summary"))[:2] == [
        "Upstream: 2 jobs, 2 datasets",
        "Downstream: 4 jobs, 5 datasets",
    ]


def test_three_bad_days_stand_out_in_the_grid_and_lead_to_their_runs(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, lineage_page + "/" + ORDERS)
    cells = [cell.get_attribute("aria-label") for cell in page.locator(".cell").all()]
    good, bad = "completed, 1 attempt", "failed, 1 attempt"
    days = {f"2021-06-{day:02}: {good if day < 4 else bad}" for day in range(1, 7)}
    assert set(cells) == {f"2021-05-31: {good}", *days}
    page.get_by_label("2021-06-05: failed").click()
    page.wait_for_selector("#details h2:has-text('Run for 2021-06-05')")
    assert "12 rows, at least 80 expected" in page.locator("#details .notice.bad").inner_text()


def test_runs_are_listed_newest_first_with_state_attempt_and_duration(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, lineage_page + "/" + ORDERS)
    rows = texts(page.locator("#details tbody tr"))
    assert rows[:2] == ["2021-06-06 failed 1 20.0 s 2021-06-07 02:01:20 UTC", "no landing file for 2021-06-06"]
    assert rows[-1] == "2021-05-31 completed 1 30.0 s 2021-06-01 02:04:00 UTC"


def test_a_blocked_run_names_cause_and_blocker_and_what_it_read(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, lineage_page + "/" + BLOCKED)
    page.get_by_role("link", name="2021-06-06", exact=True).click()
    page.wait_for_selector("#details h2:has-text('Run for')")
    assert texts(page.locator("#details .notice.bad p")) == [
        "orders 2021-06-06 failed: no landing file for 2021-06-06",
        "By: orders_7_days 2021-06-06",
    ]
    read = page.get_by_role("region", name="Read").locator("tbody tr")
    assert re.fullmatch(r"public.customers 2021-06-06 \w{8} example.etl_customers", texts(read)[0])
    page.get_by_role("link", name="orders_7_days 2021-06-06", exact=True).click()
    page.wait_for_selector("#details h3:has-text('Attempts at 2021-06-06')")
    assert page.locator("#details h2").inner_text() == "Job example.etl_orders_7_days"


def test_a_good_run_leads_through_versions_to_the_run_that_made_what_it_read(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, f"{lineage_page}/#namespace=food_delivery&job=example.etl_orders_7_days")
    page.get_by_role("link", name="2021-06-03", exact=True).click()
    wrote = page.get_by_role("region", name="Wrote").locator("tbody tr")
    assert re.fullmatch(r"public.orders_7_days 2021-06-03 [\d,]+ \w{8}", texts(wrote)[0])
    read = page.get_by_role("region", name="Read").locator("tbody tr", has_text="public.orders")
    assert "2021-05-28 to 2021-06-03" in read.inner_text() or "2021-05-31 to 2021-06-03" in read.inner_text()
    read.get_by_role("link", name="Version").click()
    page.wait_for_selector("#details h2:has-text('Dataset public.orders')")
    page.locator("#details .notice").get_by_role("link", name="example.etl_orders").click()
    page.wait_for_selector("#details h2:has-text('Run for 2021-06-03')")
    assert "example.etl_orders" in page.locator("#details p").first.inner_text()


def test_facets_are_folded_and_readable(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, lineage_page + "/" + ORDERS)
    page.get_by_label("2021-06-04: failed").click()
    facet = page.locator("details.facet", has=page.locator("summary", has_text="lineageAssets_attempt"))
    facet.locator("summary").wait_for()
    assert not facet.locator("pre").is_visible()
    facet.locator("summary").click()
    assert '\n  "partition": "2021-06-04"' in facet.locator("pre").inner_text()


def test_a_range_run_counts_for_each_day_but_where_a_day_has_a_run_of_its_own(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, f"{lineage_page}/#in=ranges&namespace=ranges&job=etl")
    cells = [cell.get_attribute("aria-label") for cell in page.locator(".cell").all()]
    words = ["completed, 1 attempt"] * 2 + ["failed, 2 attempts"] + ["completed, 1 attempt"] * 2 + ["reused, 1 attempt"]
    assert cells == [f"2024-03-0{day}: {word}" for day, word in enumerate(words, 1)]
    page.get_by_label("2024-03-03").click()
    page.wait_for_selector("h3:has-text('Attempts at 2024-03-03')")
    assert texts(page.locator("#details tbody th")) == ["2024-03-03", "2024-03-01 to 2024-03-05"]


def test_older_runs_are_read_when_asked_for(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, f"{lineage_page}/#namespace=many&job=etl")
    assert page.locator("#details tbody tr").count() == 100
    page.get_by_role("button", name="Read older runs (100 of 130 read)").click()
    page.wait_for_selector("#details tbody tr:nth-child(130)")
    assert page.get_by_role("button", name="Read older runs").count() == 0


def test_an_address_can_be_shared_reloaded_and_left_by_the_back_button(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, lineage_page)
    page.select_option("#namespaces", "food_delivery")
    page.get_by_label("job example.etl_orders in").click()
    page.get_by_label("2021-06-05: failed").click()
    page.wait_for_selector("#details h2:has-text('Run for 2021-06-05')")
    page.reload()
    page.wait_for_selector("#details h2:has-text('Run for 2021-06-05')")
    assert page.locator("#namespaces").input_value() == "food_delivery"
    for expected in ("#details h2:has-text('Job example.etl_orders')", "#details[hidden]"):
        page.go_back()
        page.wait_for_selector(expected, state="attached")


def test_a_name_is_searched_and_chosen_by_keyboard_alone(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, f"{lineage_page}/#in=food_delivery")
    page.keyboard.press("/")
    page.keyboard.type("7_days")
    page.wait_for_selector("#found a")
    assert "job example.etl_orders_7_days food_delivery" in texts(page.locator("#found li"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#details h2")
    page.keyboard.press("Escape")
    page.wait_for_selector("#details[hidden]", state="attached")
    page.locator(".node").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#details h2:has-text('Job')")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_nothing_is_wider_than_the_screen(tab: Tab, lineage_page: str, size: dict[str, int]) -> None:
    tab.page.set_viewport_size(size)
    for address in ("#in=food_delivery", ORDERS, BLOCKED, "#namespace=food_delivery&dataset=public.orders"):
        page = shown(tab, f"{lineage_page}/{address}")
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_300_nodes_are_drawn_and_one_that_reads_itself_breaks_nothing(tab: Tab, lineage_page: str) -> None:
    page = shown(tab, f"{lineage_page}/#in=large")
    assert page.locator(".node").count() == 300
    page.get_by_label("job flow.self in").click()
    page.wait_for_selector("#details h2:has-text('flow.self')")
    assert page.locator(".edge.back").count() == 1


def test_the_page_asks_its_own_server_only_and_only_what_a_recorded_marquez_answered(
    tab: Tab, lineage_page: str
) -> None:
    page = shown(tab, lineage_page + "/" + ORDERS)
    page.get_by_label("2021-06-04: failed").click()
    page.get_by_role("link", name="Version").first.click()
    page.fill("#search", "orders")
    page.wait_for_selector("#found a")
    assert {urlsplit(url).netloc for url in tab.asked} == {urlsplit(lineage_page).netloc}
    steps = (step for story in SCENARIOS.iterdir() for step in steps_of(story.name) if step["do"] == "GET")
    recorded = {template_of(step["path"]) for step in steps if step["expect"]["status"] == 200}
    used = {template_of(url) for url in tab.asked if "/api/v1/" in url}
    assert len(used) > 8
    assert used - recorded == set()


def template_of(url: str) -> str:
    path = urlsplit(url).path.removeprefix("/api/v1")
    fits = (template for template in READS if re.fullmatch(re.sub(r"{\w+}", "[^/]+", template), path))
    return max(fits, key=lambda template: -template.count("{"), default=unquote(path))
