"""Files of a node on its panel, with a canned API: those of its start task first, all of them folded."""

import re
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_pool import node
from tests.e2e.canned.pool_page import FAILED, FAINT_TEXT

FIRST = node(0)["id"]
SOON = 20_000
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")


def run(**changes: Any) -> dict[str, Any]:
    return {
        "state": "completed",
        "result": "success",
        "exitCode": 0,
        "startTime": "2026-11-30T10:00:00Z",
        "endTime": "2026-11-30T10:01:00Z",
        "retryCount": 0,
        "failureCategory": None,
        "failureCode": None,
        "failureMessage": None,
    } | changes


def failed_run(**changes: Any) -> dict[str, Any]:
    return run(result="failure", exitCode=7, failureCategory="userError", failureCode="FailureExitCode") | changes


def kept_output(stderr: str) -> dict[str, Any]:
    """Returns the answer on a run whose `stderr` was kept, but no stdout."""
    nothing = {"text": None, "size": None, "offset": None, "reason": "FileNotFound", "message": "It was empty."}
    text = nothing | {"text": stderr, "size": len(stderr), "offset": 0, "reason": None, "message": None}
    return {"keptTime": "2026-11-30T10:02:00Z", "stderr": text, "stdout": nothing}


@pytest.fixture
def started(pools: Canned) -> Canned:
    """Returns the canned pool, whose first node's start task has succeeded."""
    pools.nodes[0]["startTaskInfo"] = run()
    return pools


@pytest.fixture
def broken(pools: Canned) -> Canned:
    """Returns the canned pool, whose first node's start task has failed."""
    pools.nodes[0] |= {"state": "starttaskfailed", "cause": FAILED, "startTaskInfo": failed_run()}
    return pools


def asked_files(canned: Canned) -> list[str]:
    """Returns the requested paths of files, after the node's own."""
    return [path.partition("/files")[2] for path in canned.asked if "/files" in path]


def panel(page: Page, canned: Canned) -> Locator:
    """Opens the first node's panel; parts of the page behind it that are out of sight aren't read."""
    page.goto(f"{canned.url}/?account=demo&pool=render-d4s&node={FIRST}")
    expect(page.get_by_test_id("node-state")).to_be_visible(timeout=SOON)
    return page.get_by_role("dialog")


def test_files_are_folded_below_all_else_and_read_once_unfolded(page: Page, started: Canned) -> None:
    shown = panel(page, started)
    page.wait_for_timeout(500)
    assert asked_files(started) == []
    assert shown.locator(".inner > :last-child").get_attribute("class") == "node-files"
    shown.locator(".node-files summary").focus()
    page.keyboard.press("Enter")
    expect(shown.get_by_test_id("files").locator("tr[data-file]")).to_have_count(2)
    assert asked_files(started) == [""]
    for name in ("workitems/", "render/", "job-1/", "frame-00012/", "stdout.txt"):
        shown.get_by_role("region", name="Files on the node").get_by_role("button", name=name, exact=True).click()
    expect(shown.get_by_test_id("open-file").locator(".log")).to_have_text("frame 12")


def test_the_output_of_a_start_task_is_one_click_away(page: Page, started: Canned) -> None:
    shown = panel(page, started)
    shown.get_by_test_id("start-task").get_by_role("button", name="Open stdout.txt").click()
    opened = shown.get_by_test_id("open-file")
    expect(opened.locator(".log")).to_have_text("installing")
    expect(opened).to_be_in_viewport()
    expect(shown.locator("tr[data-open=true]")).to_have_attribute("data-file", "startup/stdout.txt")
    expect(shown.get_by_test_id("last-lines")).to_have_count(0)
    shown.get_by_test_id("start-task").get_by_role("button", name="Open stderr.txt").click()
    expect(opened.locator(".log")).to_have_text(re.compile("Could not resolve host"))


