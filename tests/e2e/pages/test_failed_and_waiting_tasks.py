"""Failed tasks by category and waiting ones by cause, on the pages of jobs, pools and accounts, with a canned API."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_values import account, job
from tests.e2e.canned.job_page import show
from tests.e2e.canned.pool_page import fill, show_pool

FAILED = {"userCode": 7, "outOfMemory": 1300, "terminated": 0, "<b>new</b>": 2}
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


def test_a_job_shows_its_failed_tasks_by_category_the_most_frequent_first(page: Page, render: Canned) -> None:
    render.jobs["demo"] = [job("render", failedTasks=FAILED)]
    show(page, render)
    expect(page.get_by_test_id("failed-tasks")).to_have_text(
        "Failed tasks: 1,300 out of memory, 7 user code, 2 <b>new</b>."
    )


def test_a_job_without_failed_tasks_or_whose_causes_are_not_known_shows_none(page: Page, render: Canned) -> None:
    known: tuple[dict[str, int] | None, ...] = ({}, None)
    for failed in known:
        render.jobs["demo"] = [job("render", failedTasks=failed)]
        show(page, render)
        expect(page.get_by_test_id("job-total")).to_be_visible()
        expect(page.get_by_test_id("failed-tasks")).to_have_count(0)


def test_a_pool_and_an_account_show_both_also_on_a_phone(page: Page, pools: Canned) -> None:
    waiting = {"slotsBusy": 412, "dependenciesUnsatisfied": 1}
    page.set_viewport_size({"width": 360, "height": 800})
    fill(pools, pools.nodes, failedTasks=FAILED, waitingTasks=waiting, waitingTasksAsOf="2020-01-01T00:00:00Z")
    show_pool(page, pools)
    expect(page.get_by_test_id("failed-tasks")).to_contain_text("1,300 out of memory")
    text = re.compile("^Waiting tasks by cause, explained up to .+ ago: 412 slots busy, 1 dependencies unsatisfied.$")
    expect(page.get_by_test_id("waiting-tasks")).to_have_text(text)
    assert page.evaluate(OVERFLOW) <= 0
    pools.accounts = [account(failedTasks=FAILED, waitingTasks={"unknown": 7}, waitingTasksAsOf=None)]
    page.goto(pools.url)
    expect(page.get_by_test_id("waiting-tasks")).to_have_text("Waiting tasks by cause: 7 not explained so far.")
    expect(page.get_by_test_id("failed-tasks")).to_contain_text("7 user code")
    assert page.evaluate(OVERFLOW) <= 0
