"""The whole stack with its demo running fast: counts equal the truth, and the page shows them moving."""

import re
import time

import pytest
from playwright.sync_api import Page, expect

from local.prove.counts import Stack, compare
from tests.e2e.stack import RunningStack


@pytest.fixture(scope="module")
def demo(stack: RunningStack) -> Stack:
    """The stack once its demo has begun to fill it: thousands of tasks in the largest job, and more coming."""
    found = Stack(stack.api, stack.emulator, stack.account.name)
    deadline = time.monotonic() + 60
    while max((job["total"] for job in found.truth().values()), default=0) < 3_000:
        assert time.monotonic() < deadline, "the demo didn't start within a minute"
        time.sleep(0.5)
    return found


def test_counts_equal_the_truth_while_the_demo_runs(demo: Stack) -> None:
    for _ in range(5):
        time.sleep(1)
        demo.pause(paused=True)
        try:
            assert compare(demo) == []
        finally:
            demo.pause(paused=False)


def test_the_page_shows_every_job_and_moves_by_itself(demo: Stack, stack: RunningStack, page: Page) -> None:
    page.goto(stack.dashboard)
    row = page.locator('[data-job="render-feature-film"]')
    expect(row).to_be_visible(timeout=15_000)
    expect(row.locator("[data-count=total]")).to_contain_text(re.compile(r"\d+,\d{3}"))
    expect(row.locator("[data-level]")).to_have_attribute("data-level", "exact", timeout=30_000)
    before = row.inner_text()
    page.wait_for_function(
        "text => document.querySelector('[data-job=\"render-feature-film\"]').innerText !== text",
        arg=before,
        timeout=20_000,
    )
    shown = {element.get_attribute("data-job") for element in page.locator("[data-job]").all()}
    assert "render-feature-film" in shown
    assert len(shown) >= 4
