"""Navigation between the lists and their entries: addresses, titles, back and forward, and the selected account."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_pool import node
from tests.e2e.canned.canned_values import job
from tests.e2e.canned.pool_page import show_pool


def test_each_list_has_an_address_and_a_title_of_its_own(page: Page, render: Canned) -> None:
    page.goto(f"{render.url}/?account=demo&prefix=ren")
    lists = page.get_by_role("navigation", name="Lists")
    for name in ("Pools", "Schedules", "Quotas", "Events", "Retirements"):
        lists.get_by_role("link", name=name).click()
        expect(page).to_have_url(re.compile(rf"\?view={name.lower()}&account=demo$"))
        expect(page).to_have_title(f"{name} · Batchscope")
        expect(lists.get_by_role("link", name=name)).to_have_attribute("aria-current", "true")
    for name in ("Events", "Quotas", "Schedules", "Pools"):
        page.go_back()
        expect(page).to_have_title(f"{name} · Batchscope")
    page.go_back()
    expect(page).to_have_title("Batchscope")
    expect(page.locator("tr[data-job=render]")).to_be_visible()
    page.go_forward()
    page.reload()
    expect(page).to_have_title("Pools · Batchscope")


def test_the_way_up_from_a_job_leads_to_the_list_as_it_was(page: Page, render: Canned) -> None:
    page.goto(f"{render.url}/?prefix=ren")
    page.get_by_role("link", name="render", exact=True).click()
    page.get_by_role("link", name="Jobs").click()
    expect(page).to_have_url(re.compile(r"\?prefix=ren$"))


def test_pools_jobs_and_schedules_link_to_each_other(page: Page, pools: Canned) -> None:
    pools.jobs = {"demo": [job("nightly:job-3"), job("other", poolId="etl")]}
    show_pool(page, pools)
    page.get_by_role("link", name="jobs on this pool").click()
    expect(page).to_have_url(re.compile(r"\?account=demo&poolId=render-d4s$"))
    expect(page.locator("tr[data-job]")).to_have_count(1)
    assert any("/jobs?" in asked and "poolId=render-d4s" in asked for asked in pools.asked)
    page.get_by_role("link", name="nightly:job-3").click()
    expect(page.get_by_role("link", name="nightly", exact=True)).to_have_attribute(
        "href", "?account=demo&schedule=nightly"
    )
    page.go_back()
    page.get_by_role("button", name="pool render-d4s").click()
    expect(page.locator("tr[data-job]")).to_have_count(2)


def test_back_closes_a_panel_and_the_focus_stays_where_it_was(page: Page, pools: Canned) -> None:
    page.goto(f"{pools.url}/?view=pools")
    page.get_by_role("link", name="render-d4s").press("Enter")
    row = page.locator("tr[data-node]").first.get_by_role("button")
    for close in (page.go_back, lambda: page.keyboard.press("Escape")):
        row.press("Enter")
        expect(page.get_by_role("dialog")).to_contain_text(node(0)["id"])
        close()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page).to_have_url(re.compile("pool=render-d4s$"))
        expect(row).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("tr[data-pool=render-d4s] a.open")).to_be_focused()
    page.go_back()
    expect(page.get_by_test_id("pool-heading")).to_be_focused()
    page.go_back()
    expect(page.locator("tr[data-pool=render-d4s] a.open")).to_be_focused()


def test_a_refused_first_request_shows_an_error_with_retry(page: Page, pools: Canned) -> None:
    live = page.locator(".liveness")
    pools.broken = {"pool": (503, "Storage is busy."), "schedule": (503, "Storage is busy.")}
    for one in ("pool", "schedule"):
        page.goto(f"{pools.url}/?account=demo&{one}=nothing")
        expect(live).to_have_text("Error")
        expect(page.get_by_test_id(f"{one}-problem")).to_contain_text("Storage is busy.")
        expect(page.get_by_test_id("banner")).to_have_count(0)
    with page.expect_request(re.compile("/jobschedules/"), timeout=2000):
        page.get_by_role("button", name="Retry").click()
    pools.broken = {}
    expect(page.get_by_test_id("no-such-schedule")).to_be_visible(timeout=40_000)
    expect(live).to_have_text("Live")
