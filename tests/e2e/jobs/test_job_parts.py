"""The parts of a job's page, with a canned API: history, failures, tasks, one task, and the nodes they ran on."""

import re
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import aggregated_timeline, efficiency, history, live_task, task
from tests.e2e.canned.canned_values import counts, job, stamp
from tests.e2e.canned.job_page import part, show

FILL = "path => getComputedStyle(path).fill"
STATES = ("succeeded", "failed", "running", "preparing", "active")
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")


def test_a_gap_is_drawn_as_a_gap_and_never_as_zero(page: Page, render: Canned) -> None:
    show(page, render)
    chart = part(page, "history").locator(".chart")
    gap = chart.get_by_test_id("gap").bounding_box()
    stretches = [stretch.bounding_box() for stretch in chart.locator("g.known").all()]
    assert gap is not None
    assert [stretch is not None for stretch in stretches] == [True, True]
    before, after = (stretch for stretch in stretches if stretch)
    assert before["x"] + before["width"] == pytest.approx(gap["x"], abs=2)
    assert after["x"] == pytest.approx(gap["x"] + gap["width"], abs=2)
    assert chart.locator("line.doubt").count() == 1


@pytest.mark.parametrize(
    ("succeeded", "failed", "shown"),
    [
        (9_996, 4, ("> 99.9%", "< 0.1%")),
        (999_999, 1, ("> 99.9%", "< 0.1%")),
        (9_994, 6, ("> 99.9%", "< 0.1%")),
        (9_990, 10, ("99.9%", "0.1%")),
        (4, 9_996, ("< 0.1%", "> 99.9%")),
        (7, 0, ("100%", "0%")),
    ],
)
def test_shares_near_0_or_100_percent_are_not_rounded_to_them(
    page: Page, render: Canned, succeeded: int, failed: int, shown: tuple[str, str]
) -> None:
    render.jobs["demo"] = [job("render", taskCounts=counts(succeeded=succeeded, failed=failed))]
    show(page, render)
    for state, words in zip(("succeeded", "failed"), shown, strict=True):
        box = page.get_by_test_id(f"job-{state}").locator("xpath=..")
        expect(box).to_contain_text(f"{words} of completed")
        expect(box.locator("dd.detail")).to_have_text(f"{words} of completed")


def test_the_chart_begins_about_when_the_job_was_created(page: Page, render: Canned) -> None:
    render.jobs["demo"] = [job("render", creationTime=stamp(40 * 60))]
    render.parts["history"] = history(steps=60, minutes=1, gap=range(30))
    show(page, render)
    chart = part(page, "history").locator(".chart")
    gap, known = chart.get_by_test_id("gap").bounding_box(), chart.locator("g.known").bounding_box()
    assert gap is not None
    assert known is not None
    assert gap["width"] / known["width"] == pytest.approx(10 / 30, abs=0.06)
    assert known["width"] > 0.6 * (chart.bounding_box() or known)["width"]


def test_the_arrow_keys_read_the_chart_out(page: Page, render: Canned) -> None:
    show(page, render)
    chart = page.get_by_role("slider")
    chart.focus()
    page.keyboard.press("Home")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("8,000 waiting"))
    for _ in range(3):
        page.keyboard.press("PageDown")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("not polled"))
    expect(page.get_by_test_id("readout")).to_contain_text("not polled")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("readout")).to_contain_text("Latest:")


def test_a_history_is_a_table_too(page: Page, render: Canned) -> None:
    show(page, render)
    page.get_by_text("Show as table").click()
    rows = part(page, "history").locator("tbody tr")
    expect(rows).to_have_count(60)
    expect(rows.filter(has_text="not polled")).to_have_count(6)
    expect(rows.filter(has_text="not confirmed")).to_have_count(5)
    expect(part(page, "history").locator("thead th").nth(1)).to_have_text("As of")
    texts = rows.first.locator("th, td").all_text_contents()
    assert texts[0] == texts[1]  # the canned counts are as of the ends of steps


