"""The charts in a task's panel, with a canned API: only its run, and a note on other tasks on the node."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import live_task
from tests.e2e.canned.canned_telemetry import FACTS, MINUTES, machine, telemetry, text, this_minute

END = this_minute()
NODE = "tvmps_1"
UNKNOWN = "\N{EN DASH}"


def run(**changes: Any) -> dict[str, Any]:
    return {
        "asOf": text(END),
        "poolId": "render-d4s",
        "nodeId": NODE,
        "startTime": text(END - timedelta(minutes=MINUTES)),
        "endTime": text(END),
        "earlierRuns": 0,
        "runsBefore": [],
        "basis": "node",
        "attempts": [],
        "endedAttempts": [],
        "sharing": {"otherTasks": 3, "complete": True},
        "reason": None,
        "telemetry": telemetry(machine(END), end=END),
    } | changes


def ended(seconds_ago: float, **changes: Any) -> dict[str, Any]:
    """Returns what an attempt used that ran for an hour and a half."""
    end = END - timedelta(seconds=seconds_ago)
    return {
        "startTime": text(end - timedelta(minutes=90)),
        "endTime": text(end),
        "duration": 5_400.0,
        "durationUncertainty": 10.0,
        "cpuSeconds": 8_100.0,
        "cpuMissed": 0.0,
        "cpuSource": "exit_accounting",
        "memoryPeak": 3 * 2**30,
        "memorySource": "kernel",
        "readBytes": 2**20,
        "writtenBytes": 0,
        "threads": 12,
        "gpuMemoryPeak": None,
        "gpuUsage": None,
    } | changes


def show_task(page: Page, canned: Canned, answer: dict[str, Any]) -> None:
    canned.live = {"frame-00": live_task("frame-00")}
    canned.telemetry = lambda _: answer | (answer["telemetry"] or {})  # for the task, and for its node
    page.set_viewport_size({"width": 1440, "height": 3000})
    page.goto(f"{canned.url}/?account=demo&job=render&task=frame-00")


def test_a_task_shows_telemetry_of_its_node_and_counts_other_tasks(page: Page, render: Canned) -> None:
    show_task(page, render, run())
    panel = page.get_by_role("dialog")
    expect(panel.locator("[data-chart]")).to_have_count(5)
    expect(panel.get_by_test_id("run")).to_have_text(
        re.compile(
            rf"^Run on node {NODE}, from .* to .*, 2 h\. The charts show all data of the node in that time\. "
            r"The charts include 3 other tasks on the node\. $"
        )
    )
    panel.get_by_role("link", name=NODE).click()
    expect(page).to_have_url(re.compile(rf"pool=render-d4s&node={NODE}"))


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({"endTime": None, "sharing": {"otherTasks": 0, "complete": True}}, ["until now. The", "No other task ran"]),
        (
            {"earlierRuns": 2, "basis": "task", "sharing": {"otherTasks": 1, "complete": False}},
            [
                "Latest run on",
                "The node labelled the data with this task. ",
                "at least 1 other task on",
                "2 earlier runs aren't shown",
            ],
        ),
    ],
)
def test_a_task_shows_the_scope_of_its_telemetry(
    page: Page, render: Canned, changes: dict[str, Any], sentences: list[str]
) -> None:
    show_task(page, render, run(**changes))
    for sentence in sentences:
        expect(page.get_by_test_id("run")).to_contain_text(sentence)


def test_a_run_within_a_minute_is_marked_in_the_whole_of_it(page: Page, render: Canned) -> None:
    start, end = END - timedelta(minutes=1, seconds=-15), END - timedelta(seconds=30)
    measured = telemetry(minutes_from(END - timedelta(minutes=1)), end=end) | {"from": text(start)}
    show_task(page, render, run(startTime=text(start), endTime=text(end), telemetry=measured))
    chart = page.locator("[data-chart=cpu]")
    expect(chart.locator(".run-span")).to_be_attached()
    expect(chart.locator("svg").first).not_to_have_attribute("width", "0")
    marked, whole = chart.evaluate("e => ['.run-span', '.band'].map(s => e.querySelector(s).getBoundingClientRect())")
    assert marked["x"] - whole["x"] == pytest.approx(whole["width"] / 4, abs=1)
    assert marked["width"] == pytest.approx(whole["width"] / 4, abs=1)


def minutes_from(begin: datetime) -> list[dict[str, Any]]:
    """Returns a machine's series from a moment on."""
    return [
        series | {"points": [point for point in series["points"] if point["time"] >= text(begin)]}
        for series in machine(END)
    ]


def test_a_task_without_telemetry_says_why(page: Page, render: Canned) -> None:
    show_task(page, render, run(telemetry=None, nodeId=None, startTime=None, reason="The task hasn't started yet."))
    expect(page.get_by_test_id("no-telemetry")).to_have_text("The task hasn't started yet.")
    expect(page.get_by_test_id("run")).to_have_count(0)
    expect(page.locator("[data-chart]")).to_have_count(0)


def test_each_ended_run_shows_what_it_used_and_unknown_figures_as_a_dash(page: Page, render: Canned) -> None:
    unknown = dict.fromkeys(("cpuSeconds", "cpuMissed", "memoryPeak", "memorySource", "readBytes", "threads"))
    measured = telemetry(machine(END), end=END, facts=FACTS | {"cpuCount": 4})
    show_task(page, render, run(telemetry=measured, endedAttempts=[ended(60), ended(9_000, **unknown)]))
    table = page.get_by_test_id("ended-attempts")
    expect(table.get_by_role("heading")).to_have_text("What each run used")
    latest, before = table.locator("tbody tr").nth(0), table.locator("tbody tr").nth(1)
    expect(latest).to_contain_text("1 h 30 min")
    expect(latest).to_contain_text("2 h 15 min")
    expect(latest).to_contain_text("1.5 cores on average, 37.5% of 4, complete by exit accounting")
    expect(latest).to_contain_text("3 GiBby the kernel")
    expect(before.locator("td")).to_have_text([re.compile("^1 h 30 min"), *[UNKNOWN] * 3, "0 B", UNKNOWN])
    expect(table.get_by_text("GPU memory")).to_have_count(0)
    for width in (1440, 420):
        page.set_viewport_size({"width": width, "height": 3000})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width


def test_a_task_without_ended_runs_has_no_table_of_them(page: Page, render: Canned) -> None:
    show_task(page, render, run())
    expect(page.get_by_role("dialog").get_by_test_id("run")).to_be_visible()
    expect(page.get_by_test_id("ended-attempts")).to_have_count(0)
