"""What kept outputs of failed tasks say, below each cause of a job's failures, with a canned API."""

import re
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_events import event
from tests.e2e.canned.canned_job import NODES, failure_group, failures, live_task, output_group
from tests.e2e.canned.canned_values import stamp
from tests.e2e.canned.job_page import part, show
from tests.e2e.canned.pool_page import FAINT_TEXT

HOSTILE = "<img src=x onerror=document.title='broken'>\N{RIGHT-TO-LEFT OVERRIDE} &amp; {{1}}"
TRACEBACK = [f'  File "/mnt/batch/tasks/step{number}.py", line {number}, in load' for number in range(6)]
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")


@pytest.fixture
def explained(render: Canned) -> Canned:
    """Returns the canned job, with 9 kept outputs of the 312 tasks of a cause."""
    outputs = [
        output_group("module", "ModuleNotFoundError: No module named 'scenes'", 4, *TRACEBACK, advice="Install it."),
        output_group("disk", "OSError: No space left on device: …", 2, "writing", "OSError: No space left on device"),
        *(output_group(name, f"ValueError in {name}", 1) for name in ("a", "b")),
    ]
    killed = failure_group("killed", 312, kept=9, outputs=outputs)
    render.parts["failures"] = failures(killed, failure_group("other", 7, exitCode=2))
    render.live["frame-01"] = live_task("frame-01")
    return render


def outputs_of(page: Page, group: str) -> Locator:
    return part(page, "failures").locator(f"[data-outputs-of={group}]")


def test_a_cause_says_what_its_kept_outputs_say_and_that_they_are_a_sample(page: Page, explained: Canned) -> None:
    show(page, explained)
    found = outputs_of(page, "killed")
    expect(found.get_by_role("heading", level=4)).to_have_text(
        "What they wrote last 9 kept, a sample of 312 failed tasks"
    )
    titles = found.get_by_role("heading", level=5)
    expect(titles.first).to_have_text("ModuleNotFoundError: No module named 'scenes'")
    module, disk = (found.locator(f"[data-output={name}]") for name in ("module", "disk"))
    expect(module).to_contain_text("4 of 9 kept outputs, on at least 2 nodes, since ")
    expect(disk).to_contain_text("2 of 9 kept outputs, on 2 nodes, since ")
    expect(module).to_contain_text("Install it.")
    expect(disk.locator("pre")).to_have_text("writing\nOSError: No space left on device")
    expect(found).to_contain_text("Not listed: 1 more kept output with rarer messages.")


def test_long_excerpts_and_rarer_messages_unfold_by_keyboard(page: Page, explained: Canned) -> None:
    show(page, explained)
    found = outputs_of(page, "killed")
    expect(found.locator("pre:visible")).to_have_count(2)
    for summary in ("6 lines of the first example", "1 rarer message"):
        found.get_by_text(summary).focus()
        page.keyboard.press("Enter")
    expect(found.locator("pre:visible")).to_have_count(4)
    expect(found.locator("[data-output=module] pre")).to_have_text("\n".join(TRACEBACK))
    expect(found.locator("[data-output=b]")).to_contain_text("1 of 9 kept outputs")


def test_what_was_unfolded_stays_so_when_the_groups_are_read_again(page: Page, explained: Canned) -> None:
    page.clock.install()
    show(page, explained)
    page.clock.run_for(2_000)
    found = outputs_of(page, "killed")
    found.get_by_text("6 lines of the first example").click()
    explained.parts["failures"]["groups"][0]["count"] = 313
    with page.expect_response(re.compile("/failures")):
        page.clock.run_for(11_000)
    expect(found).to_contain_text("a sample of 313 failed tasks")
    expect(found.locator("[data-output=module] pre")).to_be_visible()


def test_the_first_and_the_newest_example_lead_to_their_tasks(page: Page, explained: Canned) -> None:
    show(page, explained)
    disk = outputs_of(page, "killed").locator("[data-output=disk]")
    expect(disk.locator(".shown-by")).to_have_text(re.compile(r"^First: frame-00, .*:\d\dNewest: frame-01, .*:\d\d$"))
    disk.get_by_role("link", name="frame-01").click()
    expect(page).to_have_url(re.compile("task=frame-01$"))
    expect(page.get_by_role("dialog").get_by_test_id("outcome")).to_be_visible()
    page.keyboard.press("Escape")
    expect(disk.get_by_role("link", name="frame-01")).to_be_focused()
    expect(outputs_of(page, "killed").locator("[data-output=a] .shown-by")).to_have_text(
        re.compile("^Example: frame-00, ")
    )