def test_waits_are_shown_only_for_tasks_that_ran_once(page: Page, render: Canned) -> None:
    render.tasks = [task("once"), task("twice", retryCount=1), task("again", requeueCount=1)]
    show(page, render)
    waited = {
        name: part(page, "tasks").locator(f"[data-task={name}] td.number").first for name in ("once", "twice", "again")
    }
    for name, empty in (("once", "false"), ("twice", "true"), ("again", "true")):
        expect(waited[name]).to_have_attribute("data-empty", empty)


def test_states_are_distinct_on_the_chart_in_either_scheme(page: Page, render: Canned) -> None:
    """All differ from each other and from the background; failed tasks also have a texture."""
    show(page, render)
    expect(page.locator("path[data-layer]").first).to_be_visible()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        fills = {state: page.locator(f"path[data-layer={state}]").first.evaluate(FILL) for state in STATES}
        ground = part(page, "history").evaluate("card => getComputedStyle(card).backgroundColor")
        assert "history-failed" in fills.pop("failed")
        assert len({*fills.values(), ground}) == 5
        assert {state: contrast(fill, ground) >= 1.5 for state, fill in fills.items()} == dict.fromkeys(fills, True)


def test_a_cause_of_failure_filters_the_tasks(page: Page, render: Canned) -> None:
    show(page, render)
    causes = part(page, "failures").locator("tr[data-group]")
    expect(causes).to_have_count(2)
    assert [cause.get_attribute("data-group") for cause in causes.all()] == ["other", "killed"]
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(25)
    page.get_by_role("link", name="Exit code 137").click()
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(2)
    expect(page).to_have_url(re.compile("failureGroup=killed"))
    page.get_by_role("link", name="show all causes").click()
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(25)


def test_a_terminated_task_may_have_reached_its_time_limit(page: Page, render: Canned) -> None:
    render.tasks = [task("long", group="x", failureCode="TaskEnded")]
    show(page, render)
    row = part(page, "tasks").locator("tr[data-task=long]")
    expect(row).to_contain_text("Terminated externally or by its time limit")


def test_the_server_orders_and_pages_the_tasks(page: Page, render: Canned) -> None:
    show(page, render)
    rows = part(page, "tasks").locator("tr[data-task]")
    page.get_by_role("link", name="Started").click()
    expect(rows.first).to_have_attribute("data-task", "frame-59")
    expect(page.get_by_role("columnheader", name="Started")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Next page").click()
    expect(rows.first).to_have_attribute("data-task", "frame-34")
    page.get_by_role("button", name="Previous").click()
    expect(rows.first).to_have_attribute("data-task", "frame-59")
    page.get_by_role("button", name="Next page").click()
    page.get_by_label("Id begins with").fill("frame-1")
    expect(rows.first).to_have_attribute("data-task", "frame-19")
    page.get_by_label("Id begins with").fill("")
    expect(rows.first).to_have_attribute("data-task", "frame-59")


@pytest.mark.parametrize(
    ("leave", "address", "prefix"),
    [
        ("document.querySelector('[data-section=tasks] .nothing a').click()", "range=6h$", ""),
        ("history.back()", "prefix=none$", "none"),
    ],
    ids=["link", "back"],
)
def test_typed_text_is_dropped_when_the_address_changes_before_it_applies(
    page: Page, render: Canned, leave: str, address: str, prefix: str
) -> None:
    show(page, render, prefix="none")
    expect(part(page, "tasks")).to_contain_text("No task matches.")
    part(page, "history").get_by_role("link", name="6 h").click()
    expect(page).to_have_url(re.compile("range=6h"))
    field = page.get_by_label("Id begins with")
    field.evaluate(f"field => {{ field.value = 'frame-1'; field.dispatchEvent(new Event('input')); {leave}; }}")
    expect(page).to_have_url(re.compile(address))
    page.wait_for_timeout(500)  # typed text applies after 250 ms
    expect(page).to_have_url(re.compile(address))
    expect(field).to_have_value(prefix)


def test_a_task_is_asked_for_once_and_only_when_opened(page: Page, render: Canned) -> None:
    show(page, render)
    page.get_by_role("button", name="frame-00", exact=True).click()
    panel = page.get_by_role("dialog")
    expect(panel.locator("[data-field=commandLine]")).to_contain_text("--scene opening.blend")
    expect(panel.locator("mark")).to_have_count(2)
    expect(panel.locator("[data-field=environmentSettings]")).to_contain_text("LICENSE_KEY = redacted")
    page.wait_for_timeout(2200)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("button", name="frame-00", exact=True)).to_be_focused()
    assert [path for path in render.asked if path.endswith("/frame-00")] == [
        "/api/accounts/demo/jobs/render/tasks/frame-00"
    ]


