"""The queue on a pool's page, with a canned API: who goes first, why jobs wait, and what isn't known."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_queue import busy_queue, queue, queued
from tests.e2e.canned.pool_page import expect_legible_in_both_themes, section, show_pool

HOSTILE = "<img src=x onerror=document.title='broken'>"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


def row(page: Page, job: str) -> Locator:
    return page.locator(f"tr[data-queued-job='{job}']")


def test_jobs_stand_in_order_with_shares_causes_and_starts(page: Page, pools: Canned) -> None:
    pools.queue = busy_queue()
    show_pool(page, pools)
    expect(page.get_by_test_id("queue-summary")).to_have_text(
        "200 tasks of 4 jobs wait for slots; none is free. Among equal priorities jobs share slots equally. "
        "Lately 12.5 tasks ended per minute."
    )
    expect(page.locator("tr[data-queued-job]")).to_have_count(4)
    expect(page.locator("tr[data-queued-job] th a")).to_have_text(["urgent", "night-1", "night-2", "off"])
    expect(row(page, "urgent")).to_contain_text("in 3 min")
    expect(row(page, "night-1")).to_contain_text("50%")
    expect(row(page, "night-2")).to_contain_text("not known")
    expect(row(page, "night-2").locator("small", has_text="It isn't stored.")).to_be_visible()
    expect(row(page, "off").locator(".why")).to_have_text("The job is disabled")
    expect(page.get_by_role("link", name="Queue as CSV")).to_have_attribute(
        "href", re.compile(r"^/api/accounts/demo/pools/[^/]+/queue\?top=100&format=csv$")
    )
    row(page, "urgent").get_by_role("link").click()
    expect(page).to_have_url(re.compile("job=urgent"))


def test_a_queue_beyond_the_list_is_counted_and_doubts_are_named(page: Page, pools: Canned) -> None:
    pools.queue = queue([queued("first")], count=3_001, moreJobs=3_000, unknown=["The counts aren't up to date."])
    show_pool(page, pools)
    expect(page.get_by_test_id("queue-more")).to_have_text("3,000 more jobs behind these.")
    expect(page.get_by_test_id("queue-unknown")).to_have_text("The counts aren't up to date.")


def test_an_empty_queue_says_so_and_a_broken_one_fails_alone(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    expect(section(page, "queue")).to_contain_text("No task waits for slots.")
    expect(page.get_by_role("link", name="Queue as CSV")).to_have_count(0)
    pools.broken = {"queue": (503, "Storage is busy.")}
    page.reload()
    expect(section(page, "queue").get_by_test_id("section-problem")).to_contain_text("Storage is busy.")
    expect(page.locator("tr[data-node]").first).to_be_visible()


def test_external_values_of_the_queue_are_text_and_fit_at_any_width(page: Page, pools: Canned) -> None:
    long = "goes-on-and-on-" * 20
    pools.queue = queue([queued(HOSTILE, title=long), queued(long, reason=HOSTILE, expectedStart=None)], unknown=[long])
    for width in (1440, 1100, 800, 420):
        page.set_viewport_size({"width": width, "height": 900})
        show_pool(page, pools)
        expect(page.locator("tr[data-queued-job]")).to_have_count(2)
        expect(section(page, "queue")).to_contain_text(HOSTILE)
        assert page.evaluate(OVERFLOW) <= 0, width
    assert page.title() != "broken"


def test_the_queue_is_legible_in_both_themes(page: Page, pools: Canned) -> None:
    pools.queue = busy_queue()
    expect_legible_in_both_themes(page, pools, "tr[data-queued-job]", 4)
