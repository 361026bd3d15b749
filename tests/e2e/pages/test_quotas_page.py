"""The page of quotas, with a canned API: by share, limits that aren't read, findings, accounts, and a phone."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned

OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
HOSTILE = "<img src=x onerror=document.title='broken'>"
ROWS = "tr[data-quota]"


def quota(name: str, used: int, limit: int | None, **changes: Any) -> dict[str, Any]:
    return {
        "quota": name, "family": None, "limit": limit, "used": used,
        "share": round(used / limit, 4) if limit else None, "reachedAt": None, "noLimit": None, "detail": None,
    } | changes  # fmt: skip


@pytest.fixture
def quotas(render: Canned) -> Canned:
    render.quotas = {
        "account": "demo", "asOf": "2026-11-29T09:00:00Z", "problem": None, "allocationMode": "BatchService",
        "unknownNodes": 0, "findings": [],
        "value": [
            quota("dedicatedCores", 480, 500),
            quota("spotCores", 10, None, noLimit="notReported", detail=f"Azure doesn't report it: {HOSTILE}"),
            quota("pools", 6, 100),
            quota("activeJobsAndSchedules", 300, 300),
            quota("familyCores", 48, 1_000, family="standarddasv5family",
                  reachedAt=(datetime.now(UTC) + timedelta(days=3, hours=1)).isoformat()),
        ],
    }  # fmt: skip
    return render


def test_the_quota_nearest_to_its_limit_is_first(page: Page, quotas: Canned) -> None:
    page.goto(f"{quotas.url}/")
    page.get_by_role("link", name="Quotas").click()
    expect(page).to_have_title("Quotas · Batchscope")
    rows = page.locator(ROWS)
    expect(rows).to_have_count(5)
    texts = [re.sub(r"\s+", " ", text) for text in rows.all_inner_texts()]
    assert texts[0].startswith("Active jobs and job schedules 300 300 100%")
    assert texts[0].endswith("now")
    assert texts[1].startswith("Dedicated cores 480 500 96%")
    assert "standarddasv5family 48 1,000 4.8%" in texts[3]
    assert texts[3].endswith("in about 3 d")
    assert "not known" in texts[4]
    expect(rows.nth(4)).to_contain_text(HOSTILE)
    filled = [row.get_attribute("data-level") for row in rows.all()]
    assert filled == ["full", "nearlyFull", "free", "free", "free"]
    widths = page.locator(".quota-bar span").evaluate_all("all => all.map(one => one.style.width)")
    assert widths == ["100%", "96%", "6%", "4.8%"]
    expect(page.get_by_role("link", name="Quotas as CSV")).to_have_attribute(
        "href", "/api/accounts/demo/quotas?format=csv"
    )


def test_limits_that_are_not_read_have_one_reason_and_the_use_is_there(page: Page, quotas: Canned) -> None:
    reason = "The account's id in Azure Resource Manager isn't known; name it in BATCH_ACCOUNT_IDS."
    unread = {"limit": None, "share": None, "reachedAt": None, "noLimit": "idUnknown", "detail": reason}
    quotas.quotas |= {"asOf": None, "unknownNodes": 2, "value": [one | unread for one in quotas.quotas["value"]]}
    page.goto(f"{quotas.url}/?view=quotas")
    expect(page.get_by_test_id("quota-reason")).to_have_text(f"No limit is known: {reason}")
    expect(page.get_by_text(reason)).to_have_count(1)
    expect(page.locator(ROWS).first).to_contain_text("not read")
    expect(page.locator(ROWS).first).to_contain_text("480")
    section = page.locator("[data-section=quotas]")
    expect(section).to_contain_text("no limits read")
    expect(section).to_contain_text("The cores of 2 nodes aren't known")
    expect(page.locator(".quota-bar")).to_have_count(0)


def test_a_read_that_failed_and_findings_are_named(page: Page, quotas: Canned) -> None:
    quotas.quotas |= {
        "problem": f"Quotas couldn't be read since yesterday: {HOSTILE}",
        "findings": [
            {
                "code": "quotaNearlyReached", "severity": "info", "title": "96 % of the quota of cores is used",
                "detail": "The account may have 500 cores.", "advice": "Ask for a higher quota.", "since": None,
                "evidence": {"quota": "dedicatedCores", "limit": 500, "used": 480},
            }
        ],
    }  # fmt: skip
    page.goto(f"{quotas.url}/?view=quotas&account=demo")
    expect(page.get_by_test_id("quota-problem")).to_contain_text(HOSTILE)
    finding = page.locator("[data-section=quota-findings] [data-code=quotaNearlyReached]")
    expect(finding).to_contain_text("Ask for a higher quota.")
    expect(finding).to_have_attribute("open", "")


def test_an_account_is_chosen_and_an_unknown_one_is_not_found(page: Page, quotas: Canned) -> None:
    quotas.accounts = [*quotas.accounts, quotas.accounts[0] | {"id": "other", "name": "other"}]
    page.goto(f"{quotas.url}/?view=quotas")
    heading = page.locator("[data-section=quotas]").get_by_role("heading")
    expect(heading).to_have_text("Quotas of demo")
    page.get_by_role("combobox", name="Account").select_option("other")
    expect(heading).to_have_text("Quotas of other")
    expect(page).to_have_url(re.compile("view=quotas&account=other"))
    quotas.broken["quotas"] = (404, "There is no account 'nobody' here.")
    page.goto(f"{quotas.url}/?view=quotas&account=nobody")
    expect(page.get_by_test_id("no-such-account")).to_contain_text("There is no account 'nobody' here.")
    quotas.broken["quotas"] = (502, f"Storage refused: {HOSTILE}")
    page.reload()
    expect(page.get_by_test_id("quotas-problem")).to_contain_text(HOSTILE)


def test_the_page_fits_on_a_phone(page: Page, quotas: Canned) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    quotas.quotas["value"].append(quota("familyCores", 1, 2, family="standard" * 12))
    page.goto(f"{quotas.url}/?view=quotas")
    expect(page.locator(ROWS)).to_have_count(6)
    expect(page.locator(ROWS).first).to_contain_text("used 300")
    assert page.evaluate(OVERFLOW) <= 0