def test_a_task_that_cannot_be_had_says_so_and_can_be_asked_for_again(page: Page, render: Canned) -> None:
    render.broken = {"task": (404, "There is no such task.")}
    show(page, render)
    page.get_by_role("button", name="frame-00", exact=True).click()
    problem = page.get_by_test_id("task-problem")
    expect(problem.locator("span")).to_have_text("There is no such task.")
    expect(page.get_by_test_id("last-lines").locator("[data-output='stderr.txt'] h4")).to_contain_text("Last lines")
    render.broken = {"task": (503, "Batch throttles.")}
    problem.get_by_role("button").click()
    expect(problem.locator("span")).to_have_text("Batch throttles; try again in 12 s.")
    render.broken = {}
    problem.get_by_role("button").click()
    expect(page.get_by_test_id("outcome")).to_contain_text("--scene opening.blend")


def test_runs_can_be_read_and_opened_by_keyboard(page: Page, render: Canned) -> None:
    render.live = {"frame-01000": live_task("frame-01000")}
    show(page, render)
    runs = page.get_by_role("application")
    runs.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tip")).to_contain_text(re.compile(r"frame-01000 · succeeded · .* to .* · \d+ min"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("frame-01000")


def test_too_many_runs_are_drawn_as_columns(page: Page, render: Canned) -> None:
    render.parts["timeline"] = aggregated_timeline(steps=24)
    show(page, render)
    nodes = part(page, "timeline")
    expect(nodes.locator(".note")).to_contain_text("6 nodes (34 more not shown), too many runs to draw individually")
    expect(nodes.locator("[data-run=busy]")).to_have_count(24 * 6)
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tip")).to_contain_text(re.compile(r"\d+ tasks, 0 failed · 30 slot-minutes"))


def timelines(render: Canned) -> int:
    return sum("/timeline?" in path for path in render.asked)


