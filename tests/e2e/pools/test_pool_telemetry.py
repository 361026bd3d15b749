"""The telemetry of a pool's nodes on its page, with a canned API: the map coloured by a metric, and charts."""

import re
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_pool import node
from tests.e2e.canned.canned_pool_telemetry import (
    FANS,
    HEAT,
    LOSS,
    node_values,
    pool_metrics,
    pool_telemetry,
    values_of,
)
from tests.e2e.canned.canned_values import stamp
from tests.e2e.canned.pool_page import fill, section, show_pool

HOSTILE = "<img src=x onerror=document.title='broken'>"


def drawn(page: Page) -> dict[str, int]:
    """Returns the number of nodes by the group that colours them."""
    layers = page.locator("path[data-cells-of]").all()
    return {str(one.get_attribute("data-cells-of")): int(one.get_attribute("data-number") or 0) for one in layers}


@pytest.fixture
def measured(pools: Canned) -> Canned:
    """Returns the canned server with telemetry of all nodes but the last."""
    pools.pool_telemetry, pools.node_values = pool_telemetry(pools.nodes), node_values(pools.nodes)
    return pools


def colour(page: Page) -> Locator:
    return page.get_by_label("Colour by")


def test_the_map_is_coloured_by_a_metric_with_a_scale_and_nodes_without_data(page: Page, measured: Canned) -> None:
    show_pool(page, measured)
    colour(page).select_option("CPU")
    expect(page.get_by_test_id("heat-legend")).to_contain_text("0%")
    assert drawn(page) == {"heat-none": 1, "heat-0": 12, "heat-1": 12, "heat-2": 12, "heat-3": 12, "heat-4": 12}
    expect(page.get_by_test_id("heat-legend")).to_have_text("CPU: 0% to 100% 1 without data")
    expect(page).to_have_url(re.compile("colour=cpu"))
    asked = [one for one in measured.asked if "/telemetry/nodes" in one]
    assert "name=system.cpu.utilization" in asked[-1]
    page.reload()
    expect(page.get_by_test_id("heat-legend")).to_be_visible()
    colour(page).select_option("state")
    expect(page.get_by_test_id("heat-legend")).to_be_hidden()
    assert "running" in drawn(page)


def test_the_map_is_coloured_by_any_other_metric_of_the_pool(page: Page, measured: Canned) -> None:
    hostile = {"name": f"custom.{HOSTILE}", "attributes": {}, "unit": "\u202es"}
    measured.pool_metrics = pool_metrics(LOSS, HEAT, FANS, hostile)
    measured.node_values = values_of(HEAT, measured.nodes, 50, 10)
    show_pool(page, measured)
    others = colour(page).locator("optgroup[label='Other metrics'] option")
    hostile_text = f"custom.{HOSTILE} (\ufffds)"
    expect(others).to_have_text([hostile_text, "custom.loss", "hw.fan.speed (rpm)", "hw.temperature · gpu (°C)"])
    expect(colour(page).locator("option").first).to_have_text("state")
    colour(page).select_option("hw.temperature · gpu (°C)")
    legend = page.get_by_test_id("heat-legend")
    expect(legend).to_have_text("hw.temperature · gpu: 50 °C to 90 °C 1 without data")
    assert drawn(page) == {"heat-none": 1, "heat-0": 12, "heat-1": 12, "heat-2": 12, "heat-3": 12, "heat-4": 12}
    asked = parse_qs([one for one in measured.asked if "/telemetry/nodes" in one][-1].partition("?")[2])
    assert asked == {"name": ["hw.temperature"], "attributes": ["hw.type=gpu"]}
    page.reload()
    expect(legend).to_contain_text("50 °C")
    expect(colour(page).locator("option:checked")).to_have_text("hw.temperature · gpu (°C)")
    page.locator("svg[data-cells]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tip")).to_contain_text("; hw.temperature · gpu 60 °C")
    measured.node_values = values_of(LOSS, measured.nodes, -0.5, 0)
    colour(page).select_option("custom.loss")
    expect(legend).to_have_text("custom.loss: -0.5 1 without data")


def test_another_metric_is_chosen_by_keyboard(page: Page, measured: Canned) -> None:
    measured.pool_metrics, measured.node_values = pool_metrics(LOSS), values_of(LOSS, measured.nodes, 1, 1)
    show_pool(page, measured)
    expect(colour(page).locator("optgroup option")).to_have_count(1)
    colour(page).focus()
    page.keyboard.type("custom")
    expect(page.get_by_test_id("heat-legend")).to_have_text("custom.loss: 1 to 5 1 without data")
    expect(page).to_have_url(re.compile("colour=custom.loss"))
    expect(colour(page)).to_be_focused()


