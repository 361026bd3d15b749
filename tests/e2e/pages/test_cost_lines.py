"""What jobs and pools cost, in the columns of their lists and on their pages, with a canned API."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_cost import HOUR, cost, cost_sum
from tests.e2e.canned.canned_pool_telemetry import RECEIVED
from tests.e2e.canned.canned_values import account, counts, job, stamp
from tests.e2e.canned.job_page import show
from tests.e2e.canned.pool_page import section, show_pool

OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture
def costs(pools: Canned) -> Canned:
    """Returns the canned server with costs of the job `render`, and of all pools but one."""
    pools.jobs["demo"] = [job("render"), job("new")]
    named = {"job": ["Render"], "pool": ["render-d4s", "etl"]}
    pools.costs = {by: cost(names, by) for by, names in named.items()}
    return pools


def _amount(canned: Canned, by: str, number: int) -> str:
    return f"${canned.costs[by]['value'][number]['cost']['amount']:,.2f}"


def test_lists_have_the_cost_of_thirty_days_in_one_request(page: Page, costs: Canned) -> None:
    page.goto(costs.url)
    expect(page.locator("tr[data-job=render] td.cost")).to_contain_text(_amount(costs, "job", 0))
    expect(page.locator("tr[data-job=new] td.cost")).to_contain_text("\N{EN DASH}")
    page.goto(f"{costs.url}/?view=pools")
    expect(page.locator("tr[data-pool=etl] td.cost")).to_contain_text(_amount(costs, "pool", 1))
    expect(page.locator("tr[data-pool=analytics] td.cost")).to_contain_text("\N{EN DASH}")
    first = (datetime.now(UTC) - timedelta(days=29)).date().isoformat()
    paths = [path for path in costs.asked if "/cost" in path]
    assert paths == [
        f"/api/accounts/demo/cost?from={first}T00%3A00%3A00Z&groupBy={by}&step=P30D" for by in ("job", "pool")
    ]


def test_the_list_of_jobs_has_the_used_shares_of_measured_tasks(page: Page, costs: Canned) -> None:
    shares = {"measuredRuns": 24, "asOf": None, "cpu": 0.12, "memory": 0.204, "gpu": None}
    costs.jobs["demo"][0] |= {"efficiency": shares}
    page.goto(costs.url)
    cell = page.locator("tr[data-job=render] td.shares")
    expect(cell.locator("span:not(.label)")).to_have_text(["CPU 12%", "memory 20%"])
    expect(cell).to_have_attribute("title", "24 measured runs")


def test_lists_without_costs_have_dashes_and_no_error(page: Page, costs: Canned) -> None:
    costs.broken["cost"] = (503, "Storage can't be reached.")
    page.goto(costs.url)
    expect(page.locator("tr[data-job=render] td.cost")).to_contain_text("\N{EN DASH}")
    expect(page.get_by_text("Storage can't be reached.")).to_have_count(0)


@pytest.mark.parametrize("view", ["", "?view=pools"])
def test_lists_with_costs_fit_on_a_phone_and_a_laptop(page: Page, costs: Canned, view: str) -> None:
    many = counts(active=20_000, preparing=120, running=1_450, succeeded=118_000, failed=1_600)
    wide: dict[str, Any] = {
        "taskCounts": many,
        "displayName": "Hyperparameter sweep of a model",
        "poolId": "genomics-e8s-spot",
    }
    wide["efficiency"] = {"measuredRuns": 118_000, "asOf": None, "cpu": 0.994, "memory": 0.125, "gpu": 0.5}
    costs.jobs["demo"][0] |= wide | {"state": "completed"}
    for width in (360, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{costs.url}/{view}")
        expect(page.locator("td.cost[data-empty=false]").first).to_be_visible()
        assert page.evaluate(OVERFLOW) <= 0
        assert page.locator("table").evaluate("table => table.scrollWidth - table.parentElement.clientWidth") <= 0


def test_a_job_has_its_cost_on_its_page(page: Page, costs: Canned) -> None:
    sum_of_job = cost_sum({"succeeded": 9.0, "failed": 1.0})
    costs.parts["cost"] = {"currency": "USD", "asOf": stamp(60), "cost": sum_of_job, "task": None, "forecast": None}
    show(page, costs)
    expect(page.get_by_test_id("cost-line")).to_contain_text("Cost so far $10.00: $1.00 wasted.")
    link = page.get_by_test_id("cost-line").get_by_role("link")
    expect(link).to_have_attribute("href", "?view=cost&account=demo&groupBy=job")
    costs.parts["cost"]["asOf"] = None
    page.reload()
    expect(page.get_by_test_id("cost-line")).to_contain_text("isn't known before its first roll-up")
    costs.broken["cost"] = (503, "Storage can't be reached.")
    page.reload()
    expect(page.get_by_test_id("cost-line")).to_contain_text("The cost isn't known: Storage can't be reached.")


def _pool_cost() -> dict[str, Any]:
    return {
        "currency": "EUR", "asOf": stamp(30), "amount": 4.5, "unpricedSeconds": 0,
        "nodeSeconds": {"dedicated": {"running": 3 * HOUR, "idle": 2 * HOUR}, "spot": {}},
        "billedSeconds": {"dedicated": 5 * HOUR, "spot": 0},
    }  # fmt: skip


def test_a_pool_has_todays_cost_on_its_page(page: Page, costs: Canned) -> None:
    costs.costs["a pool"] = _pool_cost()
    show_pool(page, costs)
    expect(page.get_by_test_id("cost-line")).to_contain_text("Today (UTC) €4.50 for 5 h of nodes: 2 h idle.")


def test_the_history_of_a_pool_shows_busy_and_all_cores(page: Page, costs: Canned) -> None:
    show_pool(page, costs)
    history = section(page, "history")
    history.get_by_role("combobox", name="Show").select_option("cores")
    expect(history.get_by_role("button", name="Busy cores")).to_be_visible()
    expect(history.locator("[data-layer=node-running]").first).to_be_attached()
    history.get_by_text("Show as table").click()
    expect(history.get_by_role("columnheader", name="All cores")).to_be_visible()
    history.get_by_role("combobox", name="Show").select_option("nodes")
    expect(history.get_by_role("columnheader", name="All cores")).to_have_count(0)


def test_traffic_is_summed_over_nodes_and_time(page: Page, costs: Canned) -> None:
    points = [{"time": stamp(60), "nodes": 3, "mean": float(1 << 20), "p50": 1, "p95": 1, "max": 1}]
    telemetry = costs.pool_telemetry | {"step": "PT10M", "value": [RECEIVED | {"points": points}]}
    costs.pool_telemetry, costs.account_telemetry = telemetry, [telemetry, telemetry]
    show_pool(page, costs)
    expect(section(page, "pool-telemetry").get_by_test_id("traffic")).to_contain_text("1.76 GiB received")
    costs.accounts = [account()]
    page.goto(f"{costs.url}/?view=pools")
    line = page.get_by_test_id("traffic")
    expect(line).to_contain_text("Network in the last 24 hours: 3.52 GiB received, an unknown amount sent, by up to 6")
