"""The page where things are not as they should be: hostile names, a server that is gone, slow, old or wrong."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from lineage_assets.marquez.embedded import page as page_module
from tests.support.browser import PHONE, Page, Tab
from tests.support.lineage_page import PLANTED, PLANTED_RUN

FILES = sorted(Path(page_module.__file__).with_name("browser").iterdir())
ORDERS = "#in=food_delivery&namespace=food_delivery&job=example.etl_orders"
NOTICE = ".notice.bad[role=alert]"


def read(page: Page, address: str) -> Page:
    page.goto(address)
    page.wait_for_selector("main[aria-busy=false]")
    return page


def hold(tab: Tab, path: str) -> list[Any]:
    """Keeps questions at this path from being answered until each is let go."""
    held: list[Any] = []
    # Playwright writes on the function it is given, which a built-in one does not bear.
    tab.page.route(path, lambda route: held.append(route))  # noqa: PLW0108
    return held


@pytest.mark.parametrize(
    "address",
    ["in=planted", "job", "dataset", f"run={PLANTED_RUN}", "missing"],
    ids=["overview", "job", "dataset", "run", "missing"],
)
def test_planted_markup_is_shown_as_text_and_never_run(tab: Tab, lineage_page: str, address: str) -> None:
    planted = httpx.QueryParams({"in": "planted", "namespace": "planted"})
    asked = {
        "job": planted.set("job", f"job {PLANTED}"),
        "dataset": planted.set("dataset", f"written {PLANTED}"),
        "missing": planted.set("job", PLANTED).set("in", PLANTED),
    }
    page = read(tab.page, f"{lineage_page}/#{asked.get(address, address)}")
    for summary in page.locator("summary").all():
        summary.evaluate("each => { each.parentElement.open = true }")
    assert PLANTED in page.locator("body").inner_text()
    assert page.locator("img, iframe, object, [onerror], a[href^=javascript]").count() == 0
    assert page.evaluate("window.planted") is None


def test_a_planted_name_is_found_and_followed(tab: Tab, lineage_page: str) -> None:
    page = read(tab.page, f"{lineage_page}/#in=planted")
    page.fill("#search", "<img")
    page.locator("#found a", has_text="job ").click()
    page.wait_for_selector("#details h2")
    assert page.locator("#details h2").inner_text() == f"Job job {PLANTED}"


def test_a_script_in_the_page_itself_is_stopped(tab: Tab, lineage_page: str) -> None:
    page = read(tab.page, lineage_page)
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.planted = 1'}))")
    assert page.evaluate("window.planted") is None
    assert [fault for fault in tab.faults if "Content Security Policy" in fault] == tab.faults != []
    tab.faults.clear()


def test_what_is_waited_for_is_said(tab: Tab, lineage_page: str) -> None:
    held = hold(tab, "**/api/v1/namespaces/*/jobs*")
    tab.page.goto(f"{lineage_page}/#in=food_delivery")
    tab.page.wait_for_selector("#said:has-text('Reading jobs and datasets…')")
    assert tab.page.locator("main").get_attribute("aria-busy") == "true"
    held[0].continue_()
    tab.page.wait_for_selector(".node")
    tab.page.wait_for_selector("#said:not(:has-text('Reading'))", state="attached")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "The server does not answer (api/v1/namespaces). Is it still up?"),
        ({"status": 500, "body": "<html>broken</html>"}, "answered 500 with something that is no JSON."),
        ({"status": 503, "json": {"code": 503, "message": "full"}}, "was refused with status 503: full"),
    ],
    ids=["gone", "html", "refused"],
)
def test_a_failure_is_said_in_words_and_trying_again_mends_it(
    tab: Tab, lineage_page: str, answer: dict[str, Any] | None, words: str
) -> None:
    path = "**/api/v1/namespaces?*"
    tab.page.route(path, lambda route: route.abort() if answer is None else route.fulfill(**answer))
    tab.page.goto(f"{lineage_page}/#in=food_delivery")
    tab.page.wait_for_selector(NOTICE)
    assert words in tab.page.locator(NOTICE).inner_text()
    tab.page.unroute(path)
    tab.page.get_by_role("button", name="Try again").click()
    tab.page.wait_for_selector(".node")
    assert tab.page.locator(NOTICE).count() == 0


def test_an_unknown_job_is_named_and_the_graph_stays(tab: Tab, lineage_page: str) -> None:
    page = read(tab.page, f"{lineage_page}/#in=food_delivery&namespace=food_delivery&job=example.etl_oders")
    assert "Job 'example.etl_oders' not found." in page.locator(NOTICE).inner_text()
    assert page.locator(".node").count() == 26


def test_a_namespace_without_jobs_says_so(tab: Tab, lineage_page: str) -> None:
    page = read(tab.page, f"{lineage_page}/#in=default")
    assert page.locator("#graph .notice").inner_text().startswith("No job is known in namespace default yet.")


def test_an_answer_that_comes_late_is_not_shown_in_place_of_a_later_question(tab: Tab, lineage_page: str) -> None:
    held = hold(tab, "**/jobs/example.etl_menus")
    page = read(tab.page, f"{lineage_page}/#in=food_delivery")
    page.get_by_label("job example.etl_menus in").click()
    page.wait_for_selector("#details:has-text('Reading…')")
    page.get_by_label("job example.etl_orders in").click()
    page.wait_for_selector("#details h2:has-text('example.etl_orders')")
    for route in held:
        route.continue_()
    page.wait_for_selector("main[aria-busy=false]")
    assert page.locator("#details h2").inner_text() == "Job example.etl_orders"


def test_a_marquez_without_run_lineage_still_shows_its_runs(tab: Tab, lineage_page: str) -> None:
    tab.page.route("**/runlineage/**", lambda route: route.fulfill(status=404, json={"code": 404, "message": "no"}))
    page = read(tab.page, f"{lineage_page}/{ORDERS}")
    page.get_by_label("2021-06-04: failed").click()
    page.wait_for_selector("#details h2:has-text('Run for')")
    assert page.locator(NOTICE).count() == 0


def test_before_another_server_the_page_says_what_that_calls_itself(tab: Tab, lineage_page: str) -> None:
    raw = next(path for path in FILES if path.name == "index.html").read_text("utf-8")
    tab.page.route(f"{lineage_page}/", lambda route: route.fulfill(body=raw, content_type="text/html"))
    tab.page.route(
        "**/api/v1/namespaces?*", lambda route: route.fulfill(json={"namespaces": []}, headers={"server": "x"})
    )
    page = read(tab.page, f"{lineage_page}/#in=food_delivery")
    said = page.locator("#server").inner_text()
    assert re.fullmatch(r"The server that answers calls itself (x|lineage_assets/.*)\.", said)


def test_dark_and_light_follow_the_reader_and_both_can_be_read(tab: Tab, lineage_page: str) -> None:
    tab.page.set_viewport_size(PHONE)
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        page = read(tab.page, f"{lineage_page}/?{scheme}{ORDERS}")
        pairs = [
            colours(page, each)
            for each in ("body", "#details .quiet, #said", ".cell.failed", ".notice, body", "a.close")
        ]
        assert min(contrast(*pair) for pair in pairs) > 4.5
        assert (luminance(pairs[0][1]) > 0.5) == (scheme == "light")


def colours(page: Page, selector: str) -> tuple[list[float], list[float]]:
    """Ink and paper of the first such element; paper is that of the nearest one that has any."""
    script = """(each) => {
      const numbers = (text) => text.match(/[0-9.]+/g).map(Number);
      let below = each;
      while (below && numbers(getComputedStyle(below).backgroundColor)[3] === 0) below = below.parentElement;
      return [numbers(getComputedStyle(each).color), numbers(getComputedStyle(below ?? document.body).backgroundColor)];
    }"""
    ink, paper = page.locator(selector).first.evaluate(script)
    return ink, paper


def luminance(colour: list[float]) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in colour[:3])
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: list[float], other: list[float]) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_the_page_is_small_names_no_other_server_and_makes_no_markup(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 250
    assert max(map(len, text.splitlines())) <= 300
    assert set(re.findall(r"\w+://[^\"'\s]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert (
        re.findall(r"(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser", text) == []
    )


def test_what_the_page_may_load_is_its_own_server_only(server: httpx.Client) -> None:
    for path in ("/", "/browser/main.js", "/browser/page.css", "/browser/icon.svg"):
        answer = server.get(path)
        policy = answer.headers["content-security-policy"]
        assert (answer.status_code, policy.split("; ")[0]) == (200, "default-src 'none'")
        assert set(re.findall(r"-src ([^;]+)", policy)) == {"'none'", "'self'"}
    for path in ("/browser/none.js", "/browser/..%2fpage.py", "/browser/index.html"):
        assert (server.get(path).status_code, server.get(path).json()["code"]) == (404, 404)
