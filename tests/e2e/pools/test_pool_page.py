"""The page of one pool, with a canned API: its top, its history, its configuration, and its failures."""

import re
from typing import Literal

from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_pool import auto_scale, node, resize_error, start_task
from tests.e2e.canned.canned_values import stamp
from tests.e2e.canned.pool_page import FAINT_TEXT, TALL, fill, rows, section, show_pool

HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
FIRST = node(0)["id"]


def test_a_pool_opens_from_the_list_and_escape_returns_to_it_as_it_was(page: Page, pools: Canned) -> None:
    page.goto(f"{pools.url}/?view=pools&prefix=ren")
    page.get_by_role("link", name="render-d4s").press("Enter")
    expect(page).to_have_url(re.compile(r"\?account=demo&pool=render-d4s$"))
    expect(page).to_have_title("render-d4s · Batchscope")
    expect(page.get_by_test_id("pool-heading")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("tr[data-pool=render-d4s]")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?view=pools&prefix=ren$"))


def test_the_top_shows_state_use_and_problems_with_their_age(page: Page, pools: Canned) -> None:
    errors = [resize_error(), resize_error("ResizeStopped", current=False)]
    scale = auto_scale(error={"code": "AutoScaleFormulaEvaluationError", "message": "Unknown variable."})
    fill(pools, pools.nodes, resizeErrors=errors, autoScale=scale)
    show_pool(page, pools)
    expect(page.get_by_test_id("allocation")).to_have_text(re.compile(r"^allocation state resizing for 1 h 56 min"))
    expect(page.get_by_test_id("nodes").first).to_have_text("61")
    expect(page.get_by_test_id("cores-busy")).to_have_text("96")
    troubles = page.get_by_test_id("troubles").locator("li")
    expect(troubles).to_have_count(5)
    expect(troubles.nth(0)).to_contain_text(re.compile("AccountCoreQuotaReached 10 min ago.*reached core quota"))
    expect(troubles.nth(1)).to_contain_text("AutoScaleFormulaEvaluationError 2 min ago")
    expect(troubles.nth(4)).to_contain_text("ResizeStopped last reported 5 min ago")
    expect(page.locator(".pool-top [data-legend=trouble]")).to_contain_text("4 start task failed, 1 unknown")


def test_a_pool_of_several_sizes_names_them_at_its_top_on_its_map_and_of_each_node(page: Page, pools: Canned) -> None:
    nodes = [node(number, vmSize=f"standard_{kind}4s_v5") for number, kind in enumerate("dde")]
    nodes[2] |= {"vmSize": "unheard", "cores": None}
    sizes = {"standard_d4s_v5": 2, "unheard": 1}
    fill(pools, nodes, vmSize="Mix", vmSizes=sizes, cores=None, unknownCores=1)
    show_pool(page, pools, node=FIRST)
    expect(page.get_by_test_id("vm-sizes")).to_have_text(
        "Mix: 2 \N{MULTIPLICATION SIGN} standard_d4s_v5, 1 \N{MULTIPLICATION SIGN} unheard"
    )
    expect(page.locator(".pool-top")).to_contain_text("cores of 1 node unknown")
    expect(page.get_by_role("dialog").locator("[data-field='VM size']")).to_contain_text("standard_d4s_v5, 4 cores")
    page.keyboard.press("Escape")
    page.get_by_role("application").focus()
    page.keyboard.press("End")
    expect(section(page, "node-map").locator("[aria-live]")).to_contain_text("dedicated, unheard")


def test_formula_results_and_start_task_are_shown_without_secrets(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    formula = page.get_by_label("Formula", exact=True)
    assert formula.inner_text().splitlines() == [
        "pending = $PendingTasks.GetSample(1);", "$TargetDedicatedNodes = min(20, pending);"
    ]  # fmt: skip
    expect(section(page, "autoscale").locator(".results li")).to_have_text(["$TargetDedicatedNodes=8", "pending=8"])
    expect(section(page, "autoscale")).to_contain_text("Evaluated every 5 min, last 2 min ago")
    expect(section(page, "start-task").locator("mark")).to_have_count(2)
    expect(section(page, "start-task")).to_contain_text("at most 2 retries")


def test_versions_of_node_agents_are_named_and_several_stand_out(page: Page, pools: Canned) -> None:
    show_pool(page, pools, node=FIRST)
    expect(page.get_by_role("dialog").locator('[data-field="Batch\'s node agent"] dd')).to_have_text("1.12.3")
    page.keyboard.press("Escape")
    shown = page.get_by_test_id("agent-versions")
    expect(shown).to_contain_text("Batch's node agent: 1.12.3 on")
    expect(shown).to_have_attribute("data-mixed", "false")
    expect(page.get_by_test_id("agent-version-count")).to_have_count(0)
    fill(pools, pools.nodes, nodeAgentVersions={"1.12.3": 2, "1.13.0": 1})
    show_pool(page, pools)
    expect(page.get_by_test_id("agent-version-count")).to_have_text("2 versions of Batch's node agent")
    expect(shown).to_have_text(
        "Nodes have different versions of Batch's node agent: 1.12.3 on 2 nodes, 1.13.0 on 1 node. A node keeps its"
        " version; new nodes get the newest."
    )
    fill(pools, pools.nodes, nodeAgentVersions=None)
    show_pool(page, pools)
    expect(section(page, "settings")).to_be_visible()
    expect(shown).to_have_count(0)


def test_settings_are_shown_as_batch_names_them(page: Page, pools: Canned) -> None:
    image = {"publisher": "canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}
    machine = {"imageReference": image, "nodeAgentSKUId": "batch.node.ubuntu 24.04", "osDisk": {"diskSizeGB": 64}}
    fill(pools, pools.nodes, settings={"virtualMachineConfiguration": machine, "enableInterNodeCommunication": False})
    show_pool(page, pools)
    shown = section(page, "settings")
    expect(shown.locator("[data-field=nodeAgentSKUId]")).to_have_text("node agent SKU idbatch.node.ubuntu 24.04")
    expect(shown.locator("[data-field=diskSizeGB]")).to_have_text("disk size GB64")
    expect(shown.locator("[data-field=enableInterNodeCommunication]")).to_contain_text("false")
    fill(pools, pools.nodes)
    show_pool(page, pools)
    expect(section(page, "settings")).to_contain_text("Not read yet.")
    expect(page.get_by_test_id("settings-left-out")).to_have_count(0)
    fill(pools, pools.nodes, settings={}, settingsLeftOut=["startTask", "virtualMachineConfiguration.osDisk"])
    show_pool(page, pools)
    expect(section(page, "settings")).to_contain_text(
        "Not shown, as Batch sent another type than expected: startTask, virtualMachineConfiguration.osDisk"
    )


def test_retirements_stand_with_settings_and_early_ones_among_the_problems(page: Page, pools: Canned) -> None:
    jammy = {
        "id": "ubuntu-22.04", "what": "Ubuntu 22.04", "lastDay": "2027-06-30", "daysLeft": 30, "effect": "No nodes.",
        "instead": "Ubuntu 24.04.", "source": "https://example.org/200", "readOn": "2026-11-23",
        "leadDays": 60, "finding": "It ends.",
    }  # fmt: skip
    unknown = {"lastDay": None, "daysLeft": None, "leadDays": None, "finding": None}
    later = (
        jammy
        | {"id": "later", "what": "VM sizes of old", "effect": "<b>No\u202eNew nodes.", "instead": "<i>x."}
        | unknown
    )
    fill(pools, pools.nodes, retirements=[jammy, later])
    show_pool(page, pools)
    expect(page.get_by_test_id("troubles")).to_contain_text("Retired in 30 days: Ubuntu 22.04")
    expect(page.get_by_test_id("troubles")).not_to_contain_text("VM sizes of old")
    shown = section(page, "settings")
    expect(shown.locator("[data-retirement=later]")).to_contain_text(
        "Retired on a day that isn't known yet: VM sizes of old"
    )
    expect(shown.locator("[data-retirement=later]")).to_contain_text(
        "<b>No\ufffdNew nodes. Use instead: <i>x. Announcement"
    )
    link = shown.locator("[data-retirement='ubuntu-22.04'] a")
    expect(link).to_have_attribute("href", "https://example.org/200")


def test_changed_settings_are_listed_and_marked_in_the_history(page: Page, pools: Canned) -> None:
    slots = {"time": stamp(1_200), "name": "taskSlotsPerNode", "before": "4", "after": "8"}
    agent = slots | {"name": "nodeAgentSKUId", "before": None, "after": HOSTILE}
    early = slots | {"time": stamp(90 * 86_400), "before": "2", "after": "4"}
    fill(pools, pools.nodes, settingChanges=[slots, agent, early])
    show_pool(page, pools)
    listed = page.get_by_test_id("setting-changes").locator("li")
    expect(listed).to_have_count(3)
    expect(listed.nth(0)).to_contain_text("taskSlotsPerNode 4 → 8")
    expect(listed.nth(1)).to_contain_text(f"nodeAgentSKUId none → {HOSTILE}")
    marks = section(page, "history").get_by_test_id("setting-change")
    expect(marks).to_have_count(1)
    expect(marks.locator("title")).to_have_text(f"taskSlotsPerNode 4 → 8, nodeAgentSKUId none → {HOSTILE}")
    expect(section(page, "history")).to_contain_text("settings changed")
    expect(page).not_to_have_title("broken")


def test_unknown_facts_of_a_pool_are_not_shown_as_none_or_not_yet(page: Page, pools: Canned) -> None:
    size = {"current": 0, "target": None}
    run = {"state": "running", "result": None, "exitCode": None, "startTime": None, "endTime": None, "retryCount": 0,
           "failureCategory": None, "failureCode": None, "failureMessage": None}  # fmt: skip
    nodes = [node(0, "constructor", lastBootTime=None, startTaskInfo=run), node(1, "toString")]
    scale = auto_scale(lastEvaluation=None)
    fill(pools, nodes, dedicated=size, spot=size, autoScale=scale, creationTime=stamp(1_830))
    show_pool(page, pools, node=FIRST)
    expect(page.locator(".pool-top [data-legend=other]")).to_contain_text("2 in other states")
    expect(page.locator(".pool-top")).to_contain_text("target unknown")
    expect(section(page, "autoscale")).to_contain_text("last at an unknown time")
    expect(page.get_by_role("dialog").locator("[data-field=Booted]")).to_contain_text("at an unknown time")
    expect(page.get_by_role("dialog").locator("[data-field=Started]")).to_contain_text("at an unknown time")
    target = section(page, "history").get_by_test_id("target")
    expect(target).to_have_attribute("d", re.compile(r"^M\d{3}"))  # once the chart has measured its width
    line = target.get_attribute("d") or ""
    assert line.count("M") == 1, "it begins when the pool was made, which is after the gap"
    first = float(line[1:].split(",")[0])
    chart = section(page, "history").locator("svg").first.bounding_box()
    assert chart
    assert first > chart["width"] / 3


def test_the_history_shows_kinds_target_gaps_and_interruptions(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    history = section(page, "history")
    expect(history.locator("g.known")).to_have_count(2)
    expect(history.get_by_test_id("gap")).to_have_count(1)
    expect(history.locator(".interruption")).to_have_count(3)
    assert (history.get_by_test_id("target").get_attribute("d") or "").count("M") == 2
    chart = history.get_by_role("slider")
    chart.focus()
    page.keyboard.press("Home")
    first = "target 50 · 40 of 64 slots · 40 of 64 cores: 10 running, 4 idle, 2 unhealthy"
    expect(chart).to_have_attribute("aria-valuetext", re.compile(first))
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    waited = "tasks waited 1 h 30 min (slots busy), 1 min 30 s (pool empty)"
    expect(history.get_by_test_id("readout")).to_contain_text(waited)
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    expect(history.get_by_test_id("readout")).to_contain_text("3 interruptions")
    expect(history.get_by_role("button", name="preempted")).to_contain_text("3")
    history.get_by_role("button", name="running").click()
    expect(history.locator("path[data-layer=node-running]")).to_have_count(0)
    page.get_by_text("Show as table").click()
    expect(history.locator("tbody tr")).to_have_count(60)
    expect(history.locator("tbody tr").filter(has_text="not polled")).to_have_count(6)
    expect(history.locator("tbody tr").last).to_contain_text("10 running, 4 idle, 2 start task failed")
    expect(history.locator("tbody tr").filter(has_text="1 h 31 min")).to_have_count(11)


def test_texts_are_readable_in_either_scheme(page: Page, pools: Canned) -> None:
    schemes: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
    show_pool(page, pools, node=node(56)["id"])
    expect(page.get_by_test_id("past")).to_be_visible()
    expect(page.get_by_test_id("autoscale-runs").locator("li")).to_have_count(2)
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FAINT_TEXT) == []
    page.goto(f"{pools.url}/?view=pools")
    expect(page.locator("tr[data-pool]")).to_have_count(3)
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FAINT_TEXT) == []


def test_parts_fail_apart_and_come_back(page: Page, pools: Canned) -> None:
    pools.broken = {"nodestates": (502, "Table Storage didn't answer."), "node": (404, "There is no such node.")}
    show_pool(page, pools)
    expect(section(page, "node-map").get_by_test_id("section-problem")).to_contain_text("Table Storage didn't answer.")
    expect(rows(page)).to_have_count(15)
    rows(page).first.get_by_role("button").click()
    expect(page.get_by_test_id("node-problem")).to_contain_text("There is no such node.")
    page.keyboard.press("Escape")
    with page.expect_request(re.compile("/nodestates"), timeout=2000):
        page.get_by_role("button", name="Retry: Node map").click()
    pools.broken = {"nodes": (503, "Storage is busy.")}
    expect(page.locator("path[data-cells-of]")).to_have_count(6, timeout=40_000)
    page.get_by_role("link", name="Idle 8").click()
    expect(section(page, "nodes").get_by_test_id("section-problem")).to_contain_text("Storage is busy.")
    expect(page.get_by_test_id("cores-busy")).to_have_text("96")


def test_a_pool_that_is_not_there_and_one_without_nodes_are_said_in_words(page: Page, pools: Canned) -> None:
    page.goto(f"{pools.url}/?account=demo&pool=gone")
    expect(page.get_by_test_id("no-such-pool")).to_contain_text("There is no gone here.")
    expect(section(page, "history").locator("g.known")).to_have_count(2)
    pools.broken = {"history": (404, "No such pool was ever seen.")}
    page.reload()
    expect(page.get_by_test_id("no-such-pool")).to_be_visible()
    expect(section(page, "history")).to_have_count(0)
    pools.broken = {}
    fill(pools, [])
    show_pool(page, pools)
    expect(section(page, "node-map")).to_contain_text("The pool has no nodes.")
    expect(section(page, "nodes")).to_contain_text("The pool has no nodes.")


def test_external_values_are_shown_as_text(page: Page, pools: Canned) -> None:
    error = {"code": HOSTILE, "message": HOSTILE}
    recent = [{"job": HOSTILE, "task": HOSTILE, "state": HOSTILE}]
    hostile = node(0, HOSTILE, cause=HOSTILE, errors=[error], recentTasks=recent, vmSize=HOSTILE)
    fill(
        pools,
        [hostile | {"id": "node"}],
        displayName=HOSTILE,
        vmSize=HOSTILE,
        resizeErrors=[resize_error(HOSTILE, message=HOSTILE)],
        autoScale=auto_scale(formula=HOSTILE, results=HOSTILE, error=error),
        startTask=start_task(commandLine=HOSTILE, environment={HOSTILE: HOSTILE}),
        settings={"identity": {"type": HOSTILE}},
    )
    show_pool(page, pools)
    expect(page.get_by_label("Formula", exact=True)).to_have_text(HOSTILE)
    expect(page.get_by_test_id("troubles")).to_contain_text(HOSTILE)
    expect(page.get_by_label("Cause").locator("option").nth(1)).to_have_text(f"1 node: {HOSTILE}")
    page.locator("svg[data-cells]").hover(position={"x": 8, "y": 8})
    expect(page.locator(".tip")).to_contain_text(HOSTILE)
    rows(page).get_by_role("button").click()
    expect(page.get_by_test_id("recent-tasks")).to_contain_text(HOSTILE)
    assert page.locator("img, #page script").count() == 0
    assert page.title() == "render-d4s · Batchscope"


def test_nothing_of_a_pool_sticks_out_at_any_width(page: Page, pools: Canned) -> None:
    long = "goes-on-and-on-" * 20
    nodes = [node(number, "unusable", cause=long, id=f"{number}{long}") for number in range(80)]
    fill(pools, nodes, vmSize=long, displayName=long, resizeErrors=[resize_error(long, message=long)],
         autoScale=auto_scale(formula=long, results=long), startTask=start_task(commandLine=long),
         settings={"networkConfiguration": {"subnetId": long, "dynamicVNetAssignmentScope": "none"}})  # fmt: skip
    show_pool(page, pools)
    expect(rows(page)).to_have_count(15)
    for width in (1440, 1100, 800, 420):
        page.set_viewport_size({"width": width, "height": TALL})
        drawn = page.locator(".node-map > div").evaluate("box => box.clientWidth")
        expect(page.locator("svg[data-cells]")).to_have_attribute("width", str(drawn))
        assert page.evaluate(OVERFLOW) <= 0, width
        for name in ("node-map", "nodes", "autoscale", "start-task", "settings"):
            assert section(page, name).evaluate("box => box.scrollWidth - box.clientWidth") <= 0, (width, name)
    rows(page).first.get_by_role("button").click()
    expect(page.get_by_test_id("node-cause")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
