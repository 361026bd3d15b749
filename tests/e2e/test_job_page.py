"""The page of one job, with a canned API: how it opens, what its parts show, and that they fail and wait apart."""

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned_api import DIST, Canned, serving
from tests.e2e.canned_job import (
    aggregated_timeline,
    failure_group,
    failures,
    history,
    insight,
    live_task,
    task,
    timeline,
)
from tests.e2e.canned_values import account, job, stamp

HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
FILL = "path => getComputedStyle(path).fill"
STATES = ("succeeded", "failed", "running", "preparing", "active")
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
LONG = "a-node-with-a-name-that-goes-on-and-on-" * 3


@pytest.fixture
def canned() -> Iterator[Canned]:
    if not (DIST / "index.html").exists():
        pytest.skip("the dashboard isn't built: run python3 dev.py build")
    with serving(Canned()) as canned:
        canned.parts = {
            "history": history(steps=60, gap=range(30, 36), doubtful=range(20, 25)),
            "failures": failures(failure_group("killed", 2), failure_group("other", 7, exitCode=2, advice=None)),
            "timeline": timeline(runs=4, slots=2),
        }
        canned.tasks = [
            task(f"frame-{at:02}", group="killed" if at < 2 else "", began=900 - 9 * at) for at in range(60)
        ]
        canned.live = {"frame-00": live_task("frame-00")}
        render = job("render", creationTime=stamp(3 * 3600), insight=insight())
        canned.accounts, canned.jobs = [account(jobs=[render])], {"demo": [render]}
        yield canned


def show(page: Page, canned: Canned, **query: str) -> None:
    """The job, with all that is below the fold in sight, too: parts out of sight aren't read."""
    page.set_viewport_size({"width": page.viewport_size["width"] if page.viewport_size else 1440, "height": 3000})
    page.goto("&".join([f"{canned.url}/?account=demo&job=render", *(f"{key}={value}" for key, value in query.items())]))


def part(page: Page, name: str) -> Locator:
    return page.locator(f"[data-section={name}]")


