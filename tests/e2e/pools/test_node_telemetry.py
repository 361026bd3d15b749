"""The charts in a node's panel, with a canned API: their series, and texts about left out records and facts."""

import re
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_events import event, ingestion
from tests.e2e.canned.canned_pool import node
from tests.e2e.canned.canned_telemetry import (
    FACTS,
    LEFT_OUT,
    cores,
    counter,
    gauge,
    graphics,
    machine,
    many_gpus,
    point,
    telemetry,
    text,
    this_minute,
)
from tests.e2e.canned.canned_values import stamp
from tests.e2e.canned.pool_page import FAINT_TEXT, TALL, show_pool

FIRST = node(0)["id"]


@pytest.fixture
def end() -> datetime:
    return this_minute()


@pytest.fixture
def measured(pools: Canned, end: datetime) -> Canned:
    """Returns pools with nodes that have all series of a machine without GPUs."""
    pools.telemetry = lambda _: telemetry(machine(end), end=end)
    for each in pools.nodes:
        each["allocationTime"] = text(end - timedelta(hours=2))
    pools.ingestion = ingestion(telemetry=None)
    return pools


def charts(page: Page) -> Locator:
    return page.locator("[data-section=telemetry]")


def chart(page: Page, name: str) -> Locator:
    return page.locator(f"[data-chart={name}]")


def test_only_measured_series_have_charts(page: Page, measured: Canned, end: datetime) -> None:
    show_pool(page, measured, node=FIRST)
    expect(page.locator("[data-chart]")).to_have_count(5)
    shown = [each.get_attribute("data-chart") for each in page.locator("[data-chart]").all()]
    assert shown == ["cpu", "memory", "disk", "filesystem", "network"]
    expect(chart(page, "cpu")).to_contain_text(re.compile(r"in use\s*99.2%\s*89.2% to 109%"))
    expect(chart(page, "memory")).to_contain_text(re.compile(r"Memory of 16 GiB.*in use\s*7.93 GiB"))
    mounts = chart(page, "filesystem").locator("[data-line]")
    assert [each.get_attribute("data-line") for each in mounts.all()] == ["/mnt/batch", "/"]
    measured.telemetry = lambda _: telemetry([*machine(end), *graphics(end)], end=end)
    page.get_by_role("link", name="6 h").last.click()
    expect(chart(page, "gpu")).to_contain_text(re.compile(r"GPU 0\s*50%.*GPU 1\s*50%"))
    expect(chart(page, "gpu-temperature")).to_contain_text(re.compile(r"GPU 0\s*70 °C\s*GPU 1\s*60 °C"))
    expect(chart(page, "gpu-throttled").locator("[data-line]")).to_have_count(1)
    expect(chart(page, "gpu-throttled")).to_contain_text(re.compile(r"power cap\s*25%"))
    expect(page).to_have_url(re.compile(r"charts=6h$"))


def test_rates_exclude_partitions_and_virtual_devices_also_in_an_unfinished_step(page: Page, measured: Canned) -> None:
    show_pool(page, measured, node=FIRST)
    expect(chart(page, "disk")).to_contain_text(re.compile(r"read\s*1 MiB/s.*written\s*1 MiB/s"))
    expect(chart(page, "network")).to_contain_text(re.compile(r"received\s*1 MiB/s"))
    expect(chart(page, "network")).not_to_contain_text("sent")


def test_a_gap_is_drawn_as_a_gap(page: Page, measured: Canned) -> None:
    show_pool(page, measured, node=FIRST)
    mean = chart(page, "cpu").locator(".mean")
    assert mean.get_attribute("d").count("M") == 2  # type: ignore[union-attr]
    expect(chart(page, "cpu").get_by_test_id("silence")).to_have_count(1)
    expect(charts(page).locator(".key").last).to_contain_text("no data")


