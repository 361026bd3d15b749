"""A pool with data in every part on the canned server, and its page in a browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned.canned_agent import agent_nodes
from tests.e2e.canned.canned_api import Canned, serving
from tests.e2e.canned.canned_pool import (
    auto_scale,
    node,
    node_states,
    pool,
    pool_history,
    resize_error,
    start_task,
    sums,
)
from tests.e2e.canned.canned_values import account, stamp

TALL = 2600
FAILED = "The start task failed with exit code 7: FailureExitCode: The task exited with an exit code."
LOST = "The service has lost contact with the node."
STATES = ("running", "running", "running", "idle", "creating", "preempted", "leavingpool")


@contextmanager
def canned_pools() -> Iterator[Canned]:
    """Serves the pool `render-d4s`, which has data in every part, and two pools without problems."""
    with serving(Canned()) as canned:
        nodes = [node(number, STATES[number % len(STATES)]) for number in range(56)]
        nodes += [node(number, "starttaskfailed", age=7_200, cause=FAILED) for number in range(56, 60)]
        nodes += [node(60, "unknown", cause=LOST, lastSeen=nodes[0]["stateTransitionTime"])]
        fill(canned, nodes, resizeErrors=[resize_error(), resize_error("ResizeStopped", current=False)])
        yield canned


def fill(canned: Canned, nodes: list[dict[str, Any]], **changes: Any) -> None:
    """Gives the pool these nodes; two other pools stay."""
    counts: dict[str, int] = {}
    for each in nodes:
        counts[each["state"]] = counts.get(each["state"], 0) + 1
    made = {"startTask": start_task(), "autoScale": auto_scale(), "allocationState": "resizing"} | changes
    render = pool("render-d4s", nodes=counts, **made)
    pools = [pool("analytics"), render, pool("etl", allocationState="stopping", nodes={"idle": 3})]
    canned.pool_history = pool_history(gap=range(20, 26))
    run = {"timestamp": stamp(120), "results": "$TargetDedicatedNodes=8;pending=8", "error": None}
    failed = {**run, "timestamp": stamp(420), "results": None, "error": {"code": "Late", "message": "Took too long."}}
    canned.autoscale_runs = [run, failed]
    canned.nodes, canned.node_states = nodes, node_states(nodes)
    canned.agent_nodes = agent_nodes(nodes)
    canned.pools = {"demo": pools}
    canned.accounts = [account(**sums(pools))]


def show_pool(page: Page, canned: Canned, **query: str) -> None:
    """Opens the pool's page, so tall that every part is in sight: parts out of sight aren't read."""
    width = page.viewport_size["width"] if page.viewport_size else 1440
    page.set_viewport_size({"width": width, "height": TALL})
    asked = "".join(f"&{key}={value}" for key, value in query.items())
    page.goto(f"{canned.url}/?account=demo&pool=render-d4s{asked}")


def section(page: Page, name: str) -> Locator:
    return page.locator(f"[data-section={name}]")


def rows(page: Page) -> Locator:
    return page.locator("tr[data-node]")


FAINT_TEXT = """() => {
  const channel = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([red, green, blue]) => 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  const read = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
    return colour.startsWith("color(") ? [red * 255, green * 255, blue * 255, alpha] : [red, green, blue, alpha];
  };
  const over = (top, bottom) => [0, 1, 2].map((at) => top[at] * top[3] + bottom[at] * (1 - top[3]));
  const faint = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || parent.closest("[aria-hidden], :disabled, .unseen, select")) continue;
    const around = [];
    for (let each = parent; each; each = each.parentElement) around.unshift(getComputedStyle(each));
    const ground = around.reduce((below, { backgroundColor }) => over(read(backgroundColor), below), [0, 0, 0]);
    const [red, green, blue, alpha] = read(around.at(-1).color);
    const opacity = around.reduce((product, style) => product * style.opacity, alpha);
    const [more, less] = [light(over([red, green, blue, opacity], ground)), light(ground)].sort((a, b) => b - a);
    const contrast = (more + 0.05) / (less + 0.05);
    if (contrast < 4.5) faint.push(`${texts.currentNode.data.trim()}: ${contrast.toFixed(2)}`);
  }
  return faint;
}"""


def expect_legible_in_both_themes(page: Page, canned: Canned, awaited: str, count: int) -> None:
    """Opens the pool's page in each theme, awaits so many elements of a selector, and finds no faint text."""
    schemes: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        show_pool(page, canned)
        expect(page.locator(awaited)).to_have_count(count)
        assert page.evaluate(FAINT_TEXT) == []