def test_a_job_opens_from_the_list_and_the_back_button_returns(page: Page, canned: Canned) -> None:
    page.goto(f"{canned.url}/?prefix=ren")
    page.get_by_role("link", name="render").click()
    expect(page).to_have_url(re.compile(r"\?account=demo&job=render$"))
    expect(page.get_by_test_id("job-total")).to_have_text("20")
    expect(page).to_have_title("render · Batchscope")
    page.go_back()
    expect(page.locator("tr[data-job=render]")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?prefix=ren$"))
    expect(page).to_have_title("Batchscope")


def test_escape_returns_to_the_list_as_it_was(page: Page, canned: Canned) -> None:
    page.goto(f"{canned.url}/?prefix=ren")
    page.get_by_role("link", name="render").press("Enter")
    expect(page.get_by_test_id("job-heading")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("tr[data-job=render]")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?prefix=ren$"))


def test_an_address_opens_the_job_with_its_range_and_filters(page: Page, canned: Canned) -> None:
    show(page, canned, range="7d", show="failed", prefix="frame-0")
    expect(part(page, "history").get_by_role("link", name="7 d")).to_have_attribute("aria-current", "true")
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(2)
    table = page.get_by_role("link", name="Tasks as CSV").get_attribute("href")
    query = "format=csv&maxpagesize=1000&result=failure&prefix=frame-0"
    assert table == f"/api/accounts/demo/jobs/render/tasks?{query}"
    page.get_by_role("link", name="Jobs").click()
    expect(page.locator("tr[data-job=render]")).to_be_visible()


def test_a_job_that_is_not_there_is_said_in_words(page: Page, canned: Canned) -> None:
    page.goto(f"{canned.url}/?account=demo&job=gone")
    expect(page.get_by_test_id("no-such-job")).to_contain_text("There is no gone here.")
    page.get_by_role("link", name="Show all jobs").click()
    expect(page.locator("tr[data-job=render]")).to_be_visible()


def test_the_tiles_tell_figures_with_their_error_and_basis(page: Page, canned: Canned) -> None:
    show(page, canned)
    expect(page.get_by_test_id("insight-throughput")).to_contain_text("38.6 tasks/min")
    expect(page.get_by_test_id("insight-estimate")).to_contain_text("by the throughput of the last 15 minutes")
    expect(page.get_by_test_id("insight-run-time")).to_contain_text(
        re.compile(r"32 s median.*± 6\.3%.*p99.*6 min 52 s")
    )
    expect(page.get_by_test_id("insight-retries")).to_contain_text("37in 21 tasks; 4 requeues in 4 tasks")


def test_an_end_that_is_not_known_says_why(page: Page, canned: Canned) -> None:
    reason = "Nothing was completed in the last hour."
    estimate = {"completionTime": None, "basis": None, "remaining": 14, "reason": reason}
    canned.jobs["demo"] = [job("render", insight=insight(estimate=estimate, queueWait=None))]
    show(page, canned)
    expect(page.get_by_test_id("insight-estimate")).to_contain_text(f"Unknown{reason}")
    expect(page.get_by_test_id("insight-queue-wait")).to_contain_text("No task has started yet.")


def test_a_gap_is_drawn_as_a_gap_and_never_as_zero(page: Page, canned: Canned) -> None:
    show(page, canned)
    chart = part(page, "history").locator(".chart")
    gap = chart.get_by_test_id("gap").bounding_box()
    stretches = [stretch.bounding_box() for stretch in chart.locator("g.known").all()]
    assert gap is not None
    assert [stretch is not None for stretch in stretches] == [True, True]
    before, after = (stretch for stretch in stretches if stretch)
    assert before["x"] + before["width"] == pytest.approx(gap["x"], abs=2)
    assert after["x"] == pytest.approx(gap["x"] + gap["width"], abs=2)
    assert chart.locator("line.doubt").count() == 1


def test_the_arrow_keys_read_the_chart_out(page: Page, canned: Canned) -> None:
    show(page, canned)
    chart = page.get_by_role("slider")
    chart.focus()
    page.keyboard.press("Home")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("8,000 active"))
    for _ in range(3):
        page.keyboard.press("PageDown")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("not polled"))
    expect(page.get_by_test_id("readout")).to_contain_text("not polled")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("readout")).to_contain_text("Last:")


def test_a_history_is_a_table_too(page: Page, canned: Canned) -> None:
    show(page, canned)
    page.get_by_text("The same as a table").click()
    rows = part(page, "history").locator("tbody tr")
    expect(rows).to_have_count(60)
    expect(rows.filter(has_text="not polled")).to_have_count(6)
    expect(rows.filter(has_text="not confirmed")).to_have_count(5)


def test_a_cause_of_failure_filters_the_tasks(page: Page, canned: Canned) -> None:
    show(page, canned)
    causes = part(page, "failures").locator("tr[data-group]")
    expect(causes).to_have_count(2)
    assert [cause.get_attribute("data-group") for cause in causes.all()] == ["other", "killed"]
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(25)
    page.get_by_role("link", name="Exit code 137").click()
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(2)
    expect(page).to_have_url(re.compile("failureGroup=killed"))
    page.get_by_role("link", name="show all causes").click()
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(25)