def pass_time(page: Page, seconds: int) -> None:
    """Moves the page's clock on in steps and runs due timers once a step; no frame between steps is drawn."""
    for _ in range(seconds // 5):
        page.clock.fast_forward(5_000)


def test_a_timeline_of_too_many_runs_is_asked_for_rarely(page: Page, render: Canned) -> None:
    render.parts["timeline"] = aggregated_timeline(steps=24)
    page.clock.install()
    show(page, render)
    page.clock.run_for(2_000)
    expect(part(page, "timeline").locator("[data-run=busy]")).to_have_count(24 * 6)
    pass_time(page, 240)
    assert timelines(render) == 1
    with page.expect_request(re.compile("/timeline"), timeout=5_000):
        pass_time(page, 70)


def test_a_timeline_of_a_job_that_is_over_is_asked_for_once(page: Page, render: Canned) -> None:
    verdict = {**job("render")["verdict"], "asOf": stamp(900), "checkedAt": stamp(900)}
    render.jobs["demo"] = [job("render", state="completed", creationTime=stamp(3 * 3600), verdict=verdict)]
    page.clock.install()
    show(page, render)
    page.clock.run_for(2_000)
    expect(part(page, "timeline").locator("[data-run]").first).to_be_visible()
    pass_time(page, 600)
    assert timelines(render) <= 2  # twice if the timeline is in sight before the job is known


def contrast(one: str, other: str) -> float:
    """Returns the contrast of two colours as browsers write them, by the WCAG's formula."""
    lights = sorted(map(_luminance, (one, other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_efficiency_shows_findings_with_money_and_figures_with_the_tasks_at_both_ends(
    page: Page, render: Canned
) -> None:
    show(page, render)
    shown = part(page, "efficiency")
    expect(shown.locator("[data-code=oneBusyCore][open]")).to_contain_text("Tasks keep at most one of 4 cores busy")
    expect(shown.locator(".saving")).to_have_text("It would have saved $560.25 so far.")
    expect(shown.locator("caption")).to_have_text("frame-… on standard_d4s_v5, 24 runs")
    cells = shown.locator("[data-figure=memory] td")
    expect(cells).to_have_text(["1.86 GiB", "3.07 GiB", "16 GiB", "19.2%", "954 MiB", "3.26 GiB"])
    expect(shown.locator("[data-figure=duration] th")).to_have_text("Duration of 20 runs")
    expect(shown).to_contain_text(
        "Advice needs 20 measured runs on a VM size, or 5 where these are all tasks of the job."
    )
    shown.get_by_role("link", name="3.26 GiB").click()
    expect(page.get_by_role("dialog")).to_contain_text("frame-00")


def test_why_the_time_limit_of_tasks_isnt_known_is_said(page: Page, render: Canned) -> None:
    reason = "The time limit of tasks isn't the same for all that were looked up."
    render.parts["efficiency"] = efficiency(taskLimit={"tasks": [], "maxWallClockSeconds": None, "reason": reason})
    show(page, render)
    expect(part(page, "efficiency")).to_contain_text(reason)


def test_what_if_replays_the_job_when_asked(page: Page, render: Canned) -> None:
    show(page, render)
    shown = part(page, "efficiency")
    assert shown.locator("[data-what-if]").count() == 0
    shown.get_by_label("Slots per node").fill("2")
    shown.get_by_label("Priority").select_option("dedicated")
    with page.expect_request(lambda request: request.url.endswith("/jobs/render/whatif?slots=2&spot=false")):
        shown.get_by_role("button", name="Replay").click()
    expect(shown.locator("[data-what-if] caption")).to_have_text(
        "240 tasks, replayed one by one, 24 runs measured; the job took 1 h"
    )
    expect(shown.locator("[data-row=Duration] td")).to_have_text(
        ["1 h (54 min to 1 h 6 min)", "30 min (27 min to 33 min)"]
    )
    expect(shown.locator("[data-row=Cost] td")).to_have_text(["$4.00 ($3.60 to $4.40)", "$2.00 ($1.80 to $2.20)"])
    expect(shown.get_by_role("list", name="Assumptions")).to_contain_text("keep 2 of its 4 vCPUs busy")


def test_a_missing_price_of_the_replay_as_it_was_has_its_reason(page: Page, render: Canned) -> None:
    found = render.parts["whatif"]
    was = found["asItWas"] | {"cost": None, "waste": None, "noPrice": "No price of this size is known."}
    render.parts["whatif"] = found | {"asItWas": was}
    show(page, render)
    shown = part(page, "efficiency")
    shown.get_by_role("button", name="Replay").click()
    expect(shown.locator("[data-row=Cost] td").first).to_have_text("no price")
    expect(shown).to_contain_text("As it was: No price of this size is known.")


def test_efficiency_can_be_grouped_by_exit(page: Page, render: Canned) -> None:
    whole = efficiency()
    (group,) = whole["groups"]
    failed = group | {"prefix": None, "result": "failure", "exitCode": 137, "runs": 3, "enough": False}
    render.parts["efficiency by exit"] = efficiency(groups=[failed])
    show(page, render)
    shown = part(page, "efficiency")
    shown.get_by_role("button", name="By exit").click()
    expected = "Failed with exit code 137 on standard_d4s_v5, 3 runs, too few to conclude from"
    expect(shown.locator("caption")).to_have_text(expected)
    expect(shown.get_by_role("button", name="By exit")).to_have_attribute("aria-pressed", "true")


def test_a_job_without_measured_runs_says_why(page: Page, render: Canned) -> None:
    reason = "No run of a task was measured: the node agent writes a record at the end of each."
    render.parts["efficiency"] = efficiency(runs=0, groups=[], findings=[], asOf=None, reason=reason)
    show(page, render)
    expect(part(page, "efficiency")).to_contain_text(reason)
    assert part(page, "efficiency").locator("table, .finding").count() == 0
