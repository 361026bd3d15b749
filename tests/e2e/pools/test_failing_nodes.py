"""Nodes on which tasks fail on the page of their pool: marked on the map, listed, and in the panel of the node."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import finding
from tests.e2e.canned.canned_pool import node
from tests.e2e.canned.pool_page import rows, section, show_pool

POOL = "render-d4s"
BAD = node(2)["id"]
COMMANDS = [
    f"az batch node scheduling disable --pool-id={POOL} --node-id={BAD}",
    f"az batch node delete --pool-id={POOL} --node-list={BAD}",
]


def failing_node(canned: Canned) -> None:
    """Adds a finding on the third node to the pool's answer."""
    found: dict[str, Any] = finding(
        "nodeTasksFail",
        "info",
        title=f"Tasks fail on node '{BAD}'",
        detail=f"45 of 57 tasks failed on node '{BAD}' of pool '{POOL}'; at the rate of its other nodes in job "
        "'frames', 0.5 would have. Chance doesn't explain that.",
        advice=f"Let it take no more tasks: {COMMANDS[0]}; then remove it, and resize a pool of fixed size to get "
        f"another one: {COMMANDS[1]}",
        evidence={
            "poolId": POOL,
            "nodeId": BAD,
            "jobId": "frames",
            "failedTasks": 45,
            "endedTasks": 57,
            "pValue": 1e-12,
        },
        since=None,
    )
    (render,) = [pool for pool in canned.pools["demo"] if pool["id"] == POOL]
    render["findings"] = [found]


def test_the_map_marks_the_node_by_a_shape_with_a_legend_and_its_finding(page: Page, pools: Canned) -> None:
    failing_node(pools)
    show_pool(page, pools)
    nodes = section(page, "node-map")
    mark = nodes.get_by_test_id("failing-cells")
    expect(mark).to_have_count(1)
    bounds = mark.evaluate("path => { const box = path.getBBox(); return [box.x, box.y, box.width, box.height]; }")
    assert bounds == [44, 0, 20, 20]
    assert mark.evaluate("path => getComputedStyle(path).stroke") != "none"
    listed = nodes.get_by_test_id("failing-nodes")
    expect(listed).to_contain_text("Tasks fail on 1 node more often than chance explains")
    listed.locator("summary").click()
    expect(listed.get_by_label("Command", exact=True)).to_have_text(COMMANDS)
    expect(listed.locator("dl")).to_contain_text("jobframes")
    page.locator("svg[data-cells]").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(nodes.locator("[aria-live]")).to_contain_text("tasks fail on it")


def test_the_table_and_the_panel_of_the_node_say_so(page: Page, pools: Canned) -> None:
    failing_node(pools)
    show_pool(page, pools)
    expect(rows(page).nth(2)).to_contain_text("tasks fail")
    expect(rows(page).nth(1)).not_to_contain_text("tasks fail")
    rows(page).nth(2).get_by_role("button", name=BAD).click()
    panel = page.get_by_role("dialog")
    expect(panel.locator("[data-code=nodeTasksFail]").get_by_label("Command", exact=True)).to_have_text(COMMANDS)


def test_a_pool_without_such_nodes_has_no_mark(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    expect(rows(page)).to_have_count(15)
    expect(page.get_by_test_id("failing-cells")).to_have_count(0)
    expect(page.get_by_test_id("failing-nodes")).to_have_count(0)