def test_the_server_orders_and_pages_the_tasks(page: Page, canned: Canned) -> None:
    show(page, canned)
    rows = part(page, "tasks").locator("tr[data-task]")
    page.get_by_role("link", name="Started").click()
    expect(rows.first).to_have_attribute("data-task", "frame-59")
    expect(page.get_by_role("columnheader", name="Started")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Next page").click()
    expect(rows.first).to_have_attribute("data-task", "frame-34")
    page.get_by_role("button", name="Previous").click()
    expect(rows.first).to_have_attribute("data-task", "frame-59")


def test_a_task_is_asked_for_once_and_only_when_opened(page: Page, canned: Canned) -> None:
    show(page, canned)
    page.get_by_role("button", name="frame-00", exact=True).click()
    panel = page.get_by_role("dialog")
    expect(panel.locator("[data-field=commandLine]")).to_contain_text("--scene opening.blend")
    expect(panel.locator("mark")).to_have_count(2)
    expect(panel.locator("[data-field=environmentSettings]")).to_contain_text("LICENSE_KEY = redacted")
    page.wait_for_timeout(2200)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("button", name="frame-00", exact=True)).to_be_focused()
    assert [path for path in canned.asked if "/tasks/" in path] == ["/api/accounts/demo/jobs/render/tasks/frame-00"]


def test_a_task_that_cannot_be_had_says_so_and_can_be_asked_for_again(page: Page, canned: Canned) -> None:
    canned.broken = {"task": (404, "There is no such task.")}
    show(page, canned)
    page.get_by_role("button", name="frame-00", exact=True).click()
    problem = page.get_by_test_id("task-problem")
    expect(problem.locator("span")).to_have_text("There is no such task.")
    canned.broken = {"task": (503, "Batch throttles.")}
    problem.get_by_role("button").click()
    expect(problem.locator("span")).to_have_text("Batch throttles; try again in 12 s.")
    canned.broken = {}
    problem.get_by_role("button").click()
    expect(page.get_by_role("dialog").locator("[data-field=commandLine]")).to_be_visible()


def test_runs_are_told_by_keyboard_and_open_their_task(page: Page, canned: Canned) -> None:
    canned.live = {"frame-01000": live_task("frame-01000")}
    show(page, canned)
    runs = page.get_by_role("application")
    runs.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tip")).to_contain_text(re.compile(r"frame-01000 · succeeded · .* to .* · \d+ min"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("frame-01000")


def test_too_many_runs_are_drawn_as_columns(page: Page, canned: Canned) -> None:
    canned.parts["timeline"] = aggregated_timeline(steps=24)
    show(page, canned)
    nodes = part(page, "timeline")
    expect(nodes.locator(".note")).to_contain_text("6 nodes (34 more not shown), too many runs to draw each")
    expect(nodes.locator("[data-run=busy]")).to_have_count(24 * 6)


def test_a_part_that_fails_spoils_no_other(page: Page, canned: Canned) -> None:
    canned.broken = {"history": (502, "Table Storage didn't answer."), "failures": (503, "Batch throttles.")}
    show(page, canned)
    expect(part(page, "history").get_by_test_id("section-problem")).to_contain_text("Table Storage didn't answer.")
    expect(part(page, "failures").get_by_test_id("section-problem")).to_contain_text("Batch throttles.")
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(25)
    expect(part(page, "timeline").locator("[data-run]").first).to_be_visible()
    expect(page.get_by_test_id("job-total")).to_have_text("20")
    expect(page.get_by_test_id("banner")).to_be_hidden()
    canned.broken = {}
    page.get_by_role("button", name="Retry: History").click()
    expect(part(page, "history").locator("g.known")).to_have_count(2)


def test_what_is_out_of_sight_is_not_asked_for(page: Page, canned: Canned) -> None:
    page.set_viewport_size({"width": 1440, "height": 500})
    page.goto(f"{canned.url}/?account=demo&job=render")
    expect(part(page, "history").locator("g.known")).to_have_count(2)
    assert not [path for path in canned.asked if "/tasks" in path]
    part(page, "tasks").scroll_into_view_if_needed()
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(25)


def test_parts_without_anything_say_so(page: Page, canned: Canned) -> None:
    canned.parts = {"history": history(gap=range(120)), "failures": failures(), "timeline": {**timeline(), "nodes": []}}
    canned.tasks = []
    canned.jobs["demo"] = [job("render", taskCounts=None, insight=None)]
    show(page, canned)
    expect(part(page, "history")).to_contain_text("Nothing was recorded in this range.")
    expect(part(page, "failures")).to_contain_text("No task has failed.")
    expect(part(page, "tasks")).to_contain_text("The job has no tasks, or they weren't read yet.")
    expect(part(page, "timeline")).to_contain_text("Nothing ran in this range.")


