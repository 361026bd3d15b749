"""Job schedules on the page, with a canned API: the list, one schedule, and texts for unknown values."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import DIST, Canned
from tests.e2e.canned.canned_cost import cost_sum
from tests.e2e.canned.canned_schedule import canned_schedules, missed, run, schedule
from tests.e2e.canned.canned_values import account, stamp

HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture
def schedules() -> Iterator[Canned]:
    if not (DIST / "index.html").exists():
        pytest.skip("the dashboard isn't built: run python3 dev.py build")
    with canned_schedules() as canned:
        yield canned


def open_list(page: Page, canned: Canned, query: str = "") -> None:
    page.goto(f"{canned.url}/?view=schedules{query}")


def ids(page: Page) -> list[str | None]:
    return [row.get_attribute("data-schedule") for row in page.locator("tr[data-schedule]").all()]


def test_a_schedule_shows_its_recurrence_runs_and_tasks_of_its_jobs(page: Page, schedules: Canned) -> None:
    open_list(page, schedules)
    row = page.locator("tr[data-schedule=nightly]")
    expect(row.locator(".state")).to_have_text("active")
    expect(row.locator(".rhythm")).to_have_text("every 1 h")
    expect(row.locator("[data-next]")).to_contain_text(re.compile(r"in 55 min"))
    expect(row.locator(".recent-job")).to_have_text(re.compile(r"job-3 active, 5 min ago"))
    for name, value in {"active jobs": "1", "running": "836", "made": "3", "missed": "0"}.items():
        expect(row.locator(f"[data-figure='{name}']")).to_contain_text(re.compile(rf"{value}$"))
    expect(row.locator("[data-level]")).to_have_text("exact: The list of job schedules tells all of it.")
    off = page.locator("tr[data-schedule=closing]")
    expect(off.locator(".recent-job")).to_have_text("none yet")
    expect(off.locator("[data-figure=missed] [title]")).to_have_attribute("title", re.compile("when it was first seen"))


def test_an_account_shows_totals_of_its_schedules(page: Page, schedules: Canned) -> None:
    open_list(page, schedules)
    expect(page.get_by_test_id("schedules").first).to_have_text("3")
    expect(page.get_by_test_id("active-jobs")).to_have_text("2")
    expect(page.get_by_test_id("running-tasks")).to_have_text("1,672")
    expect(page.get_by_test_id("missed-runs")).to_have_text("4")
    expect(page.locator(".tile")).to_contain_text("unknown for 1 schedule")
    page.get_by_role("link", name="Jobs").click()
    expect(page.get_by_test_id("schedules-line")).to_have_text("3 job schedules, 2 active, 1 disabled")
    page.get_by_role("link", name="3 job schedules").click()
    expect(page).to_have_url(re.compile(r"\?view=schedules&account=demo$"))


def test_unread_totals_are_not_shown_as_zero(page: Page, schedules: Canned) -> None:
    schedules.broken["schedules"] = (502, "Table Storage didn't answer.")
    open_list(page, schedules)
    expect(page.get_by_test_id("problem")).to_be_visible()
    expect(page.get_by_test_id("schedules").first).to_have_text("3")
    for name in ("active-jobs", "running-tasks", "missed-runs"):
        expect(page.get_by_test_id(name)).to_have_text("\u2013")
    nightly, off, sync = schedules.schedules["demo"]
    nightly["totals"]["unreadJobs"], nightly["runs"]["total"] = 3, None
    for each in (nightly, off, sync):
        each["missedRuns"] = missed(None)
    schedules.accounts[0]["schedules"]["asOf"] = stamp(10_850)
    schedules.broken = {}
    page.reload()
    expect(page.locator(".tile")).to_contain_text("200 waiting (active); 3 jobs not read yet")
    expect(page.locator(".tile")).to_contain_text("of 3 runs so far, runs unknown for 1 schedule")
    expect(page.get_by_test_id("missed-runs")).to_have_text("\u2013")
    expect(page.get_by_test_id("fresh")).to_contain_text("as of 3 h ago")
    schedules.accounts[0]["schedules"] = None
    page.reload()
    expect(page.get_by_test_id("active-jobs")).to_have_text("\u2013")


def test_schedules_that_missed_runs_stand_first_and_filters_live_in_the_address(page: Page, schedules: Canned) -> None:
    open_list(page, schedules)
    expect(page.locator("tr[data-schedule]")).to_have_count(3)
    assert ids(page) == ["sync", "nightly", "closing"]
    page.get_by_role("link", name="With missed runs").click()
    expect(page.locator("tr[data-schedule]")).to_have_count(1)
    page.get_by_label("Id begins with").fill("X")
    expect(page.get_by_test_id("no-schedules")).to_contain_text("No schedule matches")
    expect(page).to_have_url(re.compile(r"\?view=schedules&missed=yes&prefix=X$"))
    page.get_by_role("link", name="Show all schedules").click()
    page.get_by_role("link", name="Disabled").click()
    page.reload()
    expect(page.locator("tr[data-schedule]")).to_have_count(1)
    assert ids(page) == ["closing"]


def test_without_schedules_and_where_they_cannot_be_read_the_page_says_so(page: Page, schedules: Canned) -> None:
    schedules.schedules = {}
    open_list(page, schedules)
    expect(page.get_by_test_id("no-schedules")).to_contain_text("No job schedules")
    schedules.broken["schedules"] = (502, "Table Storage didn't read jobschedules.")
    expect(page.get_by_test_id("problem")).to_contain_text("Table Storage didn't read jobschedules.")


def test_a_schedule_opens_a_page_with_its_latest_jobs_and_job_template(page: Page, schedules: Canned) -> None:
    open_list(page, schedules)
    page.get_by_role("link", name="sync", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?account=demo&schedule=sync$"))
    expect(page.get_by_test_id("schedule-heading")).to_be_focused()
    expect(page.get_by_test_id("rhythm")).to_have_text("runs every 10 min, start window 5 min")
    expect(page.get_by_test_id("missed-runs")).to_have_text("4")
    expect(page.get_by_test_id("missed-line")).to_contain_text("Counted since its first run fell due.")
    expect(page.get_by_test_id("tasks-line")).to_contain_text(
        "948 tasks in its jobs, 836 running, 100 waiting (active), 1 failed"
    )
    rows = page.get_by_test_id("runs").locator("tr[data-run]")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("2 min")
    specification = page.locator("[data-section=specification]")
    expect(specification).to_contain_text("login --password redacted")
    expect(specification).to_contain_text("no limit")
    expect(specification).to_contain_text("Not shown: networkConfiguration.")
    rows.nth(0).get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"account=demo&job=sync%3Ajob-3$"))
    page.go_back()
    expect(page.get_by_test_id("schedule-heading")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"\?view=schedules$"))


def test_unknown_facts_of_a_schedule_are_named(page: Page, schedules: Canned) -> None:
    page.goto(f"{schedules.url}/?account=demo&schedule=closing")
    expect(page.get_by_test_id("missed-line")).to_contain_text("Missed runs unknown: It was over, or disabled")
    expect(page.get_by_test_id("next-run")).to_have_text("\u2013")
    expect(page.locator("[data-section=runs]")).to_contain_text("No job of this schedule is known.")
    expect(page.locator("[data-section=specification]")).to_contain_text("The job template hasn't been read yet.")
    expect(page.locator("li.state")).to_contain_text("disabled for 2 h, previously active")
    problem = "Its job specification makes no sense: ValidationError."
    gone = {"id": "closing:job-7", "state": None, "deleted": True}
    schedules.schedules["demo"][1] |= {"jobSpecificationProblem": problem, "recentJob": gone}
    schedules.schedules["demo"][1]["totals"] |= {"unknownJobs": 7, "exact": False}
    page.goto(f"{schedules.url}/?account=demo&schedule=closing")
    expect(page.locator("[data-section=specification]")).to_contain_text(problem)
    expect(page.get_by_text("7 jobs unknown")).to_be_visible()
    open_list(page, schedules)
    expect(page.get_by_text("job-7 deleted")).to_be_visible()
    page.goto(f"{schedules.url}/?account=demo&schedule=none")
    expect(page.get_by_test_id("no-such-schedule")).to_contain_text("There is no schedule 'none' here.")


def test_a_deleted_schedule_shows_when_the_deletion_was_found(page: Page, schedules: Canned) -> None:
    specification = {"poolInfo": {"poolId": "render-d4s"}, "maxParallelTasks": -1}
    gone = schedule("nightly", deleted=True, deletedTime=stamp(330), jobSpecification=specification)
    schedules.schedules["demo"] = [gone]
    page.goto(f"{schedules.url}/?account=demo&schedule=nightly")
    expect(page.locator("li.state")).to_have_text("deleted, found by a poll 5 min ago, previously active")
    expect(page.get_by_test_id("next-run")).to_have_text("\u2013")
    expect(page.locator("[data-field=maxParallelTasks]")).to_contain_text("no limit")
    page.get_by_role("link", name="render-d4s").click()
    expect(page).to_have_url(re.compile(r"account=demo&pool=render-d4s$"))


def test_a_due_run_is_shown_as_now_and_a_failure_keeps_the_last_answer(page: Page, schedules: Canned) -> None:
    schedules.schedules["demo"][0] = schedule("nightly", nextRunTime=stamp(5))
    page.goto(f"{schedules.url}/?account=demo&schedule=nightly")
    expect(page.get_by_test_id("next-run")).to_have_text("now")
    schedules.broken["schedule"] = (502, "Table Storage didn't read jobschedules.")
    expect(page.get_by_test_id("schedule-problem")).to_contain_text("Table Storage didn't read jobschedules.")
    expect(page.get_by_test_id("runs")).to_be_visible()


def test_an_overdue_run_is_not_shown_as_now(page: Page, schedules: Canned) -> None:
    schedules.schedules["demo"][0]["nextRunTime"] = stamp(330)
    page.goto(f"{schedules.url}/?account=demo&schedule=nightly")
    expect(page.get_by_test_id("next-run")).to_have_text("due 5 min ago")


@pytest.mark.parametrize(("width", "cells"), [(1300, 8), (860, 7), (420, 7)])  # cards leave out unknown costs
def test_the_latest_jobs_are_in_sight_at_any_width(page: Page, schedules: Canned, width: int, cells: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{schedules.url}/?account=demo&schedule=sync")
    row = page.get_by_test_id("runs").get_by_role("row").last
    expect(row.get_by_role("cell")).to_have_count(cells)
    for cell in row.get_by_role("cell").all():
        box = cell.bounding_box()
        assert box
        assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("width", [1300, 420])
def test_long_and_hostile_schedule_names_are_text_and_fit(page: Page, schedules: Canned, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    long = "x" * 64
    schedules.accounts = [account(), account("other")]
    schedules.schedules["demo"] = [
        schedule(long, displayName=HOSTILE * 3, recentJob={"id": f"{long}:job-1", "state": None, "deleted": False})
    ]
    open_list(page, schedules)
    expect(page.locator(f"tr[data-schedule={long}]")).to_contain_text("<img src=x")
    assert page.evaluate(OVERFLOW) == 0
    page.goto(f"{schedules.url}/?account=demo&schedule={long}")
    expect(page.locator("li.called")).to_contain_text("<script>")
    assert page.evaluate(OVERFLOW) == 0
    assert page.title() != "broken"


def test_the_runs_of_a_schedule_have_their_costs(page: Page, schedules: Canned) -> None:
    runs = [run(number, creationTime=stamp(3_900 * number)) for number in (3, 2, 1)]
    schedules.schedules["demo"] = [schedule("nightly", recentJobs=runs)]
    sums = [cost_sum({"succeeded": 4.0, "failed": 0.5}), None]
    schedules.costs["runs"] = {
        "currency": "USD",
        "value": [
            {"job": one["id"], "creationTime": one["creationTime"], "cost": cost}
            for one, cost in zip(runs, sums, strict=False)
        ],
    }
    page.goto(f"{schedules.url}/?account=demo&schedule=nightly")
    cells = page.locator("[data-count=cost]")
    expect(cells).to_have_text([re.compile(r"\$4\.50$"), re.compile("\N{EN DASH}$"), re.compile("\N{EN DASH}$")])
    expect(cells.nth(0)).to_have_attribute("title", "$0.50 wasted")
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(OVERFLOW) <= 0
