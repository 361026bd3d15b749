"""What the failed tasks of a job have in common, with a canned API."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import POOL, finding, task
from tests.e2e.canned.canned_values import counts, job, stamp
from tests.e2e.canned.job_page import part, show

NODE = f"tvmps_{'3b44ee4f9e4adad1' * 4}_d"


def contrast(attribute: str, title: str, **changes: Any) -> dict[str, Any]:
    return {
        "attribute": attribute,
        "title": title,
        "failed": 45,
        "succeeded": 12,
        "failedShare": 0.9,
        "succeededShare": 0.02,
        "pValue": 3.1e-15,
        "taskFilter": {},
        "tasks": ["frame-00"],
        "sameTasks": [],
    } | changes


def failing_node() -> dict[str, Any]:
    where = f"--pool-id={POOL}"
    return finding(
        "nodeTasksFail",
        "info",
        title=f"Tasks fail on node '{NODE}'",
        detail=f"45 of 57 tasks failed on node '{NODE}' of pool '{POOL}'; at the rate of its other nodes in this job,"
        " 0.5 would have. Chance doesn't explain that.",
        advice=f"Let it take no more tasks: az batch node scheduling disable {where} --node-id={NODE}; then remove it,"
        f" and resize a pool of fixed size to get another one: az batch node delete {where} --node-list={NODE}",
        evidence={"poolId": POOL, "failedTasks": 45, "endedTasks": 57, "expectedFailedTasks": 0.5, "pValue": 1e-12},
        since=None,
    )


def comparison(**changes: Any) -> dict[str, Any]:
    node = contrast(
        "node",
        f"On node '{NODE}' of pool '{POOL}'",
        taskFilter={"poolId": POOL, "nodeId": NODE},
        sameTasks=[{"attribute": "image", "title": "Image canonical ubuntu 24.04"}],
    )
    late = contrast(
        "start",
        "Started at 2026-11-30 21:02:10 or later",
        failed=4,
        failedShare=0.08,
        succeededShare=0.0,
        pValue=0.0151,
        taskFilter={"startedFrom": "2026-11-30T21:02:10.000Z"},
    )
    image = contrast("image", "Image canonical/ubuntu/24.04", tasks=["frame-00", "frame-07"])
    return {
        "account": "demo",
        "job": "render",
        "asOf": stamp(8),
        "result": "apart",
        "failed": 50,
        "succeeded": 600,
        "comparedFailed": 50,
        "comparedSucceeded": 600,
        "attributes": ["node", "vmSize", "start", "runTime", "idPart2"],
        "triedGroups": 1876,
        "level": 0.02,
        "contrasts": [node, late, image],
        "consequences": [contrast("runTime", "Run time of 0:00:04 or less")],
        "findings": [failing_node()],
    } | changes


@pytest.fixture
def failing(render: Canned) -> Canned:
    """Returns the canned job with failed tasks."""
    render.jobs["demo"] = [job("render", taskCounts=counts(succeeded=600, failed=50))]
    render.parts["comparison"] = comparison()
    return render


def asked(canned: Canned) -> int:
    return sum("/comparison" in path for path in canned.asked)


def test_groups_are_drawn_as_pairs_of_bars_with_their_shares(page: Page, failing: Canned) -> None:
    show(page, failing)
    section = part(page, "comparison")
    expect(section.locator(".note")).to_contain_text("50 failed and 600 succeeded tasks, as of")
    node = section.locator("[data-contrast=node]")
    expect(node.locator("[data-share=failed]")).to_contain_text("90% of the failed45")
    expect(node.locator("[data-share=succeeded]")).to_contain_text("2% of the succeeded12")
    expect(node).to_contain_text("chance < 0.001")
    expect(node).to_contain_text("Mostly the same tasks: Image canonical ubuntu 24.04")
    widths = [bar.evaluate("bar => bar.getBoundingClientRect().width") for bar in node.locator(".track i").all()]
    assert widths[0] / widths[1] == pytest.approx(45, rel=0.1)
    expect(section).to_contain_text(
        "Compared by node, VM size, start, run time and part 2 of the id; 1,876 groups tried."
    )
    expect(section.locator("[data-contrast=runTime]")).to_be_hidden()


def test_one_click_lists_the_failed_tasks_of_a_group(page: Page, failing: Canned) -> None:
    failing.tasks = [task("frame-00", group="killed", nodeId=NODE)]
    show(page, failing)
    links = part(page, "comparison").get_by_role("link", name="Show these tasks")
    expect(links).to_have_count(2)
    links.first.click()
    expect(page).to_have_url(re.compile(f"show=failed&poolId={POOL}&nodeId={NODE}"))
    expect(page.get_by_label("Node", exact=True)).to_have_value(NODE)
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(1)
    assert any(f"result=failure&poolId={POOL}&nodeId={NODE}" in path for path in failing.asked)
    page.get_by_role("link", name=f"Filtered by the pool {POOL}; show all pools").click()
    expect(page).not_to_have_url(re.compile("poolId"))


def test_one_click_lists_the_failed_tasks_since_a_start(page: Page, failing: Canned) -> None:
    failing.tasks = [task("frame-00", group="killed", nodeId=NODE)]
    show(page, failing)
    part(page, "comparison").locator("[data-contrast=start]").get_by_role("link", name="Show these tasks").click()
    expect(part(page, "tasks").locator("tr[data-task]")).to_have_count(1)
    assert any("result=failure&startedFrom=2026-11-30T21%3A02%3A10.000Z" in path for path in failing.asked)
    page.get_by_role("link", name="Filtered by: Started from 2026-11-30 21:02:10 UTC; remove this filter").click()
    expect(page).not_to_have_url(re.compile("startedFrom"))


def test_a_group_that_the_list_cannot_filter_shows_its_first_failed_tasks(page: Page, failing: Canned) -> None:
    show(page, failing)
    image = part(page, "comparison").locator("[data-contrast=image]")
    expect(image.get_by_role("link", name="frame-07")).to_be_hidden()
    image.get_by_text("Show these tasks").click()
    expect(image).to_contain_text("The first 2 of 45 failed tasks by id:")
    image.get_by_role("link", name="frame-07").click()
    expect(page).to_have_url(re.compile("task=frame-07"))


def test_a_bad_node_comes_with_the_commands_that_take_it_out(page: Page, failing: Canned) -> None:
    show(page, failing)
    found = part(page, "comparison").locator("[data-code=nodeTasksFail]")
    commands = found.get_by_label("Command", exact=True)
    expect(commands).to_have_text(
        [
            f"az batch node scheduling disable --pool-id={POOL} --node-id={NODE}",
            f"az batch node delete --pool-id={POOL} --node-list={NODE}",
        ]
    )
    expect(found.locator("dl")).to_contain_text("failed tasks expected by the other nodes0.5")
    expect(found.locator("dl")).to_contain_text("chance, corrected for all nodes< 0.001")


def test_where_nothing_sets_them_apart_the_page_says_so(page: Page, failing: Canned) -> None:
    failing.parts["comparison"] = comparison(result="nothing", contrasts=[], consequences=[], findings=[])
    show(page, failing)
    section = part(page, "comparison")
    expect(section).to_contain_text("Nothing sets the failed tasks apart from those that succeeded.")
    expect(section.locator("[data-contrast]")).to_have_count(0)


def test_a_job_without_failed_tasks_is_not_compared(page: Page, render: Canned) -> None:
    show(page, render)
    expect(part(page, "tasks").locator("tr[data-task]").first).to_be_visible()
    expect(part(page, "comparison")).to_have_count(0)
    assert asked(render) == 0


def test_a_comparison_out_of_view_is_not_asked_for(page: Page, failing: Canned) -> None:
    page.goto(f"{failing.url}/?account=demo&job=render")
    expect(part(page, "history").locator(".chart")).to_be_visible()
    assert asked(failing) == 0
    part(page, "comparison").scroll_into_view_if_needed()
    expect(part(page, "comparison").locator("[data-contrast=node]")).to_be_visible()
    assert asked(failing) == 1


@pytest.mark.parametrize("width", [420, 1440])
def test_nothing_sticks_out_of_a_comparison(page: Page, failing: Canned, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    show(page, failing)
    expect(part(page, "comparison").locator("[data-contrast=node]")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