def test_a_metric_in_the_address_colours_the_map_without_a_list(page: Page, measured: Canned) -> None:
    measured.broken["poolmetrics"] = 503, "Storage is away."
    measured.node_values = values_of(FANS, measured.nodes, 900, 25)
    show_pool(page, measured, colour="hw.fan.speed")
    expect(page.get_by_test_id("heat-legend")).to_have_text("hw.fan.speed (rpm): 900 to 1,000 1 without data")
    expect(colour(page).locator("option:checked")).to_have_text("hw.fan.speed")
    expect(colour(page).locator("option:disabled")).to_have_text("The list can't be read.")
    measured.node_values = values_of(FANS, [], 0, 0)
    page.reload()
    expect(page.get_by_test_id("heat-legend")).to_have_text("hw.fan.speed (rpm): no values 61 without data")


def test_levels_of_the_map_differ_in_colour_and_silent_nodes_by_an_outline(page: Page, measured: Canned) -> None:
    show_pool(page, measured, colour="cpu")
    expect(page.get_by_test_id("heat-legend")).to_be_visible()
    looks = "path => [getComputedStyle(path).fill, getComputedStyle(path).strokeDasharray]"
    fills = [one.evaluate(looks) for one in page.locator("path[data-cells-of]").all()]
    assert len({fill for fill, _ in fills}) == len(fills)
    assert [dash != "none" for _, dash in fills] == [True, False, False, False, False, False]


def test_a_cell_says_its_value(page: Page, measured: Canned) -> None:
    show_pool(page, measured, colour="cpu")
    expect(page.get_by_test_id("heat-legend")).to_be_visible()
    page.locator("svg[data-cells]").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator(".tip")).to_contain_text("; CPU 50%")


def test_charts_show_statistics_over_the_nodes_and_name_silent_ones(page: Page, measured: Canned) -> None:
    show_pool(page, measured)
    part = section(page, "pool-telemetry")
    expect(part.locator("[data-chart]")).to_have_count(2)
    expect(part.locator("[data-chart=cpu] .values")).to_have_text(
        re.compile("mean 40%.*median 35%.*95th percentile 80%.*highest 90%")
    )
    expect(part.locator("[data-chart=received] .values")).to_contain_text("mean 1.6 MiB/s")
    expect(part.get_by_test_id("pool-moment")).to_contain_text("60 nodes")
    last = node(60)["id"]
    expect(part.get_by_test_id("reporting")).to_have_text(
        re.compile(rf"^60 of 61 nodes report\. Silent for more than 5 minutes: {last} \(15 min ago\)\.$")
    )
    part.get_by_role("link", name=last).click()
    expect(page.get_by_role("dialog")).to_contain_text(last)


def test_changed_settings_are_marked_in_the_charts_and_named_below(page: Page, measured: Canned) -> None:
    slots = {"time": stamp(1_200), "name": "taskSlotsPerNode", "before": "4", "after": "8"}
    agent = slots | {"name": "nodeAgentSKUId", "before": None, "after": HOSTILE}
    early = slots | {"time": stamp(90 * 86_400), "before": "2", "after": "4"}
    fill(measured, measured.nodes, settingChanges=[slots, agent, early])
    show_pool(page, measured)
    shown = section(page, "pool-telemetry")
    charts = shown.locator("figure.measure")
    expect(charts.first).to_be_visible()
    marks = shown.get_by_test_id("setting-change")
    expect(marks).to_have_count(charts.count())
    text = f"taskSlotsPerNode 4 → 8, nodeAgentSKUId none → {HOSTILE}"
    expect(marks.first.locator("title")).to_have_text(text)
    line = marks.first.locator("line")
    expect(charts.first.locator("svg")).to_be_visible()  # it has no width until its frame was measured
    axis = charts.first.locator("svg").bounding_box()
    assert axis
    assert 64 < float(str(line.get_attribute("x1"))) < axis["width"] - 6
    listed = shown.get_by_label("Changes of settings").get_by_role("listitem")
    expect(listed).to_have_count(1)
    expect(listed).to_contain_text(text)
    fill(measured, measured.nodes, settingChanges=[early])
    show_pool(page, measured)
    expect(charts.first).to_be_visible()
    expect(marks).to_have_count(0)
    expect(shown).not_to_contain_text("settings changed")


def test_a_pool_without_telemetry_says_so(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    part = section(page, "pool-telemetry")
    expect(part.get_by_test_id("no-pool-telemetry")).to_contain_text("No node of this pool has sent telemetry")
    expect(part.get_by_test_id("reporting")).to_have_text("0 of 0 nodes report.")


def test_telemetry_that_fails_leaves_the_rest_of_the_page(page: Page, measured: Canned) -> None:
    measured.broken["pooltelemetry"] = 503, "Storage is away."
    show_pool(page, measured, colour="cpu")
    expect(section(page, "pool-telemetry")).to_contain_text("Storage is away.")
    expect(section(page, "node-map")).to_contain_text("The nodes' values can't be read, so states colour the map.")
    expect(page.locator("svg[data-cells]")).to_be_visible()
