"""Start-ups on a pool's page, with a canned API: phases, groups, findings, and what isn't known."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_startup import group, phases, slow_start_up, start_up
from tests.e2e.canned.pool_page import expect_legible_in_both_themes, section, show_pool

HOSTILE = "<img src=x onerror=document.title='broken'>"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


def test_phases_have_both_quantiles_and_slow_starts_are_named(page: Page, pools: Canned) -> None:
    pools.start_up = slow_start_up()
    show_pool(page, pools)
    expect(page.get_by_test_id("startup-summary")).to_have_text(
        "Half of 400 nodes took at most 5 min 11 s from the wish for them to their first task, "
        "95% at most 13 min 20 s. Half of the tasks ran at most 48 s."
    )
    cells = page.locator(".startup-phases tr[data-phase='boot'] td")
    expect(cells).to_have_text(["1 min 21 s", "2 min 20 s", "400"])
    expect(page.locator(".startup-phases tr[data-phase='preparation']")).to_contain_text(
        "By Batch's events half of 300 job preparation tasks ran at most 18 s, 95% at most 29 s."
    )
    part = section(page, "startup")
    part.get_by_text("Nodes take longer to start than tasks run").click()
    expect(part.locator(".evidence")).to_contain_text("4 min 56 s")


def test_groups_are_by_day_size_or_image(page: Page, pools: Canned) -> None:
    pools.start_up = slow_start_up()
    show_pool(page, pools)
    part = section(page, "startup")
    rows = part.locator("tr[data-group] th")
    expect(rows).to_have_text(["2026-11-20", "2026-11-21"])
    part.get_by_label("VM size").check()
    expect(rows).to_have_text(["standard_d4s_v5", "standard_e4s_v5"])
    expect(part.locator("tr[data-group='standard_e4s_v5'] td").nth(2)).to_have_text("2 min 2 s / 3 min 30 s")
    part.get_by_label("Image").check()
    expect(rows).to_have_text(["canonical/ubuntu-24_04-lts/server", "not known"])


def test_other_days_are_requested(page: Page, pools: Canned) -> None:
    pools.start_up = slow_start_up()
    show_pool(page, pools)
    part = section(page, "startup")
    with page.expect_response("**/pools/render-d4s/startup?days=31"):
        part.get_by_label("Nodes allocated").select_option("31")
    expect(page.get_by_test_id("startup-summary")).to_be_visible()
    table = part.get_by_role("link", name="Start-up as CSV")
    expect(table).to_have_attribute("href", "/api/accounts/demo/pools/render-d4s/startup?days=31&format=csv")


def test_unknown_phases_have_a_reason_in_words_and_no_number(page: Page, pools: Canned) -> None:
    why = "No poll saw the node idle before its first task, so its setup and its wait aren't apart."
    pools.start_up = start_up(12, phases=phases(12, setup=why, total="The node has run no task so far."))
    show_pool(page, pools)
    row = page.locator(".startup-phases tr[data-phase='setup']")
    expect(row.locator("td")).to_have_text(["\N{EN DASH}", "\N{EN DASH}", "0"])
    expect(row).to_contain_text(f"12 of 12 nodes: {why}")
    expect(page.get_by_test_id("startup-summary")).to_have_text(
        "12 nodes started; for none the whole way from the wish to the first task is known."
    )


def test_a_pool_without_new_nodes_says_so_and_a_broken_part_fails_alone(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    expect(section(page, "startup")).to_contain_text("No node was allocated in that time")
    pools.broken = {"startup": (503, "Storage is busy.")}
    page.reload()
    expect(section(page, "startup").get_by_test_id("section-problem")).to_contain_text("Storage is busy.")
    expect(page.locator("tr[data-node]").first).to_be_visible()


@pytest.mark.parametrize("width", [1440, 1100, 800, 420])
def test_external_names_are_text_and_fit_at_any_width(page: Page, pools: Canned, width: int) -> None:
    long = "goes-on-and-on-" * 20
    pools.start_up = slow_start_up() | {"byDay": [group(HOSTILE, 3), group(long, 3)]}
    page.set_viewport_size({"width": width, "height": 900})
    show_pool(page, pools)
    section(page, "startup").scroll_into_view_if_needed()  # far down on a narrow page
    expect(page.locator("tr[data-group]")).to_have_count(2)
    expect(section(page, "startup")).to_contain_text(HOSTILE)
    assert page.evaluate(OVERFLOW) <= 0
    assert page.title() != "broken"


def test_start_ups_are_legible_in_both_themes(page: Page, pools: Canned) -> None:
    pools.start_up = slow_start_up()
    expect_legible_in_both_themes(page, pools, "tr[data-group]", 2)
