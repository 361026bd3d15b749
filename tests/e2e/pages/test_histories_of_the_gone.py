"""The history of a job or a pool that is gone: it is read for each chosen range, and its failures are said."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Response, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_pool import pool_history
from tests.e2e.canned.job_page import part


def history_of(length: timedelta) -> Callable[[Response], bool]:
    """Recognizes responses for a history of that length; long ranges begin at even hours."""

    def matches(response: Response) -> bool:
        address = urlsplit(response.url)
        if not address.path.endswith("/gone/history"):
            return False
        begin = datetime.fromisoformat(parse_qs(address.query)["from"][0])
        return abs(datetime.now(UTC) - length - begin) <= timedelta(hours=2, minutes=1)

    return matches


@pytest.mark.parametrize("kind", ["job", "pool"])
def test_a_history_that_outlives_its_subject_is_read_for_each_range(page: Page, render: Canned, kind: str) -> None:
    render.pool_history = pool_history()
    page.goto(f"{render.url}/?account=demo&{kind}=gone")
    expect(page.get_by_test_id(f"no-such-{kind}")).to_be_visible()
    history = part(page, "history")
    expect(history.get_by_role("link", name="90 d")).to_have_attribute("aria-current", "true")
    expect(history.locator("[aria-busy=false] svg").first).to_be_visible()
    for name, length in (("1 h", timedelta(hours=1)), ("7 d", timedelta(days=7))):
        with page.expect_response(history_of(length)):
            history.get_by_role("link", name=name).click()
        expect(history.get_by_role("link", name=name)).to_have_attribute("aria-current", "true")
        expect(history.locator("[aria-busy=false] svg").first).to_be_visible()


@pytest.mark.parametrize("kind", ["job", "pool"])
def test_a_range_that_fails_says_so_and_leaves_the_others(page: Page, render: Canned, kind: str) -> None:
    render.pool_history = pool_history()
    page.goto(f"{render.url}/?account=demo&{kind}=gone")
    history = part(page, "history")
    expect(history.locator("[aria-busy=false] svg").first).to_be_visible()
    render.broken = {"history": (500, "The history can't be read.")}
    history.get_by_role("link", name="6 h").click()
    expect(history.get_by_role("alert")).to_contain_text("The history can't be read.")
    render.broken = {}
    history.get_by_role("link", name="24 h").click()
    expect(history.locator("[aria-busy=false] svg").first).to_be_visible()
    expect(history.get_by_role("alert")).to_have_count(0)
