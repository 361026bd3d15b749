"""What needs attention on the start page: causes, the worst first, each with a link to what it is about."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned

ATTENTION = "[data-section=attention]"


def condition(**more: Any) -> dict[str, Any]:
    finding = {
        "code": "jobStuck", "severity": "blocking", "title": "The job 'render' is stuck",
        "detail": "6 tasks are waiting, none is running.", "evidence": {"waitingTasks": 6}, "advice": "See why.",
        "since": None,
    }  # fmt: skip
    return {
        "account": "demo", "rule": "jobStuck", "kind": "job", "id": "render", "pool": None, "unknown": None,
        "since": "2026-01-01T00:00:00Z", "finding": finding, "inhibitedBy": None, **more,
    }  # fmt: skip


@pytest.fixture
def attention(render: Canned) -> Canned:
    cause = {"rule": "poolResizeFailed", "kind": "pool", "id": "pool-a"}
    render.conditions = [
        condition(**cause),
        condition(),
        condition(id="other", inhibitedBy=cause),
        condition(id="third", unknown="The last poll failed."),
    ]
    return render


def test_causes_stand_on_the_start_page_with_what_follows_from_them(page: Page, attention: Canned) -> None:
    page.goto(attention.url)
    lines = page.locator(f"{ATTENTION} li")
    expect(lines).to_have_count(3)
    expect(lines.nth(0)).to_contain_text("1 more follows from it")
    expect(lines.nth(2)).to_contain_text("not known at present: The last poll failed.")
    expect(page.locator(f"{ATTENTION} .note")).to_have_text("3")
    lines.nth(1).get_by_role("link", name="Open the job render").click()
    expect(page).to_have_url(f"{attention.url}/?account=demo&job=render")


def test_a_quiet_account_says_so_and_one_without_ticks_why_it_is_not_known(page: Page, render: Canned) -> None:
    page.goto(render.url)
    expect(page.locator(ATTENTION)).to_contain_text("Nothing does at present.")
    render.unevaluated = [{"account": "demo", "reason": "No tick runs."}]
    page.reload()
    expect(page.locator(ATTENTION)).to_contain_text("demo: No tick runs.")
    expect(page.locator(ATTENTION)).not_to_contain_text("Nothing does")


def test_conditions_that_cannot_be_loaded_are_named_as_such(page: Page, render: Canned) -> None:
    page.route("**/api/conditions*", lambda route: route.fulfill(status=500, body="{}"))
    page.goto(render.url)
    expect(page.locator(ATTENTION)).to_contain_text("couldn't be loaded")


def test_no_line_makes_a_narrow_page_scroll_sideways(page: Page, attention: Canned) -> None:
    attention.conditions[1]["id"] = "a" * 64
    attention.conditions[1]["finding"] |= {"title": f"The job '{'a' * 64}' is stuck"}
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(attention.url)
    expect(page.locator(f"{ATTENTION} li")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
