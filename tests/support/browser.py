"""A real browser for tests of the page: Chromium without a window, by Playwright.

Where no Chromium is on the machine the tests are skipped and say so; nothing is ever downloaded.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No sandbox: CI runs as root. The others keep Chromium from asking hosts of its maker for anything.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
WAIT_MS = 10_000

# Playwright's own, which are known only where it is installed.
Page = Any
Locator = Any
Dialog = Any


@dataclass
class Tab:
    """A page of the browser, and what it did that no test saw."""

    page: Page
    asked: list[str] = field(default_factory=list)
    """Every address that was asked for."""
    faults: list[str] = field(default_factory=list)
    """Exceptions of scripts, dialogs, and what the Content-Security-Policy stopped."""

    def hear(self, said: str) -> None:
        if "Content Security Policy" in said or "Error:" in said:
            self.faults.append(said)

    def dismiss(self, dialog: Dialog) -> None:
        self.faults.append(dialog.message)
        dialog.dismiss()


@pytest.fixture(scope="module")
def browser_tab() -> Iterator[Tab]:
    """One tab of one browser for a module: a fresh one for each test costs more than all that the test does.

    Not for the session: while Playwright is up its thread has a running loop, which other tests may not want.
    """
    driver = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"no Chromium on this machine (looked for {', '.join(NAMES)})")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        tab = Tab(browser.new_page())
        tab.page.set_default_timeout(WAIT_MS)
        tab.page.on("request", lambda request: tab.asked.append(request.url))
        tab.page.on("pageerror", lambda error: tab.faults.append(str(error)))
        tab.page.on("console", lambda message: tab.hear(message.text))
        tab.page.on("dialog", tab.dismiss)
        yield tab
        browser.close()


@pytest.fixture
def tab(browser_tab: Tab) -> Iterator[Tab]:
    """The tab, empty; in the end it must have had no fault."""
    page = browser_tab.page
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")
    browser_tab.asked.clear()
    yield browser_tab
    page.unroute_all()
    page.goto("about:blank")
    faults, browser_tab.faults = browser_tab.faults, []
    assert faults == []