def test_one_cursor_moves_over_all_charts_by_keys_and_pointer(page: Page, measured: Canned) -> None:
    show_pool(page, measured, node=FIRST)
    slider = chart(page, "cpu").get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r": in use 0%, from -10% to 10%$"))
    expect(chart(page, "memory")).to_contain_text(re.compile(r"in use\s*0 B"))
    expect(page.locator(".measures .cursor")).to_have_count(6)
    for _ in range(6):
        page.keyboard.press("PageDown")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("in use no data"))
    expect(chart(page, "disk").locator(".values")).to_have_text(re.compile(r"read\s*\S\s*written\s*\S$"))
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("moment")).to_contain_text("Latest values")
    expect(page.get_by_role("dialog")).to_be_visible()
    chart(page, "network").locator("svg").hover(position={"x": 300, "y": 40})
    expect(page.locator(".measures .cursor")).to_have_count(6)
    expect(page.get_by_test_id("moment")).to_contain_text(re.compile(r"\d\d:\d\d"))


def test_each_of_many_gpus_is_visible_and_the_hot_and_the_idle_one_are_named(
    page: Page, measured: Canned, end: datetime
) -> None:
    measured.telemetry = lambda _: telemetry([*machine(end), *many_gpus(end, 8)], end=end)
    show_pool(page, measured, node=FIRST)
    expect(chart(page, "gpu").locator("[data-line]")).to_have_count(3)
    expect(page.get_by_test_id("gpu-members")).to_have_text(
        "Highest: GPU 7 (87.5%); lowest: GPU 0 (0%). Darker means higher."
    )
    expect(page.get_by_test_id("gpu-temperature-members")).to_contain_text("Highest: GPU 7 (47 °C)")
    names = chart(page, "gpu").locator(".row-map text").all_text_contents()
    assert names == [f"GPU {number}" for number in range(8)]


def test_metrics_that_the_catalog_lacks_have_charts_with_their_names_and_units(
    page: Page, measured: Canned, end: datetime
) -> None:
    loss = gauge("custom.training.loss", end, lambda at: -at, {"run": "a"}) | {"unit": ""}
    waits = gauge("custom.wait", end, lambda _: 0.0025, {}) | {"unit": "s"}
    measured.telemetry = lambda _: telemetry([loss, waits], end=end)
    show_pool(page, measured, node=FIRST)
    expect(page.locator("[data-chart]")).to_have_count(2)
    first, second = page.locator("[data-chart]").all()
    expect(first).to_contain_text(re.compile(r"training\.loss\s*a\s*-\d+"))
    expect(second).to_contain_text(re.compile(r"wait \(s\)\s*value\s*0\.0025"))


def test_cores_are_asked_for_when_somebody_wants_them(page: Page, measured: Canned, end: datetime) -> None:
    whole = measured.telemetry
    assert whole is not None

    def answer(asked: dict[str, str]) -> dict[str, object]:
        of_cores = asked["attributes"] == "cpu.mode=idle"
        return telemetry(cores(end, 12), end=end) if of_cores else whole(asked)

    measured.telemetry = answer
    show_pool(page, measured, node=FIRST)
    expect(chart(page, "cpu")).to_be_visible()
    assert not any("cpu.mode%3Didle" in path for path in measured.asked)
    page.get_by_text("By core").click()
    expect(page.get_by_test_id("cores")).to_contain_text("Busiest: core 11 (91.7%); least busy: core 0 (0%).")
    drawn = (
        chart(page, "cpu").locator(".core").evaluate_all("paths => paths.map(each => each.getAttribute('d') !== '')")
    )
    assert drawn == [True] * 5