def test_a_file_that_is_folded_away_is_read_no_more(page: Page, started: Canned) -> None:
    page.clock.install()
    shown = panel(page, started)
    page.clock.run_for(2_000)
    shown.get_by_role("button", name="Open stdout.txt").click()
    shown.get_by_role("button", name="Follow").click()
    with page.expect_response(re.compile(r"stdout\.txt\?offset=")):
        page.clock.run_for(6_000)
    shown.locator(".node-files summary").click()
    expect(shown.get_by_test_id("open-file")).to_have_count(0)
    number = len(asked_files(started))
    page.clock.run_for(30_000)
    assert len(asked_files(started)) == number
    shown.get_by_role("button", name="Open stdout.txt").click()
    expect(shown.get_by_test_id("open-file").locator(".log")).to_have_text("installing")


def test_a_failed_start_task_shows_the_last_lines_of_its_output(page: Page, broken: Canned) -> None:
    shown = panel(page, broken)
    lines = shown.get_by_label("Last lines of stderr.txt", exact=True)
    expect(lines).to_have_text("fetching\ncurl: (6) Could not resolve host: scenes.example.org")
    expect(shown.get_by_label("Last lines of stdout.txt", exact=True)).to_have_text("installing")
    assert sorted(asked_files(broken)) == ["/startup/stderr.txt?tail=8192", "/startup/stdout.txt?tail=8192"]
    shown.get_by_test_id("last-lines").get_by_role("button", name="Open stderr.txt").click()
    expect(shown.get_by_test_id("open-file").locator("h5")).to_have_text("startup/stderr.txt")
    expect(shown.get_by_test_id("open-file")).to_be_in_viewport()


def test_the_last_lines_are_those_of_the_latest_run(page: Page, broken: Canned) -> None:
    page.clock.install()
    panel(page, broken)
    page.clock.run_for(2_000)
    lines = page.get_by_label("Last lines of stderr.txt", exact=True)
    expect(lines).to_contain_text("Could not resolve host")
    broken.node_files["startup/stderr.txt"] = b"No space left on device\n"
    page.clock.run_for(6_000)
    expect(lines).to_contain_text("Could not resolve host")
    broken.nodes[0]["startTaskInfo"] = failed_run(startTime="2026-11-30T11:00:00Z", retryCount=1)
    page.clock.run_for(6_000)
    expect(lines).to_have_text("No space left on device")


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (403, "Files aren't shown here: the setting FILE_READERS is `nobody`."),
        (404, "There are no files of the node: it was removed, and its files with it (NodeNotFound)."),
        (409, "The account 'demo' is switched off, so nothing is read from Batch."),
    ],
)
def test_why_a_nodes_files_cant_be_read_is_said_in_the_apis_words(
    page: Page, broken: Canned, status: int, sentence: str
) -> None:
    broken.broken = {"files": (status, sentence)}
    shown = panel(page, broken)
    shown.locator(".node-files summary").click()
    reasons = shown.get_by_test_id("unreadable").locator("span").filter(has_text="can't be read")
    expect(reasons).to_have_text(
        [f"The output can't be read. {sentence}", f"The list of files can't be read. {sentence}"]
    )
    broken.broken = {}
    shown.get_by_role("button", name="Retry: The output").click()
    expect(shown.get_by_label("Last lines of stderr.txt", exact=True)).to_be_visible()
    shown.get_by_role("button", name="Retry: The list of files").click()
    expect(shown.get_by_test_id("files")).to_be_visible()


