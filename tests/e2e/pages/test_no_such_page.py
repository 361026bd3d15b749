"""The page for unknown addresses names the missing part: the page, or the account in the address."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned


@pytest.mark.parametrize("address", ["/nowhere/else", "/?view=nothing", "/jobs"])
def test_an_unknown_address_says_so_and_leads_to_the_lists(page: Page, render: Canned, address: str) -> None:
    page.goto(f"{render.url}{address}")
    said = page.get_by_test_id("no-such-page")
    expect(said).to_contain_text("Page not found")
    expect(said).to_contain_text(address)
    expect(page).to_have_title("Page not found · Batchscope")
    expect(page.locator("tr[data-job]")).to_have_count(0)
    page.get_by_role("navigation", name="Lists").get_by_role("link", name="Pools").click()
    expect(page).to_have_url(re.compile(r"/\?view=pools$"))


@pytest.mark.parametrize("name", ["job", "pool", "schedule"])
def test_a_thing_of_an_unknown_account_says_that_the_account_is_missing(page: Page, render: Canned, name: str) -> None:
    gone = {"error": {"code": "AccountNotFound", "message": "There is no account 'nobody'.", "target": "account"}}
    page.route(re.compile("/api/accounts/nobody/"), lambda route: route.fulfill(status=404, json=gone))
    page.goto(f"{render.url}/?account=nobody&{name}=x")
    expect(page.get_by_test_id("no-such-account")).to_contain_text("Account not found")
    expect(page.get_by_test_id("no-such-account")).to_contain_text("There is no account 'nobody'.")
    expect(page.get_by_test_id(f"no-such-{name}")).to_have_count(0)
