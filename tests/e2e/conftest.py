"""A browser for the pages: the system's Chromium through Playwright; without one, tests skip.

It ends with this folder: Playwright's synchronous API keeps an event loop, which asynchronous tests can't use.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, sync_playwright

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.job_page import canned_render
from tests.e2e.canned.pool_page import canned_pools

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""By preference: the headless shell draws the same pages with less than half of the CPU."""
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no Chromium on this machine: install the system's package `chromium` to test the dashboard")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=[*QUIET, *(["--no-sandbox"] if root else [])]
        )
        yield browser
        browser.close()


@pytest.fixture
def render(dashboard: Path) -> Iterator[Canned]:
    """Yields a canned server with one job, which has data in every part."""
    if not (dashboard / "index.html").exists():
        pytest.skip("the dashboard isn't built: run python3 dev.py build")
    with canned_render() as canned:
        yield canned


@pytest.fixture
def pools(dashboard: Path) -> Iterator[Canned]:
    """Yields a canned server with one pool that has data in every part, and two others."""
    if not (dashboard / "index.html").exists():
        pytest.skip("the dashboard isn't built: run python3 dev.py build")
    with canned_pools() as canned:
        yield canned


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Yields a fresh page; afterwards the test fails if a script failed or broke the Content-Security-Policy.

    It asks for reduced motion: the pulse beside "live" would be drawn 60 times a second.
    """
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            complaints.append(message.text)

    def failed(error: Error) -> None:
        complaints.append(str(error))

    page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page.on("console", listen)
    page.on("pageerror", failed)
    yield page
    page.unroute_all(behavior="ignoreErrors")  # answers that come too late would fail the next test
    page.close()
    assert complaints == []
