"""The scripts that run the tasks of a cause again, on a job's page with a canned API."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import failure_group, failures
from tests.e2e.canned.job_page import part, show


def test_a_cause_of_failure_has_scripts_that_run_its_tasks_again(page: Page, render: Canned) -> None:
    show(page, render)
    cause = part(page, "failures").locator("tr[data-group=killed]")
    cause.get_by_text("Run again").click()
    scripts = {link.inner_text(): link.get_attribute("href") for link in cause.locator(".rerun a").all()}
    path = "/api/accounts/demo/jobs/render/failures/killed/rerun"
    assert scripts == {
        "Reactivate them, Python": f"{path}?action=reactivate&language=python",
        "Reactivate them, Azure CLI": f"{path}?action=reactivate&language=shell",
        "Submit copies, Python": f"{path}?action=resubmit&language=python",
    }
    expect(cause).to_contain_text("Batchscope changes nothing in Batch")
    expect(cause.locator(".rerun select")).to_have_count(0)


def test_a_script_is_copied_by_keyboard_or_says_why_not(page: Page, render: Canned) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    show(page, render)
    cause = part(page, "failures").locator("tr[data-group=killed]")
    cause.get_by_text("Run again").focus()
    page.keyboard.press("Enter")
    cause.get_by_role("button", name="Copy the script: Reactivate them, Azure CLI").focus()
    page.keyboard.press("Enter")
    expect(cause.locator(".rerun [role=status]").nth(1)).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == "script action=reactivate&language=shell\n"
    render.broken = {"rerun": (400, "These are more than 20,000 tasks.")}
    cause.get_by_role("button", name="Copy the script: Submit copies, Python").click()
    expect(cause.locator(".rerun [role=status]").nth(2)).to_have_text("These are more than 20,000 tasks.")


@pytest.mark.parametrize("width", [420, 1440])
def test_a_large_cause_has_its_scripts_in_parts(page: Page, render: Canned, width: int) -> None:
    render.parts["failures"] = failures(failure_group("killed", 100_000))
    page.set_viewport_size({"width": width, "height": 900})
    show(page, render)
    cause = part(page, "failures").locator("tr[data-group=killed]")
    cause.get_by_text("Run again").click()
    expect(cause.locator(".rerun label")).to_contain_text("100,000 tasks are too many for one script: part")
    cause.get_by_label("100,000 tasks are too many for one script").select_option("7")
    expect(cause.get_by_role("link", name="Submit copies, Python")).to_have_attribute(
        "href", re.compile(r"rerun\?action=resubmit&language=python&parts=7&part=7$")
    )
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
