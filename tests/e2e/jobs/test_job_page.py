"""The page of one job, with a canned API: opening and closing it, its top, and parts that fail independently."""

import re
from datetime import datetime, timedelta
from urllib.parse import unquote

from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import (
    explanation,
    failure_group,
    failures,
    finding,
    history,
    insight,
    live_task,
    task,
    timeline,
)
from tests.e2e.canned.canned_values import job, stamp
from tests.e2e.canned.job_page import TALL, part, show

HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
LONG = "a-node-with-a-name-that-goes-on-and-on-" * 3
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


def test_a_job_opens_from_the_list_and_the_back_button_returns(page: Page, render: Canned) -> None:
    page.goto(f"{render.url}/?prefix=ren")
    page.get_by_role("link", name="render", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?account=demo&job=render$"))
    expect(page.get_by_test_id("job-total")).to_have_text("20")
    expect(page).to_have_title("render · Batchscope")
    page.go_back()
    expect(page.locator("tr[data-job=render]")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?prefix=ren$"))
    expect(page).to_have_title("Batchscope")


def test_escape_returns_to_the_list_as_it_was(page: Page, render: Canned) -> None:
    page.goto(f"{render.url}/?prefix=ren")
    page.get_by_role("link", name="render", exact=True).press("Enter")
    expect(page.get_by_test_id("job-heading")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("tr[data-job=render]")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?prefix=ren$"))


def test_an_address_opens_the_job_with_its_range_and_filters(page: Page, render: Canned) -> None:
    show(page, render, range="7d", show="failed", prefix="frame-0")
    expect(part(page, "history").get_by_role("link", name="7 d")).to_have_attribute("aria-current", "true")
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(2)
    table = page.get_by_role("link", name="Tasks as CSV").get_attribute("href")
    query = "format=csv&maxpagesize=100000&result=failure&prefix=frame-0"
    assert table == f"/api/accounts/demo/jobs/render/tasks?{query}"
    show(page, render, orderby="runTime desc")
    sorted_table = page.get_by_role("link", name="Tasks as CSV").get_attribute("href")
    assert sorted_table, "as many as the server sorts at once"
    assert "maxpagesize=25000&" in sorted_table
    page.get_by_role("link", name="Jobs").click()
    expect(page.locator("tr[data-job=render]")).to_be_visible()


def test_a_job_that_is_not_there_is_said_in_words(page: Page, render: Canned) -> None:
    page.goto(f"{render.url}/?account=demo&job=gone")
    expect(page.get_by_test_id("no-such-job")).to_contain_text("There is no gone here.")
    page.get_by_role("link", name="Show all jobs").click()
    expect(page.locator("tr[data-job=render]")).to_be_visible()


def test_a_job_that_is_forgotten_has_its_history_still(page: Page, render: Canned) -> None:
    page.goto(f"{render.url}/?account=demo&job=gone")
    expect(page.get_by_test_id("no-such-job")).to_be_visible()
    expect(part(page, "history").locator("g.known")).to_have_count(2)
    expect(part(page, "tasks")).to_have_count(0)
    del render.parts["history"]
    page.goto(f"{render.url}/?account=demo&job=never")
    expect(page.get_by_test_id("no-such-job")).to_be_visible()
    expect(part(page, "history")).to_have_count(0)


def test_the_tiles_show_figures_with_their_error_and_basis(page: Page, render: Canned) -> None:
    show(page, render)
    expect(page.get_by_test_id("insight-throughput")).to_contain_text("41.2 tasks/minin the last 5 minutes")
    expect(page.get_by_test_id("insight-slots")).to_contain_text(
        "124 in use6 by preparing tasks; 14,211 requested by waiting tasks"
    )
    expect(page.get_by_test_id("insight-estimate")).to_contain_text("based on the throughput of the last 15 minutes")
    expect(page.get_by_test_id("insight-run-time")).to_contain_text(
        re.compile(r"32 s median.*± 6\.3%.*p99.*6 min 52 s")
    )
    expect(page.get_by_test_id("insight-queue-wait")).to_contain_text("on preempted or lost nodes count as waiting")
    expect(page.get_by_test_id("insight-retries")).to_contain_text("37in 21 tasks; 4 requeues requested for 4 tasks")


def test_the_throughput_of_a_completed_job_is_shown_with_its_date(page: Page, render: Canned) -> None:
    pace = insight()["throughput"] | {"asOf": stamp(7 * 86_400)}
    render.jobs["demo"] = [job("render", state="completed", insight=insight(throughput=pace))]
    show(page, render)
    expect(page.get_by_test_id("insight-throughput")).to_contain_text(
        re.compile(r"41\.2 tasks/min.*in the 5 minutes before \d+ \w+")
    )
    expect(page.get_by_test_id("insight-throughput")).not_to_contain_text("last")


def test_an_end_that_is_not_known_says_why(page: Page, render: Canned) -> None:
    reason = "Nothing was completed in the last hour."
    estimate = {"completionTime": None, "basis": None, "remaining": 14, "reason": reason}
    render.jobs["demo"] = [job("render", insight=insight(estimate=estimate, queueWait=None))]
    show(page, render)
    expect(page.get_by_test_id("insight-estimate")).to_contain_text(f"Unknown{reason}")
    expect(page.get_by_test_id("insight-queue-wait")).to_contain_text("No task has finished its first run yet.")


def test_a_part_that_fails_spoils_no_other(page: Page, render: Canned) -> None:
    render.broken = {"history": (502, "Table Storage didn't answer."), "failures": (503, "Batch throttles.")}
    show(page, render)
    expect(part(page, "history").get_by_test_id("section-problem")).to_contain_text("Table Storage didn't answer.")
    expect(part(page, "failures").get_by_test_id("section-problem")).to_contain_text("Batch throttles.")
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(25)
    expect(part(page, "timeline").locator("[data-run]").first).to_be_visible()
    expect(page.get_by_test_id("job-total")).to_have_text("20")
    with page.expect_request(re.compile("/history"), timeout=2000):
        page.get_by_role("button", name="Retry: History").click()
    render.broken = {}
    expect(part(page, "history").locator("g.known")).to_have_count(2, timeout=40_000)


def test_a_job_that_cannot_be_read_leaves_its_parts_alone(page: Page, render: Canned) -> None:
    render.broken = {"job": (502, "Table Storage didn't answer.")}
    show(page, render)
    expect(page.get_by_test_id("job-problem")).to_contain_text("Table Storage didn't answer.")
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(25)
    expect(page.get_by_test_id("banner")).to_be_hidden()
    render.broken = {}
    page.get_by_test_id("job-problem").get_by_role("button").click()
    expect(page.get_by_test_id("job-total")).to_have_text("20")


def test_parts_out_of_sight_are_not_requested(page: Page, render: Canned) -> None:
    page.set_viewport_size({"width": 1440, "height": 500})
    page.goto(f"{render.url}/?account=demo&job=render")
    expect(part(page, "history").locator("g.known")).to_have_count(2)
    assert not [path for path in render.asked if "/tasks" in path]
    part(page, "tasks").scroll_into_view_if_needed()
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(25)


def test_parts_without_anything_say_so(page: Page, render: Canned) -> None:
    render.parts = {"history": history(gap=range(120)), "failures": failures(), "timeline": {**timeline(), "nodes": []}}
    render.tasks = []
    render.jobs["demo"] = [job("render", taskCounts=None, insight=None)]
    show(page, render)
    expect(part(page, "history")).to_contain_text("No data in this range.")
    expect(part(page, "failures")).to_contain_text("No task has failed.")
    expect(part(page, "tasks")).to_contain_text("The job has no tasks, or they haven't been read yet.")
    expect(part(page, "timeline")).to_contain_text("No tasks ran in this range.")


def test_a_range_longer_than_a_jobs_life_is_cut_for_its_timeline(page: Page, render: Canned) -> None:
    render.parts["history"] = history(steps=15, minutes=360, gap=range(15))
    created = datetime.fromisoformat(render.jobs["demo"][0]["creationTime"])
    show(page, render, range="90d")
    expect(part(page, "history")).to_contain_text("The job is younger than the range; choose a shorter one.")
    expect(part(page, "timeline").locator("[data-node]").first).to_be_visible()
    begins = {unquote(path.partition("timeline?from=")[2]) for path in render.asked if "timeline?" in path}
    (begin,) = map(datetime.fromisoformat, begins)
    assert abs(begin - created + timedelta(minutes=1)) < timedelta(milliseconds=1)


def test_external_values_are_shown_as_text(page: Page, render: Canned) -> None:
    nodes = [{"poolId": HOSTILE, "nodeId": HOSTILE, "count": 3}]
    group = failure_group(
        "x", 3, code=HOSTILE, category=HOSTILE, exitCode=None, advice=HOSTILE, tasks=[HOSTILE], nodes=nodes
    )
    runs = [{"task": HOSTILE, "start": stamp(60), "end": None, "result": None, "slots": 1}]
    member = failure_group("y", 1, code="constructor", exitCode=None, advice=None)
    render.parts["failures"] = failures(group, member)
    render.parts["timeline"]["nodes"] = [{"poolId": "p", "nodeId": HOSTILE, "runs": runs, "busySlotSeconds": 60}]
    render.tasks = [task("frame-00", group="x", nodeId=HOSTILE, failureCode=HOSTILE, exitCode=None)]
    render.live = {
        "frame-00": live_task(
            "frame-00", commandLine=HOSTILE, environmentSettings=[{"name": HOSTILE, "value": HOSTILE}], constructor="x"
        )
    }
    render.jobs["demo"] = [job("render", displayName=HOSTILE, poolId=HOSTILE, insight=insight())]
    show(page, render)
    expect(part(page, "failures").locator(".advice")).to_have_text(HOSTILE)
    expect(part(page, "failures")).to_contain_text("Constructor")
    page.locator("[data-run]").first.hover()
    expect(page.locator(".tip")).to_contain_text(HOSTILE)
    part(page, "tasks").get_by_role("button", name="frame-00", exact=True).click()
    expect(page.get_by_role("dialog").locator("[data-field=commandLine]")).to_contain_text(HOSTILE)
    expect(page.get_by_role("dialog").locator("[data-field=constructor]")).to_contain_text("constructor")
    assert page.locator("img, #page script").count() == 0
    assert page.title() == "render · Batchscope"


def test_nothing_sticks_out_of_a_job_at_any_width(page: Page, render: Canned) -> None:
    hashed = [task(f"frame-{at:02}", nodeId=f"tvmps_{'7c41a9e0d5b6' * 5}_d") for at in range(3)]
    render.tasks = [task("x" * 64, group="killed", nodeId=LONG), *hashed]
    render.parts["timeline"]["nodes"][0]["nodeId"] = LONG
    nodes = [{"poolId": "p", "nodeId": LONG, "count": 1}]
    render.parts["failures"] = failures(failure_group("x", 1_200_000, tasks=["t" * 64], nodes=nodes, code=LONG))
    cause = finding(severity="blocking", title=LONG, detail=LONG, evidence={LONG: LONG, "jobs": [LONG]})
    render.parts["explanation"] = explanation(cause, running=False, summary=LONG, unknown=[LONG])
    show(page, render)
    expect(page.locator("[data-section] .contents")).to_have_count(6)
    for width in (1440, 1100, 800, 420):
        page.set_viewport_size({"width": width, "height": TALL})
        drawn = page.locator(".chart").evaluate("chart => chart.clientWidth")
        expect(page.locator(".chart svg")).to_have_attribute("width", str(drawn))
        assert page.evaluate(OVERFLOW) <= 0
        for name in ("why", "history", "efficiency", "failures", "tasks", "timeline"):
            assert part(page, name).evaluate("box => box.scrollWidth - box.clientWidth") <= 0, (width, name)
    page.get_by_role("button", name="x" * 64).click()
    assert page.evaluate(OVERFLOW) <= 0