@pytest.mark.parametrize("status", [404, 409])
def test_kept_lines_of_a_failed_start_task_are_shown_where_its_files_cant_be_read(
    page: Page, broken: Canned, status: int
) -> None:
    start = "2026-11-30T10:00:00+00:00"
    broken.nodes[0]["startTaskInfo"] = failed_run(startTime=start)
    broken.kept_starts = {start: kept_output("curl: (6) Could not resolve host\n"), "": kept_output("another run\n")}
    broken.broken = {"files": (status, "The node was removed.")}
    shown = panel(page, broken).get_by_test_id("last-lines")
    kept = shown.locator("[data-kept]")
    expect(kept.locator("h4")).to_have_text(re.compile(r"^Last lines of stderr\.txt kept 30 Nov"), timeout=SOON)
    expect(kept.get_by_label("Last lines of stderr.txt", exact=True)).to_have_text("curl: (6) Could not resolve host")
    expect(shown.get_by_test_id("unreadable")).to_have_text(re.compile(r"^stdout\.txt can't be read\. The node was"))
    expect(shown).to_contain_text("It was empty.")


def test_why_nothing_was_kept_of_a_failed_start_task_is_said_beside_the_error(page: Page, broken: Canned) -> None:
    nothing = {"text": None, "size": None, "offset": None, "reason": "NotYet", "message": "It hasn't been read so far."}
    broken.kept_starts = {failed_run()["startTime"]: {"keptTime": None, "stderr": nothing, "stdout": nothing}}
    broken.broken = {"files": (404, "The node was removed.")}
    shown = panel(page, broken).get_by_test_id("last-lines")
    expect(shown).to_contain_text("The output can't be read. The node was removed.", timeout=SOON)
    expect(shown).to_contain_text("It hasn't been read so far.", timeout=SOON)


def test_nothing_kept_is_asked_for_while_the_files_can_be_read(page: Page, broken: Canned) -> None:
    shown = panel(page, broken)
    expect(shown.get_by_label("Last lines of stderr.txt", exact=True)).to_be_visible(timeout=SOON)
    expect(shown.get_by_label("Last lines of stdout.txt", exact=True)).to_be_visible(timeout=SOON)
    assert not [path for path in broken.asked if "/output" in path]


def test_of_a_run_without_a_start_no_other_runs_lines_are_shown(page: Page, broken: Canned) -> None:
    broken.nodes[0]["startTaskInfo"] = failed_run(startTime=None)
    broken.kept_starts = {"": kept_output("another run\n")}
    broken.broken = {"files": (404, "The node was removed.")}
    shown = panel(page, broken).get_by_test_id("last-lines")
    expect(shown).to_contain_text("The output can't be read.", timeout=SOON)
    page.wait_for_timeout(500)
    assert not [path for path in broken.asked if "/output" in path]


def test_a_node_without_a_start_task_has_only_its_folded_files(page: Page, pools: Canned) -> None:
    shown = panel(page, pools)
    expect(shown.locator(".node-files summary")).to_be_visible()
    expect(shown.get_by_test_id("start-task")).to_have_count(0)
    expect(shown.get_by_test_id("last-lines")).to_have_count(0)


@pytest.mark.parametrize("width", [420, 768, 1440])
def test_nothing_sticks_out_of_a_nodes_panel_with_files(page: Page, broken: Canned, width: int) -> None:
    broken.node_files["startup/stderr.txt"] = b"x" * 500 + b"\n"
    broken.node_files[f"startup/wd/{'y' * 120}"] = b"z" * 500
    page.set_viewport_size({"width": width, "height": 900})
    shown = panel(page, broken)
    shown.get_by_test_id("last-lines").get_by_role("button", name="Open stderr.txt").click()
    expect(shown.get_by_test_id("open-file").locator(".log")).to_be_visible()
    assert shown.evaluate("panel => panel.scrollWidth - panel.clientWidth") == 0
    shown.get_by_role("button", name="wd/").click()
    expect(shown.locator("tr[data-file]")).to_have_count(2)
    assert shown.evaluate("panel => panel.scrollWidth - panel.clientWidth") == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_files_of_a_node_are_legible_in_either_scheme(
    page: Page, broken: Canned, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    shown = panel(page, broken)
    shown.get_by_test_id("last-lines").get_by_role("button", name="Open stderr.txt").click()
    expect(shown.get_by_test_id("open-file").locator(".log")).to_be_visible()
    assert page.evaluate(FAINT_TEXT) == []
