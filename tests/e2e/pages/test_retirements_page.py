"""The page of what Azure retires, with a canned API: by date, with pools, for one account, and on a phone."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned

OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
HOSTILE = "<img src=x onerror=document.title='broken'>"


def entry(name: str, days: int | None, *pools: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "id": name, "what": f"Thing {name}", "lastDay": None if days is None else "2027-01-01", "daysLeft": days,
        "effect": "No nodes.", "instead": "Another thing.", "source": "https://example.org/1", "readOn": "2026-11-23",
        "pools": list(pools), "unknownPools": 0, "unknownIn": [], "concernsApp": False,
    } | changes  # fmt: skip


def pool(account: str, name: str) -> dict[str, Any]:
    return {"account": account, "id": name, "nodes": 12, "jobs": 3}


@pytest.fixture
def retirements(render: Canned) -> Canned:
    render.retirements = [
        entry("past", -3, pool("demo", "old")),
        entry("near", 14, pool("demo", HOSTILE), pool("other", "far-away")),
        entry("open", None, pool("other", "far-away")),
        entry("own", 900, concernsApp=True),
        entry("nobody", 30),
        entry("unsure", None, unknownPools=3, unknownIn=["demo", "other", "other"]),
    ]
    return render


def test_entries_stand_with_days_pools_and_sources(page: Page, retirements: Canned) -> None:
    page.goto(f"{retirements.url}/?view=retirements")
    entries = page.get_by_test_id("retirements").locator("> li")
    expect(entries).to_have_count(5)
    expect(entries.nth(0)).to_contain_text("3 days ago")
    expect(entries.nth(1)).to_have_attribute("data-urgency", "bad")
    expect(entries.nth(1)).to_contain_text(f"{HOSTILE} demo · 12 nodes, 3 open jobs")
    expect(entries.nth(2)).to_contain_text("no day known")
    expect(entries.nth(3)).to_contain_text("This Batchscope uses it itself.")
    expect(entries.nth(0).get_by_role("link", name="old")).to_have_attribute("href", "?account=demo&pool=old")
    expect(entries.nth(0).get_by_role("link", name="Announcement")).to_have_attribute("href", "https://example.org/1")
    page.get_by_role("checkbox").check()
    expect(entries).to_have_count(6)
    expect(page.get_by_role("link", name="Retirements as CSV")).to_have_attribute(
        "href", "/api/retirements?all=true&format=csv"
    )
    expect(page).to_have_title("Retirements · Batchscope")


def test_an_account_has_its_own_pools_only(page: Page, retirements: Canned) -> None:
    page.goto(f"{retirements.url}/?view=retirements&account=demo")
    entries = page.get_by_test_id("retirements").locator("> li")
    expect(entries).to_have_count(4)
    expect(page.get_by_test_id("retirements")).not_to_contain_text("far-away")
    expect(entries.nth(3)).to_contain_text("Not known of 1 pool:")
    expect(page.get_by_role("link", name="Retirements as CSV")).to_have_attribute(
        "href", "/api/retirements?account=demo&all=false&format=csv"
    )
    page.get_by_role("link", name="all accounts").click()
    expect(entries).to_have_count(5)
    expect(entries.nth(4)).to_contain_text("Not known of 3 pools:")


def test_the_page_fits_on_a_phone_and_says_where_there_is_nothing(page: Page, retirements: Canned) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    retirements.retirements[0]["pools"] = [pool("demo", f"{'long-name-' * 12}{number}") for number in range(30)]
    page.goto(f"{retirements.url}/?view=retirements")
    expect(page.get_by_role("button", name="10 more")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
    retirements.retirements = []
    retirements.unknown_images = [{"account": "demo", "reason": f"It can't be read: {HOSTILE}"}]
    page.reload()
    expect(page.get_by_test_id("unknown-images")).to_have_text(
        f"Ends of images of demo may be missing: It can't be read: {HOSTILE}"
    )
    expect(page.get_by_text("Nothing that is used here is announced as retired.")).to_be_visible()
