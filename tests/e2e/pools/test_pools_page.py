"""The list of pools, with a canned API: the columns, order, filters, and totals of an account."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_pool import pool, resize_error, sums
from tests.e2e.canned.canned_values import account, stamp

HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
REFUSED = "Batch refused to list pools: 403 AuthorizationPermissionMismatch."
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


def open_list(page: Page, canned: Canned, query: str = "") -> None:
    page.goto(f"{canned.url}/?view=pools{query}")


def ids(page: Page) -> list[str | None]:
    return [row.get_attribute("data-pool") for row in page.locator("tr[data-pool]").all()]


def test_a_pool_shows_sizes_states_use_and_problems(page: Page, pools: Canned) -> None:
    pools.pools["demo"][1] |= {"dedicated": {"current": 61, "target": 80}, "spot": {"current": 0, "target": 5}}
    open_list(page, pools)
    row = page.locator("tr[data-pool=render-d4s]")
    expect(row.locator("[data-size=dedicated]")).to_have_text(re.compile(r"61.*→.*80 dedicated"))
    expect(row.locator("[data-size=spot]")).to_have_text(re.compile(r"0.*5 spot"))
    expect(row.locator(".states")).to_contain_text("24 running, 8 idle, 8 creating")
    expect(row.locator("[data-used='slots used']")).to_contain_text("96 of 244")
    expect(row.locator("[data-used='cores busy']")).to_contain_text("96 of 244")
    problems = ["Resize failed: AccountCoreQuotaReached", "Start task failed on 4 nodes", "Lost contact with 1 node"]
    expect(row.locator(".troubles p")).to_have_text([*problems, "and 1 more"])
    expect(row.locator("[data-level]")).to_have_text("exact: All of its nodes were listed.")


def test_a_resize_that_failed_repeatedly_is_shown_with_its_attempts(page: Page, pools: Canned) -> None:
    pools.pools["demo"] = [pool("short", resizeErrors=[resize_error(attempts=3)])]
    open_list(page, pools)
    expect(page.locator("tr[data-pool=short] .troubles p")).to_have_text(
        ["Resize failed 3 times: AccountCoreQuotaReached"]
    )


def test_a_pool_without_nodes_stands_in_line_with_its_name(page: Page, pools: Canned) -> None:
    pools.pools["demo"] = [pool("empty", nodes={}), pool("full")]
    open_list(page, pools)
    tops = [
        page.locator(f"tr[data-pool={name}]").evaluate(
            "row => row.querySelector('.bar').getBoundingClientRect().top -"
            " row.querySelector('a.open').getBoundingClientRect().top"
        )
        for name in ("empty", "full")
    ]
    assert abs(tops[0] - tops[1]) < 1
    expect(page.get_by_role("link", name="With problems")).to_have_text("With problems 0", use_inner_text=True)


def test_slots_that_are_neither_used_nor_free_are_out_of_service(page: Page, pools: Canned) -> None:
    open_list(page, pools)
    expect(page.locator(".tile")).to_contain_text("of 288, 52 free, 116 out of service")
    page.get_by_role("link", name="render-d4s").click()
    expect(page.locator(".pool-top")).to_contain_text("of 244, 32 free, 116 out of service")
    page.goto(f"{pools.url}/?account=demo&pool=analytics")
    expect(page.locator(".pool-top")).to_contain_text(re.compile(r"of 32, 8 free(?!,)"))


def test_more_pools_are_shown_without_losing_the_focus(page: Page, pools: Canned) -> None:
    pools.pools["demo"] = [pool(f"pool-{number:03}") for number in range(410)]
    open_list(page, pools)
    expect(page.locator(".rest")).to_contain_text("Showing 200 of 410 pools.")
    more = page.get_by_role("button", name="Show more")
    more.focus()
    for shown in (400, 410):
        page.keyboard.press("Enter")
        expect(page.locator("tr[data-pool]")).to_have_count(shown)
        expect(more).to_be_focused()
    expect(more).to_have_attribute("aria-disabled", "true")
    expect(page.locator(".rest")).to_contain_text("Showing 410 of 410 pools.")


def test_pools_with_problems_stand_first_and_other_orders_can_be_asked_for(page: Page, pools: Canned) -> None:
    open_list(page, pools)
    expect(page.locator("tr[data-pool]")).to_have_count(3)
    assert ids(page) == ["render-d4s", "analytics", "etl"]
    page.get_by_role("link", name="Pool", exact=False).filter(has_text="↕").first.click()
    expect(page).to_have_url(re.compile("order=id"))
    assert ids(page) == ["analytics", "etl", "render-d4s"]
    expect(page.get_by_role("columnheader", name="Pool")).to_have_attribute("aria-sort", "ascending")


def test_a_past_resize_error_is_shown_but_is_no_problem(page: Page, pools: Canned) -> None:
    pools.pools["demo"] = [pool("a"), pool("b", resizeErrors=[resize_error(current=False)])]
    open_list(page, pools)
    expect(page.locator("tr[data-pool=b] .troubles")).to_contain_text(
        re.compile(r"AccountCoreQuotaReached last reported 5 min")
    )
    assert ids(page) == ["a", "b"]
    page.get_by_role("link", name="With problems").click()
    expect(page.get_by_test_id("no-pools")).to_contain_text("No pool matches")
    page.get_by_role("link", name="Show all pools").click()
    expect(page.locator("tr[data-pool]")).to_have_count(2)


def test_stale_pools_of_a_disabled_account_are_no_problem(page: Page, pools: Canned) -> None:
    verdict = pool("a")["verdict"] | {"level": "stale", "reason": "Monitoring of this account is switched off."}
    pools.pools["demo"] = [pool("a", verdict=verdict), pool("b", verdict=verdict, resizeErrors=[resize_error()])]
    pools.accounts = [account(enabled=False, **sums(pools.pools["demo"]))]
    open_list(page, pools)
    expect(page.locator("tr[data-pool=a] [data-level=stale]")).to_be_visible()
    expect(page.get_by_role("link", name="With problems")).to_have_text("With problems 1", use_inner_text=True)
    assert ids(page) == ["b", "a"]
    expect(page.locator("tr[data-pool=a] .troubles")).to_have_attribute("data-empty", "true")
    pools.accounts[0]["enabled"] = True
    page.reload()
    expect(page.get_by_role("link", name="With problems")).to_have_text("With problems 2", use_inner_text=True)


def test_filters_live_in_the_address(page: Page, pools: Canned) -> None:
    open_list(page, pools)
    page.get_by_role("link", name="Stopping").click()
    expect(page.locator("tr[data-pool]")).to_have_count(1)
    page.get_by_label("Id begins with").fill("ET")
    expect(page).to_have_url(re.compile(r"\?view=pools&allocationState=stopping&prefix=ET$"))
    page.reload()
    expect(page.locator("tr[data-pool=etl]")).to_be_visible()
    assert ids(page) == ["etl"]


def test_an_account_shows_totals_of_its_pools_on_both_lists(page: Page, pools: Canned) -> None:
    mixed = [*pools.pools["demo"], pool("odd", nodes={"idle": 5}, vmSize="odd", cores=None)]
    pools.accounts = [account(**sums(mixed))]
    open_list(page, pools)
    expect(page.get_by_test_id("nodes")).to_have_text("77")
    expect(page.locator(".tile")).to_contain_text("of 288, 41.7%; cores of 5 nodes unknown")
    expect(page.locator(".tile [data-legend=trouble]")).to_have_text("5 unhealthy: 4 start task failed, 1 unknown")
    page.get_by_role("link", name="Jobs").click()
    line = "4 pools, 77 nodes: 30 running, 18 idle, .*; 120 of 288 cores busy; cores of 5 nodes unknown"
    expect(page.get_by_test_id("pools-line")).to_have_text(re.compile(line))
    page.get_by_role("link", name="4 pools").click()
    expect(page).to_have_url(re.compile(r"\?view=pools&account=demo$"))


def test_unread_values_are_not_shown_as_zero(page: Page, pools: Canned) -> None:
    pools.pools["demo"] = [pool("new", nodeCounts=None, cores=None, slots=None, runningTasks=None)]
    pools.accounts = [account(pools={"total": 1, "byState": {"active": 1}, "notRead": 1, "asOf": None})]
    open_list(page, pools)
    expect(page.locator("tr[data-pool=new] .states")).to_have_text("not read yet")
    expect(page.locator("tr[data-pool=new] .used")).to_have_text(["Slots used\u2013", "Cores busy\u2013"])
    expect(page.get_by_test_id("nodes")).to_have_text("\u2013")
    expect(page.get_by_test_id("unread")).to_have_text("1 pool not read yet")


def test_lists_that_are_refused_say_why_instead_of_being_on_their_way(page: Page, pools: Canned) -> None:
    pools.pools = {}
    pools.accounts = [account(poolsReason=REFUSED, schedulesReason=REFUSED)]
    for view in ("pools", "schedules"):
        page.goto(f"{pools.url}/?view={view}")
        expect(page.get_by_test_id("unknown")).to_contain_text(f"demo: {REFUSED}")
        expect(page.get_by_test_id("reason")).to_contain_text(REFUSED)
        expect(page.get_by_test_id("fresh")).to_contain_text("not read yet")
        expect(page.locator(".choices")).to_have_text(re.compile("^all with", re.IGNORECASE))
    page.get_by_role("link", name="Jobs").click()
    expect(page.get_by_test_id("pools-line")).to_have_text(f"Pools unavailable: {REFUSED}")
    expect(page.get_by_test_id("schedules-line")).to_have_text(f"Job schedules unavailable: {REFUSED}")


def test_sums_of_pools_are_as_of_their_own_time(page: Page, pools: Canned) -> None:
    pools.accounts[0]["pools"] |= {"asOf": stamp(10_850), "notRead": 2}
    open_list(page, pools)
    expect(page.get_by_test_id("fresh")).to_have_text("as of 3 h ago or later, polled every 5 s")
    page.get_by_role("link", name="Jobs").click()
    expect(page.get_by_test_id("fresh")).to_have_text(re.compile(r"as of \d+ s ago, polled"))
    expect(page.get_by_test_id("pools-line")).to_contain_text("2 pools not read yet, as of 3 h ago")
    pools.accounts[0]["pools"] |= {"asOf": stamp(6), "notRead": 0}
    page.reload()
    expect(page.get_by_test_id("pools-line")).to_have_text(re.compile("cores busy$"))


def test_rows_of_another_account_are_no_answer(page: Page, pools: Canned) -> None:
    page.route("**/api/accounts/beta/pools*", lambda _: None)  # this request stays unanswered
    pools.accounts.append(account("beta"))
    pools.pools["beta"] = [pool("fem", account="beta")]
    open_list(page, pools, "&account=demo&order=nodes")
    expect(page.locator("tr[data-pool]")).to_have_count(3)
    page.get_by_role("button", name="beta").click()
    expect(page.locator("section.pools")).to_have_text("Loading…")
    page.unroute_all()
    page.reload()
    expect(page.locator("tr[data-pool=fem]")).to_be_visible()
    pools.pools["beta"] = []
    page.reload()
    expect(page.get_by_test_id("no-pools")).to_contain_text("No pools yet")


def test_no_pools_is_said_in_words_and_a_failed_list_too(page: Page, pools: Canned) -> None:
    pools.pools["demo"] = []
    open_list(page, pools)
    expect(page.get_by_test_id("no-pools")).to_contain_text("No pools yet")
    pools.broken = {"pools": (502, "Table Storage didn't answer.")}
    expect(page.get_by_test_id("problem")).to_have_text("demo: Table Storage didn't answer.")


def test_a_thousand_pools_are_listed_fast_and_filtered_at_once(page: Page, pools: Canned) -> None:
    pools.pools["demo"] = [pool(f"pool-{number:04}") for number in range(1000)]
    pools.pools["demo"][777]["nodeCounts"] = {"unusable": 1}
    pools.accounts = [account(**sums(pools.pools["demo"]))]
    open_list(page, pools)
    expect(page.locator("tr[data-pool]").first).to_have_attribute("data-pool", "pool-0777")
    expect(page.locator("tr[data-pool]")).to_have_count(200)
    expect(page.locator(".rest")).to_contain_text("Showing 200 of 1,000 pools.")
    page.get_by_label("Id begins with").fill("pool-099")
    expect(page.locator("tr[data-pool]")).to_have_count(10)


def test_names_and_errors_from_outside_are_text(page: Page, pools: Canned) -> None:
    error = resize_error(HOSTILE, message=HOSTILE)
    pools.pools["demo"] = [
        pool(HOSTILE, displayName=HOSTILE, vmSize=HOSTILE, nodes={HOSTILE: 3}, state=HOSTILE, resizeErrors=[error])
    ]
    pools.accounts = [account(**sums(pools.pools["demo"]))]
    open_list(page, pools)
    expect(page.locator("th.id")).to_contain_text(HOSTILE)
    expect(page.locator("td.troubles")).to_contain_text(HOSTILE)
    expect(page.locator("[data-legend=other]")).to_contain_text(HOSTILE)
    assert page.locator("img, #page script").count() == 0
    assert page.title() == "Pools · Batchscope"


def test_no_pool_sticks_out_at_any_width(page: Page, pools: Canned) -> None:
    errors = [resize_error("X" * 90, message="m" * 300, time=stamp(9))]
    pools.pools["demo"][0] |= {"id": "p" * 64, "displayName": "d" * 200, "vmSize": "v" * 80, "resizeErrors": errors}
    open_list(page, pools)
    expect(page.locator("tr[data-pool]")).to_have_count(3)
    for width in (1440, 1300, 1100, 800, 420):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERFLOW) <= 0, width
        list_right, badge_right = (
            page.locator(selector).first.evaluate("box => box.getBoundingClientRect().right")
            for selector in ("section.pools", "section.pools td.age")
        )
        assert badge_right <= list_right, width
