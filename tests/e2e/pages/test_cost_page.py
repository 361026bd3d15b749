"""The page of costs, with a canned API: amounts, waste, days that aren't known, groupings, accounts, and a phone."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_cost import MISSING, UNPRICED, UNWATCHED, WASTE, cost, finding

OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
BOX = """element => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect().toJSON();
}"""
HOSTILE = "<img src=x onerror=document.title='broken'>"
DASH = "\N{EN DASH}"
FORECAST = {"amount": 90, "low": 80, "high": 120, "days": 7}
POOLS = [HOSTILE, *(f"pool-{number}" for number in range(9))]


@pytest.fixture
def costs(render: Canned) -> Canned:
    render.costs = {
        "pool": cost(POOLS),
        "job": cost(["render", ""], "job"),
        "schedule": cost(["nightly", ""], "schedule"),
        "vmSize": cost(["standard_d4s_v5"], "vmSize"),
        "class": cost(["succeeded", "idle", "failed"], "class"),
        "summary": {
            "currency": "USD",
            "month": 60,
            "forecast": FORECAST,
            "missingDays": [day(MISSING), day(20)],
            "budgets": [],
        },
        "waste": WASTE,
    }
    return render


def show(page: Page, canned: Canned, query: str = "") -> None:
    page.goto(f"{canned.url}/?view=cost{query}")
    expect(page.get_by_test_id("cost-tile")).to_be_visible()


def chart(page: Page) -> Locator:
    return page.get_by_role("slider", name="Day; arrow keys move it")


def day(back: int) -> str:
    return (datetime.now(UTC) - timedelta(days=back)).date().isoformat()


def money(amount: float) -> str:
    return f"${amount:,.2f}"


def test_tiles_and_groups_have_the_apis_amounts(page: Page, costs: Canned) -> None:
    show(page, costs)
    answer: dict[str, Any] = costs.costs["pool"]
    expect(page.get_by_test_id("total")).to_have_text(money(answer["cost"]["amount"]))
    expect(page.get_by_test_id("wasted")).to_have_text(money(answer["cost"]["wastedAmount"]))
    expect(page.get_by_test_id("today")).to_have_text(money(answer["steps"][-1]["cost"]["amount"]))
    expect(page.get_by_test_id("yesterday")).to_have_text(money(answer["steps"][-2]["cost"]["amount"]))
    expect(page.get_by_test_id("month")).to_have_text("$60.00")
    expect(page.get_by_test_id("cost-tile")).to_contain_text("about $90.00 by its end, $80.00 to $120.00")
    expect(page.get_by_test_id("without-price")).to_have_text(re.compile(r"^[1-9].* h$"))
    expect(page.get_by_test_id("cost-basis")).to_contain_text("Estimated from list prices")
    expect(page.get_by_test_id("cost-basis")).to_contain_text("No usage is stored for 2 days:")
    rows = page.get_by_test_id("cost-groups").locator("tbody tr")
    expect(rows).to_have_count(10)
    for row, group in ((rows.nth(0), answer["value"][0]), (rows.nth(9), answer["value"][9])):
        expect(row.locator("th")).to_have_text(group["name"])
        expect(row.locator("td").nth(0)).to_have_text(money(group["cost"]["amount"]))
    expect(rows.nth(1).get_by_role("link")).to_have_attribute("href", "?account=demo&pool=pool-0")
    expect(page.get_by_test_id("unpriced")).to_contain_text("The retail list has several meters")
    expect(page.get_by_role("link", name="Costs as CSV")).to_have_attribute(
        "href", re.compile("groupBy=pool&format=csv$")
    )
    expect(page).to_have_title("Cost · Batchscope")


def test_waste_comes_first_and_the_dearest_of_it(page: Page, costs: Canned) -> None:
    show(page, costs)
    expect(page.locator("h3").first).to_have_text("Wasted")
    classes = page.get_by_test_id("waste").locator("> li")
    found = [each.get_attribute("data-class") for each in classes.all()]
    assert found == ["idle", "failed", "idleSlots", "interrupted", "startTaskFailed"]
    expect(classes.nth(0)).to_contain_text(money(costs.costs["pool"]["cost"]["amounts"]["idle"]))


def test_findings_on_waste_have_a_months_money_and_advice(page: Page, costs: Canned) -> None:
    show(page, costs)
    findings = page.get_by_test_id("waste-findings").locator("> li")
    expect(findings).to_have_count(3)
    assert [each.get_attribute("data-code") for each in findings.all()] == ["idlePool", "failedTasks", "idleSlots"]
    expect(findings.nth(0)).to_contain_text("$1,200.00 a month; $280.00 in 7 days")
    expect(findings.nth(2)).to_contain_text("no price")
    expect(findings.nth(0).get_by_role("link").first).to_have_attribute("href", "?account=demo&pool=pool-0")
    expect(findings.nth(1).get_by_role("link").first).to_have_attribute("href", "?account=demo&job=nightly%3Ajob-1")
    findings.nth(0).locator("summary").click()
    expect(findings.nth(0)).to_contain_text("az batch pool resize")
    costs.costs["waste"] = WASTE | {"value": []}
    page.reload()
    expect(page.get_by_text("Nothing to save was found in the usage of 7 days.")).to_be_visible()


def test_of_many_findings_on_waste_the_dearest_come_first_and_others_on_demand(page: Page, costs: Canned) -> None:
    many = [finding("idlePool", "pool", f"pool-{number:02}", 50.0 - number, 50) for number in range(23)]
    costs.costs["waste"] = WASTE | {"value": many, "count": 1_200}
    show(page, costs)
    findings = page.get_by_test_id("waste-findings").locator("> li")
    expect(findings).to_have_count(10)
    expect(findings.nth(0)).to_contain_text("pool-00")
    footer = page.get_by_test_id("waste-findings").locator("+ p")
    expect(footer).to_contain_text("Showing 10 of 23 findings.")
    footer.get_by_role("button", name="Show more").click()
    expect(findings).to_have_count(20)
    footer.get_by_role("button", name="Show more").click()
    expect(findings).to_have_count(23)
    expect(page.get_by_text("This page doesn't load all findings; the API lists them page by page.")).to_be_visible()


def test_efficiency_by_group_and_the_most_rewarding_changes_are_shown(page: Page, costs: Canned) -> None:
    show(page, costs)
    expect(page.get_by_role("region", name="Efficiency by prefix of job ids")).to_be_visible()
    rows = page.get_by_test_id("efficiency-groups").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first.locator("td")).to_contain_text(["3", "1,200", "CPU 24%, memory 12%", "$840.50", "$120.25"])
    expect(rows.last).to_contain_text("too few or unknown")
    savings = page.get_by_test_id("savings").locator("li")
    expect(savings).to_have_count(2)
    expect(savings.first).to_contain_text("$533.30 of $800.00")
    expect(savings.first).not_to_contain_text("by itself")
    expect(savings.first.get_by_role("link", name="render-7")).to_have_attribute("href", "?account=demo&job=render-7")
    expect(savings.last).to_contain_text("$160.50 of $900.00")
    expect(savings.last).to_contain_text("$400.00 by itself")
    expect(savings.last.get_by_role("link", name="render-d4s")).to_have_attribute(
        "href", "?account=demo&pool=render-d4s"
    )


def test_of_many_groups_the_number_of_further_ones_is_said(page: Page, costs: Canned) -> None:
    measured = costs.efficiency["value"][0]
    costs.efficiency["value"] = [measured | {"name": f"job-{number}-"} for number in range(53)]
    show(page, costs)
    card = page.get_by_role("region", name="Efficiency by prefix of job ids")
    rows = page.get_by_test_id("efficiency-groups").locator("tbody tr")
    expect(rows).to_have_count(50)
    expect(card).to_contain_text("Showing 50 of 53 groups.")
    card.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(53)


def test_used_shares_and_waste_of_groups_are_shown_by_week(page: Page, costs: Canned) -> None:
    show(page, costs)
    weeks = page.get_by_test_id("efficiency-weeks")
    expect(weeks.locator(".week-line")).to_have_count(2)
    expect(weeks.locator(".week-line circle")).to_have_count(2)  # a week and a group have too few runs
    expect(weeks.locator(".cost-block")).to_have_count(2)
    expect(weeks.locator(".cost-legend")).to_contain_text("render-… 24%, $120.25")
    chart = weeks.get_by_role("slider", name="Week")
    chart.focus()
    chart.press("ArrowLeft")
    chart.press("ArrowLeft")
    unknown = re.compile(f"render-… used {DASH}, wasted {DASH}; try-… used {DASH}")
    expect(chart).to_have_attribute("aria-valuetext", unknown)
    expect(weeks.locator(".cost-legend")).to_contain_text(f"render-… {DASH}, {DASH}")
    chart.press("Home")
    expect(chart).to_have_attribute("aria-valuetext", re.compile(r"render-… used 24%, wasted \$120.25"))
    weeks.get_by_role("button", name="Memory").click()
    expect(weeks.locator(".cost-legend")).to_contain_text("render-… 12%, $120.25")
    expect(weeks.get_by_role("button", name="GPU")).to_have_count(0)
    weeks.get_by_text("Show as table").click()
    rows = weeks.get_by_role("region", name="Efficiency by week as a table").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first.locator("td")).to_contain_text(["12%, $120.25", f"{DASH}, {DASH}"])
    assert page.evaluate(OVERFLOW) <= 0


def _budget(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name, "scope": "account", "target": None, "amount": 75, "currency": "USD", "state": "willExceed",
        "spent": 60, "share": 0.8, "forecast": FORECAST, "exceededOn": day(0), "unpricedSeconds": 0, "reason": None,
    } | changes  # fmt: skip


def test_budgets_have_their_state_and_a_line_in_the_chart(page: Page, costs: Canned) -> None:
    pool = {"scope": "pool", "target": HOSTILE, "state": "within", "amount": 600}
    costs.costs["summary"]["budgets"] = [_budget("all"), _budget("one-pool", **pool)]
    show(page, costs)
    budgets = page.get_by_test_id("budgets").locator("li")
    expect(budgets).to_have_count(2)
    expect(budgets.nth(0)).to_contain_text("$60.00 of $75.00 spent this month, 80%.")
    expect(budgets.nth(0)).to_contain_text("about $90.00 at the month's end")
    expect(budgets.nth(1)).to_contain_text(HOSTILE)
    expect(page.locator("line.cost-budget")).to_have_count(1)
    expect(page.get_by_test_id("budget-line")).to_contain_text("the month's budget for a day")
    assert page.evaluate(OVERFLOW) <= 0


def test_busy_cores_are_shown_against_all_cores_by_day(page: Page, costs: Canned) -> None:
    show(page, costs)
    cores = page.locator("[data-section=cost-cores]")
    expect(cores.get_by_role("button", name="Busy cores")).to_be_visible()
    cores.get_by_text("Show as table").click()
    rows = cores.get_by_role("region", name="History as a table").locator("tbody tr")
    expect(rows).to_have_count(14)
    expect(rows.nth(MISSING)).to_contain_text("no usage stored")
    expect(cores.locator("footer.key")).to_contain_text("no usage stored")
    expect(cores).not_to_contain_text("polled")
    expect(cores).not_to_contain_text("exact", ignore_case=True)


def test_what_isnt_known_is_hatched(page: Page, costs: Canned) -> None:
    show(page, costs)
    expect(page.locator(f"[data-day='{day(MISSING)}'] .gap")).to_have_count(1)
    expect(page.locator(f"[data-day='{day(UNPRICED)}'] .cost-no-price")).to_have_count(2)
    expect(page.locator(f"[data-day='{day(UNWATCHED)}'] .cost-uncertain")).to_have_count(1)
    expect(page.locator(f"[data-day='{day(0)}'] rect:is(.gap, .cost-no-price, .cost-uncertain)")).to_have_count(0)
    expect(page.locator(f"[data-day='{day(0)}'] .cost-block")).to_have_count(7)


def test_the_keyboard_reads_each_day_and_a_table_has_the_same_numbers(page: Page, costs: Canned) -> None:
    show(page, costs)
    readout = page.get_by_test_id("cost-readout")
    expect(readout).to_have_text("Sums of the range")
    chart(page).focus()
    page.keyboard.press("ArrowLeft")
    expect(readout).to_contain_text(money(costs.costs["pool"]["steps"][-1]["cost"]["amount"]))
    for _ in range(MISSING):
        page.keyboard.press("ArrowLeft")
    expect(readout).to_contain_text("no usage stored")
    expect(chart(page)).to_have_attribute("aria-valuetext", re.compile("no usage stored$"))
    page.keyboard.press("Home")
    expect(chart(page)).to_have_attribute("aria-valuenow", "0")
    page.keyboard.press("Escape")
    expect(readout).to_have_text("Sums of the range")
    page.locator("[data-section=cost-by-day]").get_by_text("Show as table").click()
    rows = page.get_by_role("region", name="Costs by day as a table").locator("tbody tr")
    expect(rows).to_have_count(14)
    expect(rows.nth(0).locator("td").nth(0)).to_have_text(money(costs.costs["pool"]["steps"][-1]["cost"]["amount"]))
    expect(rows.nth(MISSING).locator("td").nth(0)).to_have_text("no usage stored")
    expect(rows.nth(UNPRICED).locator("td").nth(0)).to_have_text("no price")


def test_the_view_is_in_the_address_and_in_the_request(page: Page, costs: Canned) -> None:
    show(page, costs)
    groups = page.get_by_role("navigation", name="Group by")
    groups.get_by_role("link", name="Job").click()
    expect(page.get_by_role("columnheader", name="Shared")).to_be_visible()
    expect(page.locator("[data-group=''] th")).to_have_text("no job")
    page.get_by_role("combobox").select_option("none")
    expect(page).to_have_url(re.compile("view=cost.*groupBy=job.*sharing=none"))
    page.get_by_role("navigation", name="Range").get_by_role("link", name="7 d").click()
    expect(page).to_have_url(re.compile("range=7d"))
    expect(page.get_by_role("navigation", name="Range").locator("[aria-current]")).to_have_text("7 d")
    asked = f"/api/accounts/demo/cost?from={day(6)}T00%3A00%3A00Z&groupBy=job&sharing=none"
    expect(page.locator("main .contents").first).to_have_attribute("aria-busy", "false")
    assert asked in costs.asked
    groups.get_by_role("link", name="Class").click()
    expect(page.locator("[data-group=idle] th")).to_have_text("idle nodes")
    expect(page.get_by_role("combobox")).to_have_count(0)


def test_costs_are_grouped_by_a_label(page: Page, costs: Canned) -> None:
    show(page, costs)
    expect(page.get_by_role("combobox")).to_have_count(0)
    costs.costs["pool"]["labels"] = ["team", HOSTILE]
    for name in ("metadata:team", f"tag:{HOSTILE}"):
        costs.costs[name] = cost(["blue", ""], name) | {"labels": ["team", HOSTILE]}
    show(page, costs)
    labels = page.get_by_role("combobox", name="Group by a label")
    labels.select_option("metadata:team")
    expect(page).to_have_url(re.compile("groupBy=metadata%3Ateam"))
    expect(page.get_by_role("heading", name="By day and metadata team")).to_be_visible()
    expect(page.locator("[data-group=blue] th")).to_have_text("blue")
    expect(page.locator("[data-group=''] th")).to_have_text("no value")
    expect(page.get_by_role("combobox", name="Time without a task")).to_be_visible()
    labels.select_option(f"tag:{HOSTILE}")
    expect(page.get_by_role("columnheader", name=f"Tag {HOSTILE}")).to_be_visible()
    expect(page.get_by_role("combobox", name="Time without a task")).to_have_count(0)
    labels.select_option("")
    expect(page).not_to_have_url(re.compile("groupBy"))


def test_a_label_that_is_kept_no_more_can_be_left(page: Page, costs: Canned) -> None:
    costs.broken["cost"] = (400, "Values of 'old' aren't kept: name it in COST_LABELS.")
    page.goto(f"{costs.url}/?view=cost&groupBy=metadata:old")
    expect(page.get_by_test_id("cost-problem")).to_contain_text("Values of 'old' aren't kept")
    expect(page.get_by_role("combobox", name="Group by a label")).to_have_value("metadata:old")
    costs.broken.clear()
    page.get_by_role("navigation", name="Group by").get_by_role("link", name="Pool").click()
    expect(page.get_by_test_id("cost-tile")).to_be_visible()


def test_parts_that_fail_are_named_while_others_stand(page: Page, costs: Canned) -> None:
    costs.broken |= {"summary": (503, f"Storage doesn't answer: {HOSTILE}"), "waste": (503, "Too many requests.")}
    show(page, costs)
    expect(page.get_by_test_id("summary-problem")).to_contain_text(f"Storage doesn't answer: {HOSTILE}")
    expect(page.get_by_test_id("month")).to_have_text("\N{EN DASH}")
    expect(page.get_by_test_id("waste-findings-problem")).to_contain_text("Too many requests.")
    expect(page.get_by_test_id("waste")).to_be_visible()
    costs.broken.clear()
    page.get_by_role("button", name="Retry: month and budgets").click()
    expect(page.get_by_test_id("month")).to_have_text("$60.00")
    expect(page.get_by_test_id("summary-problem")).to_have_count(0)


def test_several_accounts_are_chosen_from(page: Page, costs: Canned) -> None:
    costs.accounts = [*costs.accounts, costs.accounts[0] | {"id": "other", "name": "other"}]
    show(page, costs)
    heading = page.get_by_test_id("cost-tile").get_by_role("heading")
    expect(heading).to_have_text("demo")
    page.get_by_role("combobox", name="Account").select_option("other")
    expect(heading).to_have_text("other")
    expect(page).to_have_url(re.compile("account=other"))


def test_nothing_stored_and_nothing_priced_are_said_in_words(page: Page, costs: Canned) -> None:
    pool = costs.costs["pool"]
    nothing = {"amount": 0, "amounts": {}, "nodeSeconds": {}, "wastedAmount": 0}
    every = [day(back) for back in range(14)]
    costs.costs["pool"] = pool | {
        "value": [], "steps": [], "unpriced": [], "cost": pool["cost"] | nothing, "asOf": None, "missingDays": every,
    }  # fmt: skip
    show(page, costs)
    expect(page.get_by_test_id("no-usage")).to_be_visible()
    for name in ("total", "without-price"):
        expect(page.get_by_test_id(name)).to_have_text("\N{EN DASH}")
    costs.broken["cost"] = (400, f"That's too long: {HOSTILE}")
    page.reload()
    expect(page.get_by_test_id("cost-problem")).to_contain_text(HOSTILE)
    costs.broken["cost"] = (404, "There is no account 'nobody' here.")
    page.goto(f"{costs.url}/?view=cost&account=nobody")
    expect(page.get_by_test_id("no-such-account")).to_contain_text("There is no account 'nobody' here.")


@pytest.mark.parametrize("width", [380, 1280])
def test_large_amounts_cover_no_words(page: Page, costs: Canned, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    dear = costs.costs["pool"]
    amounts = dict.fromkeys(dear["cost"]["amounts"], 7_654_321.0)
    costs.costs["pool"] = dear | {"currency": "CHF", "cost": dear["cost"] | {"amounts": amounts}}
    show(page, costs)
    expect(page.get_by_test_id("waste")).to_contain_text("CHF\N{NO-BREAK SPACE}7,654,321.00")
    entries = page.get_by_test_id("waste").locator("li").all()
    assert entries
    for entry in entries:
        money_box, words_box = entry.locator("b").evaluate(BOX), entry.locator("h4").evaluate(BOX)
        assert money_box["right"] <= words_box["left"]


def test_the_page_fits_on_a_phone(page: Page, costs: Canned) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    costs.costs["pool"] = cost([f"{'long-name-' * 12}{number}" for number in range(60)])
    show(page, costs)
    expect(page.get_by_text("Showing 50 of 60 groups.")).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(page.locator("[data-group]")).to_have_count(60)
    page.locator("[data-section=cost-by-day]").get_by_text("Show as table").click()
    assert page.evaluate(OVERFLOW) <= 0
