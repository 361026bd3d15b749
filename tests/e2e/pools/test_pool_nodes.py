"""The nodes on the page of a pool, with a canned API: their map, the list with filters and pages, and one node."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import live_task
from tests.e2e.canned.canned_pool import interruptions, node
from tests.e2e.canned.canned_values import job, stamp
from tests.e2e.canned.pool_page import FAILED, LOST, TALL, fill, rows, section, show_pool

FIRST = node(0)["id"]


def test_every_node_is_a_cell_of_its_kind_and_kinds_differ_by_more_than_hue(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    layers = page.locator("path[data-cells-of]")
    expect(layers).to_have_count(6)
    drawn = {each.get_attribute("data-cells-of"): each.get_attribute("data-number") for each in layers.all()}
    kinds = {"running": 24, "idle": 8, "starting": 8, "leaving": 8, "preempted": 8, "trouble": 5}
    assert drawn == {kind: str(number) for kind, number in kinds.items()}
    looks = "path => [getComputedStyle(path).fill.includes('url'), getComputedStyle(path).stroke, path.dataset.cellsOf]"
    styles = {each[2]: each[:2] for each in (layer.evaluate(looks) for layer in layers.all())}
    assert [kind for kind, (patterned, _) in styles.items() if patterned] == ["starting", "preempted", "trouble"]
    assert styles["idle"][1] != styles["running"][1] == "none"


def test_the_arrow_keys_go_from_node_to_node_and_enter_opens_one(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    chart = page.locator("svg[data-cells]")
    chart.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".tip")).to_contain_text(f"{FIRST}: running for 10 min, 4 running tasks, dedicated")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(section(page, "node-map").locator("[aria-live]")).to_contain_text(": idle for 10 min, dedicated")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("node-state")).to_have_text(re.compile("Unknown for 10 min"))
    expect(page).to_have_url(re.compile(rf"node={node(60)['id']}$"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(chart).to_be_focused()
    expect(page).to_have_url(re.compile("pool=render-d4s$"))


def test_a_click_on_a_cell_opens_its_node(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    page.locator("svg[data-cells]").click(position={"x": 30, "y": 8})
    expect(page.get_by_role("dialog")).to_contain_text(node(1)["id"])


def test_nodes_are_filtered_by_state_and_cause_and_come_in_pages(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    expect(rows(page)).to_have_count(15)
    page.get_by_role("button", name="Next page").click()
    expect(rows(page).first).to_have_attribute("data-node", node(15)["id"])
    page.get_by_label("Cause").select_option(label=f"4 nodes: {FAILED}")
    expect(rows(page)).to_have_count(4)
    expect(rows(page).first).to_contain_text("start task failed")
    expect(rows(page).first).to_contain_text(FAILED)
    page.get_by_label("Cause").select_option("")
    page.get_by_role("link", name="Unknown 1").click()
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text(LOST)
    expect(page).to_have_url(re.compile("state=unknown$"))
    expect(page.locator("path.unwanted")).to_have_count(6)
    assert page.locator("path[data-cells-of]:not(.unwanted)").get_attribute("data-number") == "1"
    page.get_by_label("Id begins with").fill("zzz")
    section(page, "nodes").get_by_role("link", name="Show all nodes").click()
    expect(rows(page)).to_have_count(15)


def test_paging_through_nodes_keeps_the_focus_on_its_button(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    forward, back = (page.get_by_role("button", name=name) for name in ("Next page", "Previous"))
    forward.focus()
    for number in (15, 30, 45, 60):
        page.keyboard.press("Enter")
        expect(rows(page).first).to_have_attribute("data-node", node(number)["id"])
        expect(forward).to_be_focused()
    expect(forward).to_have_attribute("aria-disabled", "true")
    back.focus()
    for number in (45, 30, 15, 0):
        page.keyboard.press("Enter")
        expect(rows(page).first).to_have_attribute("data-node", node(number)["id"])
    expect(back).to_be_focused()


def test_the_map_follows_every_filter_of_the_table(page: Page, pools: Canned) -> None:
    causes = [node(number, "unusable", cause=f"Broken in way {number % 21:02}.") for number in range(100, 121)]
    for each in (*pools.nodes[:2], causes[0]):
        each["flapping"] = True
    fill(pools, [*pools.nodes, *causes], flappingNodes=3)
    for query, wanted in (
        ({"cause": "EXIT CODE 7"}, {"trouble": 4}),
        ({"cause": "broken", "flapping": "true"}, {"trouble": 1}),
    ):
        show_pool(page, pools, **query)
        drawn = page.locator("path[data-cells-of]:not(.unwanted)")
        expect(drawn).to_have_count(len(wanted))
        assert {each.get_attribute("data-cells-of"): each.get_attribute("data-number") for each in drawn.all()} == {
            kind: str(number) for kind, number in wanted.items()
        }
    expect(section(page, "node-map")).to_contain_text("The map can't highlight 3 nodes with rarer causes")
    page.set_viewport_size({"width": 1300, "height": TALL})
    expect(rows(page)).to_have_count(1)
    assert rows(page).locator(".why").evaluate("cell => getComputedStyle(cell).display") == "table-cell"


@pytest.mark.parametrize(
    ("state", "words"), [("creating", "not yet: the node is being created"), ("unknown", "not reported")]
)
def test_a_node_that_nobody_saw_says_so(page: Page, pools: Canned, state: str, words: str) -> None:
    pools.nodes[0] |= {"state": state, "lastSeen": None}
    show_pool(page, pools, node=FIRST)
    expect(page.get_by_role("dialog")).to_contain_text(f"Last seen by Batch{words}")


def test_a_node_shows_its_cause_and_links_to_its_tasks(page: Page, pools: Canned) -> None:
    run = {"state": "completed", "result": "failure", "exitCode": 7, "startTime": pools.nodes[0]["lastBootTime"],
           "endTime": pools.nodes[0]["stateTransitionTime"], "retryCount": 2, "failureCategory": "userError",
           "failureCode": "FailureExitCode", "failureMessage": "The task exited with an exit code."}  # fmt: skip
    recent = [{"job": "render", "task": "frame-00", "state": "running"}]
    errors = [{"code": "DiskFull", "message": "No space is left, sig=[redacted]"}]
    pools.nodes[0] |= {"cause": FAILED, "startTaskInfo": run, "recentTasks": recent, "errors": errors}
    pools.jobs, pools.live = {"demo": [job("render")]}, {"frame-00": live_task("frame-00")}
    show_pool(page, pools, node=FIRST)
    panel = page.get_by_role("dialog")
    expect(panel.get_by_test_id("node-cause")).to_have_text(FAILED)
    expect(panel.get_by_test_id("start-task")).to_contain_text(re.compile("Exit code7Retries2"))
    expect(panel.get_by_test_id("node-errors")).to_contain_text("DiskFull No space is left, sig=redacted")
    panel.get_by_role("link", name="frame-00").click()
    expect(page).to_have_url(re.compile(r"\?account=demo&job=render&task=frame-00$"))
    expect(page.get_by_role("dialog").locator("[data-field=commandLine]")).to_contain_text("--scene opening.blend")
    page.go_back()
    expect(page.get_by_role("dialog")).to_contain_text(FIRST)


def test_recent_tasks_older_than_the_node_are_shown_with_their_time(page: Page, pools: Canned) -> None:
    recent = [{"job": "render", "task": "frame-00", "state": "preparing"}]
    first, second = pools.nodes[0], pools.nodes[1]
    first |= {"recentTasks": recent, "recentTasksAsOf": stamp(300), "asOf": stamp(2)}
    show_pool(page, pools, node=first["id"])
    expect(page.get_by_role("dialog")).to_contain_text("Recent tasks, as of 5 min ago")
    expect(page.get_by_test_id("recent-tasks")).to_have_text("frame-00 of render, at that time preparing")
    second |= {"recentTasks": [], "recentTasksAsOf": stamp(300), "asOf": stamp(2), "runningTasks": 2}
    show_pool(page, pools, node=second["id"])
    nothing = page.get_by_test_id("no-recent-tasks")
    expect(nothing).to_have_text("No tasks were known at that time; the node has run tasks since.")
    first |= {"recentTasksAsOf": first["asOf"]}
    show_pool(page, pools, node=first["id"])
    expect(page.get_by_test_id("recent-tasks")).to_have_text("frame-00 of render, preparing")


def test_nodes_that_flap_can_be_picked_out(page: Page, pools: Canned) -> None:
    pools.nodes[3]["flapping"] = True
    fill(pools, pools.nodes, flappingNodes=1)
    show_pool(page, pools)
    expect(page.get_by_test_id("troubles")).to_contain_text("1 node flapping")
    section(page, "nodes").get_by_role("link", name="Flapping 1").click()
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("idle flapping")
    expect(page).to_have_url(re.compile("flapping=true$"))


def test_a_node_shows_its_history(page: Page, pools: Canned) -> None:
    past = [
        {"state": "running", "since": stamp(600), "until": None, "current": True},
        {"state": None, "since": stamp(700), "until": stamp(600), "current": False},
        {"state": "unusable", "since": stamp(4_300), "until": stamp(700), "current": False},
    ]
    found = interruptions(total=4, lastHour=1, lastDay=2, latest=stamp(300), unexplainedRestarts=3)
    pools.nodes[0] |= {"history": past, "historyComplete": False, "flapping": True, "flaps": 3, "interruptions": found}
    show_pool(page, pools, node=FIRST)
    expect(page.get_by_test_id("flapping")).to_have_text("Flapping: entered a bad state 3 times within an hour.")
    expect(page.get_by_role("dialog")).to_contain_text(
        "1 interruption in the last hour, 2 in the last day, 4 in total since the first poll 1 d ago;"
        " latest 5 min ago; up to 3 more may have been missed"
    )
    entries = page.get_by_test_id("past").locator("li")
    expect(entries).to_have_text(
        [re.compile("running"), re.compile("no poll recorded.*for 1 min 40 s"), re.compile("for 1 h$")]
    )
    zone = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    expect(page.get_by_role("dialog")).to_contain_text(f"; times in {zone}")
    expect(page.get_by_role("dialog")).to_contain_text("Some states may be missing")


def test_interrupted_running_states_are_merged_but_bad_states_are_not(page: Page, pools: Canned) -> None:
    states = ["running", None, "running", None, "running", "unusable", None, "unusable", "idle"]
    pools.nodes[0]["history"] = [
        {"state": state, "since": stamp(60 * at + 60), "until": stamp(60 * at) if at else None, "current": not at}
        for at, state in enumerate(states)
    ]
    show_pool(page, pools, node=FIRST)
    entries = page.get_by_test_id("past").locator("li")
    expect(entries).to_have_text(
        [
            re.compile(r"running\s*with 2 interruptions that no poll recorded"),
            re.compile("unusable.*for 1 min$"),
            re.compile("states that no poll recorded.*for 1 min$"),
            re.compile("unusable.*for 1 min$"),
            re.compile("idle.*for 1 min$"),
        ]
    )
    began = page.evaluate("at => new Date(at).getMinutes()", pools.nodes[0]["history"][4]["since"])
    expect(entries.first.locator("small")).to_have_text(re.compile(f":{began:02}:\\d\\d$"))


def test_a_node_that_polls_no_longer_read_is_stale(page: Page, pools: Canned) -> None:
    pools.nodes[0]["level"] = "stale"
    show_pool(page, pools, node=FIRST)
    expect(page.get_by_test_id("node-level")).to_contain_text("Stale: no poll has read this node since then")
    show_pool(page, pools, node=pools.nodes[1]["id"])
    expect(page.get_by_test_id("node-state")).to_be_visible()
    expect(page.get_by_test_id("node-level")).to_have_count(0)


def test_a_node_that_was_never_preempted_says_so_in_few_words(page: Page, pools: Canned) -> None:
    pools.nodes[0] |= {"isDedicated": False, "interruptions": interruptions(total=0, lastHour=0, lastDay=0)}
    show_pool(page, pools, node=FIRST)
    expect(page.locator("[data-field=Interruptions] dd")).to_have_text(
        re.compile("^no interruptions since the first poll 1 d ago")
    )


def test_five_thousand_nodes_are_drawn_at_once_without_a_jump_and_are_one_table(page: Page, pools: Canned) -> None:
    page.add_init_script("delete window.showSaveFilePicker")
    fill(pools, [node(number, "running") for number in range(5_000)])
    show_pool(page, pools)
    chart = page.locator("svg[data-cells='5000']")
    expect(chart).to_be_visible()
    place, elements = chart.bounding_box(), page.locator("svg[data-cells] *").count()
    assert elements < 30
    fill(pools, [node(number, "idle" if number < 700 else "running") for number in range(5_000)])
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # as if the page became visible again
    expect(page.locator("path[data-cells-of=idle]")).to_have_attribute("data-number", "700")
    assert chart.bounding_box() == place
    chart.focus()
    page.keyboard.press("End")
    expect(page.locator(".tip")).to_contain_text(node(4_999)["id"])
    button = section(page, "nodes").get_by_role("button", name="Nodes as CSV")
    with page.expect_download() as download:
        button.click()
    assert len(download.value.path().read_text(encoding="utf-8").splitlines()) == 5_001
    page.get_by_role("link", name="Idle 700").click()
    expect(section(page, "nodes").get_by_role("link", name="Nodes as CSV")).to_be_visible()


def test_a_table_of_nodes_of_a_cause_that_is_a_part_of_others_has_them_all(page: Page, pools: Canned) -> None:
    page.add_init_script("delete window.showSaveFilePicker")
    causes = ["Broken.", *1_100 * ["Broken. It is being tried again."]]
    fill(pools, [node(number, "starttaskfailed", cause=cause) for number, cause in enumerate(causes)])
    show_pool(page, pools, cause="Broken.")
    with page.expect_download() as download:
        section(page, "nodes").get_by_role("button", name="Nodes as CSV").click()
    assert len(download.value.path().read_text(encoding="utf-8").splitlines()) == 1_102