def test_runs_share_the_time_axis_of_the_charts_and_link_to_their_tasks(page: Page, measured: Canned) -> None:
    ran = {"executionInfo": {"startTime": stamp(3_000), "endTime": stamp(2_400)}}
    on = {"nodeId": FIRST}
    measured.events = [
        event(5, kind="TaskStartEvent", time=stamp(300), **on),
        event(4, kind="TaskFailEvent", taskId="frame-1", time=stamp(1_799), **on),
        event(3, kind="TaskCompleteEvent", taskId="frame-1", time=stamp(1_800), **on),
        event(2, kind="TaskCompleteEvent", taskId="frame-2", time=stamp(2_399), **on, properties=ran),
        event(1, kind="TaskStartEvent", taskId="frame-1", time=stamp(2_200), **on),
    ]
    show_pool(page, measured, node=FIRST)
    strip = page.get_by_test_id("runs")
    runs = strip.locator(".run")
    expect(runs).to_have_count(3)
    kinds = [each.get_attribute("data-run") for each in runs.all()]
    assert kinds == ["success", "failure", "running"]
    expect(strip.get_by_test_id("mark")).to_have_count(1)
    runs.first.hover()
    expect(page.locator(".tip")).to_contain_text(re.compile(r"^frame-2 of render · ended · .* to .* · 10 min$"))
    widths = [each.bounding_box()["width"] for each in runs.all()]  # type: ignore[index]
    assert widths[0] > widths[1] > widths[2]
    measured.broken["telemetry"] = (404, "The task has none.")  # the canned answer is that of a node
    runs.first.click()
    expect(page).to_have_url(re.compile("job=render&task=frame-2"))


def test_uncharted_records_and_node_facts_are_shown(page: Page, measured: Canned, end: datetime) -> None:
    unknown = {"gremlins": 5, "<b>x</b>": 2, "c": 1, "d": 1}
    facts = FACTS | {"cpuModel": "Xeon", "cpuCount": 8, "vmSize": "d8", "region": "eastus", "bootedAt": stamp(120)}
    kills = gauge("batchscope.memory.oom_kills", end, lambda at: float(at == 3))
    errors = [
        counter("hw.errors", end, growth, {"hw.type": "gpu", "hw.id": gpu, "error.type": kind})
        for gpu, kind, growth in (("2", "uncorrected", 0), ("10", "uncorrected", 1), ("1", "corrected", 9))
    ]
    summed = {"hw.type": "gpu", "hw.id": "10", "error.type": "uncorrected", "batchscope.source": "aggregate"}
    errors.append(counter("hw.errors", end, 7, summed))
    measured.telemetry = lambda _: telemetry(
        [*machine(end), kills, *errors], end=end, leftOut=LEFT_OUT | {"unknown": unknown}, facts=facts
    )
    show_pool(page, measured, node=FIRST)
    expect(page.get_by_test_id("left-out")).to_have_text(
        "Not charted, out of 14,201 records: 3 unreadable; 9 of measurements without numbers "
        "(“gremlins”, “<b>x</b>”, “c” and 1 other)."
    )
    expect(page.get_by_test_id("facts")).to_have_text("Xeon, 8 cores · d8 · eastus · booted 2 min ago")
    expect(page.get_by_test_id("killed")).to_contain_text("12 processes were killed because memory ran out")
    expect(page.get_by_test_id("damaged")).to_contain_text("110 uncorrectable memory errors on GPU 10")


def test_the_values_are_there_as_a_table_and_as_csv(page: Page, measured: Canned) -> None:
    show_pool(page, measured, node=FIRST)
    charts(page).get_by_text("Show as table").click()
    table = page.get_by_role("region", name="Charts as a table")
    expect(table.locator("thead th")).to_have_count(8)
    expect(table.locator("tbody tr")).to_have_count(120)
    expect(table.locator("tbody tr").first).to_contain_text(re.compile(r"99.2%.*89.2% to 109%"))
    expect(table.locator("tbody tr").nth(55)).to_contain_text("no data")
    link = charts(page).get_by_role("link", name="Telemetry as CSV").get_attribute("href")
    assert link
    assert link.endswith("format=csv")


