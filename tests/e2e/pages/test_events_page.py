"""Events on the page, with a canned API: the feed, the latest ones of a job, pool or node, and their ingestion."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.canned.canned_api import DIST, Canned
from tests.e2e.canned.canned_events import canned_events, event, ingestion, pool_event
from tests.e2e.canned.canned_values import account, job, stamp
from tests.e2e.canned.pool_page import FAINT_TEXT, show_pool

WIDTH, MAX_NAME_LENGTH = "link => link.offsetWidth", 200
HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
LOOK_NOW = "dispatchEvent(new Event('online'))"
LINES_OF = """each => {
  const range = document.createRange();
  range.selectNodeContents(each);
  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
}"""
TOP_OF = "(id) => document.querySelector(`[data-event=${id}]`).getBoundingClientRect().top"


@pytest.fixture
def events() -> Iterator[Canned]:
    if not (DIST / "index.html").exists():
        pytest.skip("the dashboard isn't built: run python3 dev.py build")
    with canned_events() as canned:
        yield canned


def open_feed(page: Page, canned: Canned, query: str = "") -> None:
    page.goto(f"{canned.url}/?view=events{query}")


def expect_rows(page: Page, number: int) -> None:
    expect(page.locator("[data-event]")).to_have_count(number)


def test_a_kind_of_event_fits_on_one_line(page: Page, events: Canned) -> None:
    events.events = [pool_event(2, kind="PoolResizeCompleteEvent")]
    open_feed(page, events)
    assert page.locator(".kind").evaluate(LINES_OF) == 1


def test_times_are_shown_with_their_zone(browser: Browser, events: Canned) -> None:
    events.events = [event(1, time="2026-01-02T03:04:05Z")]
    with browser.new_context(timezone_id="Asia/Tokyo") as context:
        page = context.new_page()
        open_feed(page, events)
        expect(page.get_by_test_id("shown")).to_have_text("1 event shown (all matches) · times in Asia/Tokyo")
        expect(page.locator("[data-event=e1] time")).to_have_text("2 Jan, 12:04:05")


def test_the_feed_shows_the_latest_first_and_older_ones_when_asked(page: Page, events: Canned) -> None:
    open_feed(page, events)
    expect_rows(page, 50)
    first = page.locator("[data-event]").first
    expect(first).to_have_attribute("data-event", "e120")
    expect(first).to_contain_text("TaskCompleteEvent")
    for name in ("job=render", "job=render&task=frame-120", "pool=render-d4s", "pool=render-d4s&node=tvmps_1"):
        expect(first.locator(f"a[href='?account=demo&{name}']")).to_have_count(1)
    older = page.get_by_role("button", name="Older events")
    older.focus()
    for shown in (100, 120):
        page.keyboard.press("Enter")
        expect_rows(page, shown)
        expect(older).to_be_focused()
    expect(older).to_have_attribute("aria-disabled", "true")
    found = [row.get_attribute("data-event") for row in page.locator("[data-event]").all()]
    assert found == [f"e{number}" for number in range(120, 0, -1)]


def test_new_events_appear_without_moving_the_visible_ones(page: Page, events: Canned) -> None:
    open_feed(page, events)
    expect_rows(page, 50)
    events.events = [event(number) for number in (122, 121)] + events.events
    page.evaluate(LOOK_NOW)
    expect_rows(page, 52)
    assert page.evaluate("scrollY") == 0
    page.evaluate("scrollTo({top: 900, behavior: 'instant'})")
    before = page.evaluate(TOP_OF, "e100")
    events.events = [event(number) for number in range(180, 122, -1)] + events.events  # more than a page
    page.evaluate(LOOK_NOW)
    expect_rows(page, 110)
    assert abs(page.evaluate(TOP_OF, "e100") - before) <= 1


def test_filters_are_the_apis_and_live_in_the_address(page: Page, events: Canned) -> None:
    open_feed(page, events)
    page.get_by_label("Kind").select_option("TaskFailEvent")
    expect_rows(page, 12)
    expect(page).to_have_url(re.compile(r"\?view=events&account=demo&kind=TaskFailEvent$"))
    page.get_by_label("Job id").fill("other")
    expect(page.get_by_test_id("no-events")).to_contain_text("No event matches")
    page.get_by_test_id("no-events").get_by_role("link", name="Show all events").click()
    page.get_by_label("Pool id").fill("render-d4s")
    page.get_by_label("From").fill("2026-01-01T10:30")
    expect(page).to_have_url(re.compile(r"&pool=render-d4s&from=2026-01-01T\d\d%3A\d\d%3A00Z$"))
    expect(page.get_by_label("From")).to_have_value("2026-01-01T10:30")
    expect(page.get_by_role("link", name="Events as CSV")).to_have_attribute(
        "href", re.compile(r"^/api/accounts/demo/events\?format=csv&maxpagesize=1000&pool=render-d4s&from=2026")
    )
    events.broken["events"] = (400, "The query parameter 'from' can't be 'noon'.")
    open_feed(page, events, "&from=noon")
    expect(page.get_by_test_id("events-problem")).to_contain_text("'from' can't be 'noon'")


def test_a_job_shows_its_latest_events_and_leads_to_all_of_them(page: Page, events: Canned) -> None:
    events.jobs = {"demo": [job("render"), job("quiet")]}
    page.set_viewport_size({"width": 1300, "height": 3000})
    page.goto(f"{events.url}/?account=demo&job=render")
    latest = page.locator("[data-section=events]")
    expect(latest.locator("[data-event]")).to_have_count(6)
    expect(latest.locator("[data-event=e120]")).not_to_contain_text("jobrender")
    latest.get_by_role("link", name="All events").click()
    expect(page).to_have_url(re.compile(r"\?view=events&account=demo&job=render$"))
    expect(page.get_by_label("Job id")).to_have_value("render")
    expect_rows(page, 50)
    page.goto(f"{events.url}/?account=demo&job=quiet")
    expect(page.get_by_test_id("job-heading")).to_be_visible()
    expect(page.locator("[data-section=tasks]")).to_be_visible()
    assert page.locator("[data-section=events]").inner_text() == ""


def test_a_pool_and_a_node_show_their_latest_events(page: Page, pools: Canned) -> None:
    node = pools.nodes[0]["id"]
    pools.events = [pool_event(3), event(2, nodeId=node), pool_event(1, poolId="etl")]
    show_pool(page, pools, node=node)
    panel = page.locator("dialog [data-section=events]")
    expect(panel.locator("[data-event]")).to_have_count(1)
    expect(panel.get_by_role("link", name="All events")).to_have_attribute(
        "href", f"?view=events&account=demo&pool=render-d4s&node={node}"
    )
    page.keyboard.press("Escape")
    expect(page.locator("main [data-section=events] [data-event]")).to_have_count(2)
    pools.broken["events"] = (502, "Table Storage didn't read events.")
    page.reload()
    expect(page.locator("main").get_by_test_id("events-problem")).to_contain_text("Table Storage didn't read events.")


def test_the_state_and_problems_of_ingestion_are_shown(page: Page, events: Canned) -> None:
    open_feed(page, events)
    line = page.get_by_test_id("ingestion")
    shown = r"^1,200 events so far, from 3 logs, last check \d+ s ago; latest event logged"
    expect(line).to_contain_text(re.compile(shown))
    expect(page.get_by_test_id("ingestion-trouble")).to_have_count(0)
    events.ingestion = ingestion(
        behindBlobs=2, behindBytes=12_345_678, behindSince=stamp(3_700), refused=3, problems=["a.json: It is gone."]
    )
    page.reload()
    trouble = page.get_by_test_id("ingestion-trouble")
    expect(trouble).to_contain_text("12 MB in 2 logs waiting to be read for 1 h; some events are missing.")
    expect(trouble).to_contain_text("3 records couldn't be read; download the list with reasons.")
    expect(trouble).to_contain_text("a.json: It is gone.")
    events.ingestion, events.events = ingestion(container=None, sweptAt=None), []
    page.reload()
    expect(line).to_contain_text("Event ingestion is off. Set TELEMETRY_STORAGE to the storage account")
    expect(page.get_by_test_id("no-events")).to_contain_text("No events yet")


def test_each_of_several_accounts_has_its_own_events(page: Page, events: Canned) -> None:
    events.accounts = [account(), account("other")]
    open_feed(page, events)
    page.get_by_role("link", name="other", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?view=events&account=other$"))
    expect_rows(page, 50)
    assert any(path.startswith("/api/accounts/other/events?") for path in events.asked)
    open_feed(page, events, "&account=none")
    expect(page.get_by_test_id("no-accounts")).to_contain_text("This account isn't monitored")


@pytest.mark.parametrize(("width", "scheme"), [(1300, "light"), (420, "dark")])
def test_hostile_event_texts_are_shown_as_readable_text_that_fits(
    page: Page, events: Canned, width: int, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    long = f"tvmps_{'9f' * 32}_d"
    events.ingestion = ingestion(behindBytes=13, behindBlobs=1, refused=1, problems=[HOSTILE])
    events.events = [
        event(2, summary=HOSTILE * 3, kind="x" * 256),
        event(1, nodeId=long, kind="TaskFailEvent", summary=f"Task 'frame-1' of job 'render' failed on node '{long}'."),
        pool_event(0),
    ]
    open_feed(page, events)
    expect(page.locator("[data-event=e2]")).to_contain_text("<script>")
    assert page.evaluate(OVERFLOW) == 0
    assert page.evaluate(FAINT_TEXT) == []
    link = page.locator("[data-event=e1] .of-node a")
    expect(link).to_have_text("tvmps_9f9f9f9f\N{HORIZONTAL ELLIPSIS}9f9f_d")
    assert link.evaluate(WIDTH) < MAX_NAME_LENGTH
    expect(link.locator("[title]")).to_have_attribute("title", long)
    expect(page.get_by_role("button", name=f"Copy the id {long}")).to_be_visible()
    assert page.title() == "Events · Batchscope"