def test_whatever_came_from_outside_is_text(page: Page, canned: Canned) -> None:
    nodes = [{"poolId": HOSTILE, "nodeId": HOSTILE, "count": 3}]
    group = failure_group(
        "x", 3, code=HOSTILE, category=HOSTILE, exitCode=None, advice=HOSTILE, tasks=[HOSTILE], nodes=nodes
    )
    runs = [{"task": HOSTILE, "start": stamp(60), "end": None, "result": None, "slots": 1}]
    canned.parts["failures"] = failures(group)
    canned.parts["timeline"]["nodes"] = [{"poolId": "p", "nodeId": HOSTILE, "runs": runs, "busySlotSeconds": 60}]
    canned.tasks = [task("frame-00", group="x", nodeId=HOSTILE, failureCode=HOSTILE, exitCode=None)]
    canned.live = {
        "frame-00": live_task(
            "frame-00", commandLine=HOSTILE, environmentSettings=[{"name": HOSTILE, "value": HOSTILE}]
        )
    }
    canned.jobs["demo"] = [job("render", displayName=HOSTILE, poolId=HOSTILE, insight=insight())]
    show(page, canned)
    expect(part(page, "failures").locator(".advice")).to_have_text(HOSTILE)
    page.locator("[data-run]").first.hover()
    expect(page.locator(".tip")).to_contain_text(HOSTILE)
    part(page, "tasks").get_by_role("button", name="frame-00", exact=True).click()
    expect(page.get_by_role("dialog").locator("[data-field=commandLine]")).to_contain_text(HOSTILE)
    assert page.locator("img, #page script").count() == 0
    assert page.title() == "render · Batchscope"


def test_nothing_sticks_out_of_a_job_at_any_width(page: Page, canned: Canned) -> None:
    canned.tasks = [task("x" * 64, group="killed", nodeId=LONG)]
    canned.parts["timeline"]["nodes"][0]["nodeId"] = LONG
    nodes = [{"poolId": "p", "nodeId": LONG, "count": 1}]
    canned.parts["failures"] = failures(failure_group("x", 1_200_000, tasks=["t" * 64], nodes=nodes, code=LONG))
    show(page, canned)
    expect(page.locator("[data-section] .contents")).to_have_count(4)
    for width in (1440, 1100, 800, 420):
        page.set_viewport_size({"width": width, "height": 3000})
        page.wait_for_function("document.querySelector('.chart svg').clientWidth <= innerWidth")
        assert page.evaluate(OVERFLOW) <= 0
        for name in ("history", "failures", "tasks", "timeline"):
            assert part(page, name).evaluate("box => box.scrollWidth - box.clientWidth") <= 0, (width, name)
    page.get_by_role("button", name="x" * 64).click()
    assert page.evaluate(OVERFLOW) <= 0


def test_states_are_told_apart_on_the_chart_in_either_scheme(page: Page, canned: Canned) -> None:
    """All differ from each other and from the ground, what failed by its texture, too."""
    show(page, canned)
    expect(page.locator("path[data-layer]").first).to_be_visible()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        fills = {state: page.locator(f"path[data-layer={state}]").first.evaluate(FILL) for state in STATES}
        ground = part(page, "history").evaluate("card => getComputedStyle(card).backgroundColor")
        assert "history-failed" in fills.pop("failed")
        assert len({*fills.values(), ground}) == 5
        assert {state: contrast(fill, ground) >= 1.5 for state, fill in fills.items()} == dict.fromkeys(fills, True)


def contrast(one: str, other: str) -> float:
    """Of two colours as browsers write them, by the WCAG's formula."""
    lights = sorted(map(_luminance, (one, other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