def test_where_only_hours_are_kept_all_steps_are_hours(page: Page, measured: Canned, end: datetime) -> None:
    begin, parts = end - timedelta(hours=2), [{"from": text(end - timedelta(hours=2)), "to": text(end)}]
    growth = [point(begin + timedelta(hours=hour), 3600 * 2**20) for hour in range(2)]
    way = {"network.io.direction": "receive"}
    series = {"name": "system.network.io", "attributes": way, "unit": "By", "kind": "counter", "points": growth}
    measured.telemetry = lambda asked: telemetry([series], end=end, step=asked.get("step", "PT30M"), hourly=parts)
    show_pool(page, measured, node=FIRST, charts="7d")
    expect(page.get_by_test_id("moment")).to_contain_text("1 h intervals")
    expect(chart(page, "network")).to_contain_text(re.compile(r"received\s*1 MiB/s"))
    expect(chart(page, "network").locator(".mean")).to_have_attribute("d", re.compile(r"^M[^M]*L[^M]*$"))


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"container": None}, "Set TELEMETRY_STORAGE to the storage account that the nodes write to."),
        ({"telemetry": None}, "Configure an agent on the nodes, such as Telegraf, to append"),
        ({"telemetry": {"blobs": 3, "behindBytes": 0}}, "The node sent no data in the last 1 h."),
        ({"telemetry": {"blobs": 3, "behindBytes": 2048}}, "2 KiB of node telemetry are waiting to be read."),
    ],
)
def test_a_node_without_telemetry_shows_cause_and_remedy(
    page: Page, measured: Canned, told: dict[str, object], sentence: str, end: datetime
) -> None:
    nothing: dict[str, object] = {**dict.fromkeys(LEFT_OUT, 0), "unknown": {}}
    measured.telemetry = lambda _: telemetry([], end=end, leftOut=nothing)
    measured.ingestion = ingestion(**({"telemetry": None} | told))
    show_pool(page, measured, node=FIRST)
    expect(page.get_by_test_id("no-telemetry")).to_contain_text(sentence)
    expect(page.locator("[data-chart]")).to_have_count(0)


@pytest.mark.parametrize(
    ("names_node", "sentence"),
    [
        (True, "The data that the node sent in the last 1 h can't be charted:"),
        (False, "No data of the last 1 h names this node. It may be in these blobs, which name no node:"),
    ],
)
def test_a_node_lists_blobs_that_cannot_be_charted_with_reasons(
    page: Page, measured: Canned, *, names_node: bool, sentence: str, end: datetime
) -> None:
    reason = "It seems to be Prometheus text, which isn't read."
    undrawn = [{"blob": "a/<b>.prom", "format": "Prometheus text", "namesNode": names_node, "reason": reason}]
    measured.telemetry = lambda _: telemetry([], end=end, undrawn=undrawn)
    measured.ingestion = ingestion(telemetry={"blobs": 3, "behindBytes": 0})
    show_pool(page, measured, node=FIRST)
    nothing = page.get_by_test_id("no-telemetry")
    expect(nothing).to_contain_text(sentence)
    expect(nothing).not_to_contain_text("The node sent no data")
    expect(page.get_by_test_id("undrawn").get_by_role("listitem")).to_have_text([f"a/<b>.prom: {reason}"])


def test_charts_fail_apart_and_a_node_that_is_gone_keeps_them(page: Page, measured: Canned) -> None:
    measured.broken["telemetry"] = (400, "That would be more than 100,000 steps of series.")
    show_pool(page, measured, node=FIRST)
    expect(page.get_by_test_id("telemetry-problem")).to_contain_text("more than 100,000 steps")
    expect(page.get_by_test_id("node-state")).to_be_visible()
    measured.broken = {"node": (404, "There is no such node.")}
    page.get_by_role("button", name="Retry: Telemetry").click()
    expect(chart(page, "cpu")).to_be_visible()
    page.reload()
    expect(page.get_by_test_id("node-problem")).to_contain_text("There is no such node.")
    expect(chart(page, "cpu")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_fit_a_telephone_and_can_be_read(page: Page, measured: Canned, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 420, "height": TALL})
    show_pool(page, measured, node=FIRST)
    expect(chart(page, "network")).to_be_visible()
    assert page.get_by_role("dialog").evaluate("panel => panel.scrollWidth - panel.clientWidth") == 0
    assert page.evaluate(FAINT_TEXT) == []
