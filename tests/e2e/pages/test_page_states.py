"""The dashboard in states that are hard to produce on a real stack; its API is canned, its files are the real build."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import DIST, Canned, serving
from tests.e2e.canned.canned_cost import cost
from tests.e2e.canned.canned_values import account, counts, job, last_round, stamp

HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"


@pytest.fixture
def canned() -> Iterator[Canned]:
    if not (DIST / "index.html").exists():
        pytest.skip("the dashboard isn't built: run python3 dev.py build")
    with serving(Canned()) as canned:
        yield canned


def fill(canned: Canned, *jobs: dict[str, object]) -> None:
    canned.accounts, canned.jobs = [account(jobs=list(jobs))], {"demo": list(jobs)}


def ids(page: Page) -> list[str | None]:
    return [row.get_attribute("data-job") for row in page.locator("tr[data-job]").all()]


def test_jobs_show_counts_pool_state_and_verdict_as_text(page: Page, canned: Canned) -> None:
    fill(canned, job("render", taskCounts=counts(active=14211, running=118, succeeded=5611, failed=60)))
    page.goto(canned.url)
    row = page.locator('[data-job="render"]')
    expect(row.locator("[data-count=total]")).to_contain_text("20,000")
    expect(row.locator("[data-count=failed]")).to_contain_text("60")
    expect(row.locator(".state")).to_have_text("active")
    expect(row.locator(".pool")).to_have_text("render-d4s")
    expect(row.locator("[data-level]")).to_have_text("exact: Get Task Counts agrees.")


def test_a_bar_is_as_long_in_each_state_as_its_count(page: Page, canned: Canned) -> None:
    fill(canned, job("render", taskCounts=counts(active=300, succeeded=100)))
    page.goto(canned.url)
    expect(page.locator("tr[data-job]")).to_have_count(1)
    page.wait_for_timeout(700)
    widths = {
        part.get_attribute("data-state"): (part.bounding_box() or {"width": 0})["width"]
        for part in page.locator('[data-job="render"] .part:visible').all()
    }
    assert widths.keys() == {"active", "succeeded"}
    assert widths["active"] / widths["succeeded"] == pytest.approx(3, rel=0.1)


def test_new_counts_appear_without_a_reload(page: Page, canned: Canned) -> None:
    fill(canned, job("render", taskCounts=counts(active=5)))
    page.goto(canned.url)
    expect(page.locator("[data-job=render] [data-count=active]")).to_contain_text("5")
    fill(canned, job("render", taskCounts=counts(active=4, running=1)))
    expect(page.locator("[data-job=render] [data-count=active]")).to_contain_text("4")


def test_unchanged_lists_are_requested_by_etag(page: Page, canned: Canned) -> None:
    fill(canned, job("render"))
    canned.costs["job"] = cost(["render"], "job")
    with page.expect_response(lambda answer: "/jobs" in answer.url and answer.status == 304):
        page.goto(canned.url)
    first, then = canned.statuses[:4], canned.statuses[4:6]  # accounts, jobs, costs, conditions; accounts, jobs
    assert (first, then) == ([200] * 4, [304, 304])


def test_active_jobs_stand_first(page: Page, canned: Canned) -> None:
    fill(canned, job("a-done", state="completed"), job("b-off", state="disabled"), job("c-on"))
    page.goto(canned.url)
    expect(page.locator("tr[data-job]")).to_have_count(3)
    assert ids(page) == ["c-on", "b-off", "a-done"]


def test_filters_live_in_the_address_and_come_back_with_it(page: Page, canned: Canned) -> None:
    fill(canned, job("render-1"), job("render-2", state="completed"), job("etl-1"))
    page.goto(canned.url)
    page.get_by_label("Id begins with").fill("REN")
    expect(page.locator("tr[data-job]")).to_have_count(2)
    page.locator("[data-filter-state=completed]").click()
    expect(page).to_have_url(re.compile(r"\?state=completed&prefix=REN$"))
    page.reload()
    expect(page.locator("tr[data-job]")).to_have_count(1)
    assert ids(page) == ["render-2"]
    page.go_back()
    expect(page.locator("tr[data-job]")).to_have_count(2)


def test_all_pages_of_a_list_are_read_from_the_own_host(page: Page, canned: Canned) -> None:
    canned.page_size = 2
    fill(canned, *(job(f"job-{number}") for number in range(5)))
    page.goto(canned.url)
    expect(page.locator("tr[data-job]")).to_have_count(5)


def test_several_accounts_are_listed_and_one_can_be_chosen(page: Page, canned: Canned) -> None:
    canned.accounts = [account("demo", [job("one")]), account("research", [job("two", account="research")])]
    canned.jobs = {"demo": [job("one")], "research": [job("two", account="research")]}
    page.goto(canned.url)
    expect(page.locator("tr[data-job]")).to_have_count(2)
    page.get_by_role("button", name="research").click()
    expect(page.locator("tr[data-job]")).to_have_count(1)
    expect(page.locator("tr[data-account=research]")).to_be_visible()


def test_the_banner_appears_when_the_server_dies_and_goes_when_it_is_back(page: Page, canned: Canned) -> None:
    fill(canned, job("render"))
    page.goto(canned.url)
    expect(page.locator("[data-job=render]")).to_be_visible()
    canned.stop()
    banner = page.get_by_test_id("banner")
    expect(banner).to_contain_text(re.compile(r"The server hasn't responded for \d+ s; retrying\."))
    expect(page.locator("main.outdated [data-job=render]")).to_be_visible()
    with serving(canned, port=int(canned.url.rsplit(":", 1)[1])):
        expect(page.get_by_test_id("banner")).to_be_hidden(timeout=15_000)


def test_names_from_outside_are_text(page: Page, canned: Canned) -> None:
    fill(canned, job(HOSTILE, displayName=HOSTILE * 4, poolId=HOSTILE))
    page.goto(canned.url)
    expect(page.locator("th.id")).to_contain_text(HOSTILE)
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "Batchscope"


def test_characters_that_disguise_a_name_are_shown(page: Page, canned: Canned) -> None:
    fill(canned, job("a", displayName="\u202egnp.exe"))
    page.goto(canned.url)
    expect(page.locator(".aside")).to_have_text("\ufffdgnp.exe")


def test_a_reason_shows_when_its_badge_has_the_focus(page: Page, canned: Canned) -> None:
    verdict = {
        "asOf": stamp(90),
        "source": "delta",
        "level": "stale",
        "reason": "The last poll failed: 503.",
        "checkedAt": stamp(90),
    }
    fill(canned, job("render", verdict=verdict))
    page.goto(canned.url)
    page.locator("[data-level=stale]").focus()
    expect(page.locator(".tip")).to_have_text("The last poll failed: 503.")


def test_a_long_first_read_shows_how_far_it_is(page: Page, canned: Canned) -> None:
    fill(canned, job("render", taskCounts=None, progress={"tasks": 340_000, "expected": 1_000_000}))
    page.goto(canned.url)
    expect(page.locator("tr[data-job=render] .read")).to_contain_text("340,000 of about 1,000,000 read")
    assert page.locator("progress").evaluate("bar => bar.position") == pytest.approx(0.34)
    fill(canned, job("render", taskCounts=None, progress={"tasks": 1_200, "expected": None}))
    expect(page.locator("tr[data-job=render] .read")).to_contain_text("1,200 changed tasks read")
    assert page.locator("progress").evaluate("bar => bar.position") == -1, "nobody knows how many changed"


def test_ages_follow_the_servers_clock(page: Page, canned: Canned) -> None:
    fill(canned, job("render"))
    page.add_init_script("const now = Date.now; Date.now = () => now() + 3_600_000;")
    page.goto(canned.url)
    expect(page.locator("td.age time")).to_have_text(re.compile(r"^\d s ago$"))
    first = page.locator("td.age time").inner_text()
    expect(page.locator("td.age time")).not_to_have_text(first)


def test_no_accounts_is_said_in_words(page: Page, canned: Canned) -> None:
    page.goto(canned.url)
    expect(page.get_by_test_id("no-accounts")).to_contain_text("BATCH_ACCOUNTS")


def test_no_jobs_is_said_in_words(page: Page, canned: Canned) -> None:
    fill(canned)
    page.goto(canned.url)
    expect(page.get_by_test_id("no-jobs")).to_contain_text("No jobs yet")


def test_no_match_offers_to_show_all_jobs(page: Page, canned: Canned) -> None:
    fill(canned, job("render"))
    page.goto(f"{canned.url}/?prefix=zzz")
    page.get_by_role("button", name="Show all jobs").click()
    expect(page.locator("tr[data-job]")).to_have_count(1)


def test_an_error_body_is_shown_as_its_sentence(page: Page, canned: Canned) -> None:
    canned.failure, canned.everything_fails = (503, "The setting BATCH_ACCOUNTS is missing."), True
    page.goto(canned.url)
    expect(page.get_by_test_id("banner")).to_contain_text("The setting BATCH_ACCOUNTS is missing.")


def test_one_accounts_error_leaves_the_others_alone(page: Page, canned: Canned) -> None:
    fill(canned, job("render"))
    canned.failure = (502, "Table Storage didn't answer.")
    page.goto(canned.url)
    expect(page.get_by_test_id("problem")).to_have_text("demo: Table Storage didn't answer.")
    expect(page.get_by_test_id("tasks-total")).to_have_text("20")


def test_a_failed_round_says_why(page: Page, canned: Canned) -> None:
    canned.accounts = [account(lastRound=last_round(outcome="failed", reason="Batch answered 403."))]
    page.goto(canned.url)
    expect(page.get_by_test_id("round")).to_contain_text("Batch answered 403.")


def test_nothing_sticks_out_at_any_width(page: Page, canned: Canned) -> None:
    fill(canned, job("x" * 64, poolId="p" * 64), job("y", taskCounts=counts(active=200_000, succeeded=800_000)))
    page.goto(canned.url)
    for width in (380, 760, 1100, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator("tr[data-job]")).to_have_count(2)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
        right = page.locator("section.jobs").bounding_box()
        last = page.locator("[data-job=y] .badge").bounding_box()
        assert right is not None
        assert last is not None
        assert last["x"] + last["width"] <= right["x"] + right["width"], width


_BEYOND_TILE = """() => [...document.querySelectorAll('.numbers > div')].filter((part) => {
  const range = document.createRange();
  range.selectNodeContents(part);
  const tile = part.closest('.tile').getBoundingClientRect();
  return range.getBoundingClientRect().right > tile.right || range.getBoundingClientRect().left < tile.left;
}).map((part) => part.innerText)"""


def test_millions_of_tasks_stay_within_their_tile(page: Page, canned: Canned) -> None:
    most = 9_876_543
    fill(canned, job("y", taskCounts=counts(active=most, preparing=most, running=most, succeeded=most, failed=most)))
    page.goto(canned.url)
    for width in (320, 420, 560, 760, 1000, 1100, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator("tr[data-job]")).to_have_count(1)
        assert page.evaluate(_BEYOND_TILE) == [], width