def test_the_tasks_and_nodes_of_a_message_unfold(page: Page, explained: Canned) -> None:
    show(page, explained)
    module = outputs_of(page, "killed").locator("[data-output=module]")
    module.get_by_text("4 tasks and where they ran").focus()
    page.keyboard.press("Enter")
    tasks, nodes = module.locator("dd").all()
    expect(tasks.get_by_role("link")).to_have_text(["frame-00", "frame-01", "frame-02", "frame-03"])
    expect(nodes.locator("span:has(> a)")).to_have_text([f"{node} 1 task" for node in NODES[:2]])
    expect(nodes).to_contain_text("2 tasks on other nodes")
    nodes.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(f"pool=render-d4s&node={NODES[0]}$"))


def test_tasks_out_of_memory_are_joined_to_the_kills_of_their_nodes(page: Page, explained: Canned) -> None:
    killed = output_group("memory", "Killed", 4, failureCategory="outOfMemory")
    explained.parts["failures"]["groups"][0]["outputs"] = [killed]
    kill = event(1, kind="node.oom_kill", jobId="render", time=stamp(300))
    explained.events = [kill | {"taskId": name} for name in ("frame-01", "frame-03", "another")]
    show(page, explained)
    found = outputs_of(page, "killed").locator("[data-output=memory]")
    expect(found.get_by_test_id("oom-kills")).to_have_count(0)
    found.get_by_text("4 tasks and where they ran").click()
    kills = found.get_by_test_id("oom-kills")
    expect(kills).to_contain_text("The kernel killed processes of 2 of these 4 tasks for lack of memory.")
    kills.get_by_role("link", name="OOM kills of the job").click()
    expect(page).to_have_url(re.compile(r"view=events&account=demo&.*kind=node\.oom_kill"))


def test_a_cause_without_kept_outputs_has_no_word_of_them(page: Page, explained: Canned) -> None:
    show(page, explained)
    expect(part(page, "failures").locator("tr[data-group]")).to_have_count(2)
    expect(part(page, "failures").locator("tbody tr")).to_have_count(3)
    expect(outputs_of(page, "killed")).to_have_count(1)


def test_where_all_outputs_are_kept_they_are_no_sample(page: Page, render: Canned) -> None:
    render.parts["failures"] = failures(failure_group("killed", 2, kept=2, outputs=[output_group("x", "Killed", 2)]))
    show(page, render)
    expect(outputs_of(page, "killed").get_by_role("heading", level=4)).to_have_text("What they wrote last 2 kept")


def test_outputs_are_text_and_never_markup(page: Page, render: Canned) -> None:
    output = output_group(
        "x", HOSTILE, 1, HOSTILE, advice=HOSTILE, first={"taskId": HOSTILE, "endTime": "2026-11-30T10:00:00Z"}
    )
    render.parts["failures"] = failures(
        failure_group("killed", 1, kept=1, outputs=[output | {"newest": output["first"]}])
    )
    show(page, render)
    found = outputs_of(page, "killed")
    shown = HOSTILE.replace("\N{RIGHT-TO-LEFT OVERRIDE}", "\N{REPLACEMENT CHARACTER}")
    expect(found.get_by_role("heading", level=5)).to_have_text(shown)
    expect(found.locator("pre")).to_have_text(shown)
    expect(found.get_by_role("link")).to_have_text(shown)
    assert page.locator("main img").count() == 0
    assert page.title() != "broken"


@pytest.mark.parametrize("width", [420, 768, 1440])
def test_long_lines_stay_within_their_box(page: Page, explained: Canned, width: int) -> None:
    group = explained.parts["failures"]["groups"][0]
    group["outputs"] = [
        output_group("long", "x" * 160, 9, "y" * 240, first={"taskId": "t" * 64, "endTime": "2026-11-30T10:00:00Z"})
    ]
    page.set_viewport_size({"width": width, "height": 900})
    show(page, explained)
    expect(outputs_of(page, "killed").locator("pre")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    frame, box = part(page, "failures").bounding_box(), outputs_of(page, "killed").locator("pre").bounding_box()
    assert frame is not None
    assert box is not None
    assert frame["x"] <= box["x"]
    assert box["x"] + box["width"] <= frame["x"] + frame["width"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_outputs_are_legible_in_either_scheme(page: Page, explained: Canned, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    show(page, explained)
    outputs_of(page, "killed").get_by_text("1 rarer message").click()
    expect(outputs_of(page, "killed").locator("[data-output=b]")).to_be_visible()
    assert page.evaluate(FAINT_TEXT) == []
