"""A task's panel, with a canned API: its outcome, its output, its runs and files, and all properties last."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import live_task, task
from tests.e2e.canned.canned_telemetry import text
from tests.e2e.canned.job_page import show
from tests.e2e.jobs.test_task_telemetry import END, run

LONG = f"tvmps_{'3b44ee4f9e4adad1' * 4}_d"
SHORT = "tvmps_3b44ee4f\N{HORIZONTAL ELLIPSIS}dad1_d"


def asked_files(canned: Canned) -> list[str]:
    """Returns the requested paths of files, after the task's own."""
    return [path.partition("/files")[2] for path in canned.asked if "/files" in path]


def test_a_failed_task_begins_with_what_happened_and_its_last_lines(page: Page, render: Canned) -> None:
    show(page, render, task="frame-00")
    panel = page.get_by_role("dialog")
    outcome = panel.get_by_test_id("outcome")
    expect(outcome.locator(".result")).to_have_text("failed Exit code 137: SIGKILL, killed, often for lack of memory")
    expect(outcome).to_contain_text("Ran42 s")
    expect(outcome).to_contain_text("Retried 1 of at most 3 times")
    lines = panel.get_by_label("Last lines of stderr.txt", exact=True)
    expect(lines).to_have_text(re.compile(r"^epoch 29 done\n(.*\n)*MemoryError: unable to allocate 3.2 GiB$"))
    expect(panel.locator("[data-output='stdout.txt']")).to_contain_text("It is empty.")
    parts = panel.locator(".inner").evaluate("inner => [...inner.children].map(part => part.className)")
    kept = ["outcome", "last-lines", "telemetry", "files", "depends-on", "all-properties"]
    assert [name for name in parts if name in kept] == kept


def test_what_the_task_uploads_itself_is_linked_without_its_sas(page: Page, render: Canned) -> None:
    container = {"containerUrl": "https://logs.blob.core.windows.net/runs?sv=1&sig=[redacted]", "path": "a b/x"}
    files = [
        {
            "filePattern": "../std*.txt",
            "destination": {"container": container},
            "uploadOptions": {"uploadCondition": "taskFailure"},
        },
        {"filePattern": "*.log", "destination": {"container": {"containerUrl": "javascript:alert(1)"}}},
    ]
    render.live = {"frame-00": live_task("frame-00", outputFiles=files)}
    show(page, render, task="frame-00")
    entries = page.get_by_test_id("uploads").locator("li")
    place = "https://logs.blob.core.windows.net/runs/a%20b/x"
    expect(entries).to_have_text([f"../std*.txt to {place}, if it fails", "*.log to an unknown place, at its end"])
    assert [link.get_attribute("href") for link in entries.locator("a").all()] == [place]


def test_all_properties_are_folded_until_they_are_asked_for(page: Page, render: Canned) -> None:
    show(page, render, task="frame-00")
    setting = page.get_by_role("dialog").locator("[data-field=environmentSettings]")
    expect(setting).to_be_hidden()
    page.get_by_text("All properties of the task in Batch").click()
    expect(setting).to_be_visible()


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (404, "There are no files of the task: the node was removed, and its files with it (NodeNotFound)."),
        (403, "Files aren't shown here: the setting FILE_READERS is `nobody`."),
    ],
)
def test_why_files_cant_be_read_is_said_once_for_both_outputs(
    page: Page, render: Canned, status: int, sentence: str
) -> None:
    render.broken = {"files": (status, sentence)}
    show(page, render, task="frame-00")
    reasons = page.get_by_role("dialog").get_by_test_id("unreadable")
    expect(reasons).to_have_count(2)
    expect(reasons.first).to_contain_text(f"The output can't be read. {sentence}")
    expect(reasons.last).to_contain_text(f"The list of files can't be read. {sentence}")
    render.broken = {}
    reasons.first.get_by_role("button").click()
    expect(page.get_by_label("Last lines of stderr.txt", exact=True)).to_be_visible()


def test_kept_output_is_shown_where_the_files_are_gone(page: Page, render: Canned) -> None:
    nothing = {"text": None, "size": None, "offset": None, "reason": "empty", "message": "It was empty."}
    stderr = nothing | {"text": "cut line\nNo space left on device\n", "size": 70_000, "offset": 69_967}
    render.kept = {"frame-00": {"keptTime": "2026-03-01T10:00:00Z", "stderr": stderr, "stdout": nothing}}
    render.broken = {"files": (404, "The node was removed."), "task": (404, "There is no such task.")}
    show(page, render, task="frame-00")
    lines = page.get_by_test_id("last-lines")
    kept = lines.locator("[data-kept]")
    expect(kept).to_have_count(1)
    expect(kept.locator("h4")).to_have_text(re.compile(r"^Last lines of stderr\.txt kept 1 Mar"))
    expect(kept.get_by_label("Last lines of stderr.txt", exact=True)).to_have_text("No space left on device")
    expect(lines.get_by_test_id("unreadable")).to_have_text(re.compile(r"^stdout\.txt can't be read\. The node was"))
    expect(lines).to_contain_text("It was empty.")


def kept_output(**changes: Any) -> dict[str, Any]:
    stream = {"text": "old words\n", "size": 10, "offset": 0, "reason": None, "message": None}
    times = {"keptTime": "2026-03-01T10:00:05Z", "endTime": "2026-03-01T10:00:00Z", "latestRun": True}
    return {"stderr": stream, "stdout": stream} | times | changes


@pytest.mark.parametrize(
    ("begun", "known", "note"),
    [
        ("2026-03-01T09:59:00Z", {"latestRun": True}, "kept 1 Mar, 10:00"),
        ("2026-03-01T10:02:00Z", {"latestRun": True}, "kept 1 Mar, 10:00, of an earlier run"),
        ("2026-03-01T09:59:00Z", {"latestRun": False}, "kept 1 Mar, 10:00, of an earlier run"),
    ],
)
def test_output_that_was_kept_of_an_earlier_run_says_so(
    page: Page, render: Canned, begun: str, known: dict[str, bool], note: str
) -> None:
    execution = {"startTime": begun, "result": "success", "exitCode": 0, "retryCount": 0}
    render.live = {"frame-00": live_task("frame-00", exitCodeText=None, executionInfo=execution)}
    render.kept = {"frame-00": kept_output(**known)}
    render.broken = {"files": (404, "The node was removed.")}
    show(page, render, task="frame-00")
    expect(page.locator("[data-output='stderr.txt'] h4 small")).to_have_text(note)


def test_a_file_of_which_only_the_end_was_kept_is_no_live_one(page: Page, render: Canned, tmp_path: Path) -> None:
    lines = b"".join(b"step %d\n" % number for number in range(20_000))
    render.files["stderr.txt"] = b"x" * (20 << 20) + lines
    begin = len(render.files["stderr.txt"]) - 64 * 1024
    render.kept_file = ("2027-03-01T10:00:05Z", begin)
    show(page, render, task="frame-00")
    last = page.get_by_test_id("last-lines").locator("[data-output='stderr.txt']")
    expect(last.locator("h4 small")).to_have_text("kept 1 Mar, 10:00")
    last.get_by_role("button", name="Open stderr.txt").click()
    opened = page.get_by_test_id("open-file")
    expect(opened.get_by_role("status").first).to_have_text(
        "Kept 1 Mar, 10:00; Batch has the file no more. The last 64 KiB of 20.2 MiB."
    )
    for name in ("Follow", "Show earlier lines"):
        expect(opened.get_by_role("button", name=name)).to_have_count(0)
    with page.expect_download() as download:
        opened.get_by_role("link", name="Download what was kept of stderr.txt").click()
    download.value.save_as(tmp_path / "stderr.txt")
    assert (tmp_path / "stderr.txt").read_bytes() == render.files["stderr.txt"][begin:]


def test_a_followed_file_that_is_only_kept_from_now_on_is_asked_for_no_more(page: Page, render: Canned) -> None:
    render.files["stdout.txt"] = b"first\n"
    page.clock.install()
    show(page, render, task="frame-00")
    page.clock.run_for(2_000)
    page.locator("[data-file='stdout.txt'] button").click()
    opened = page.get_by_test_id("open-file")
    opened.get_by_role("button", name="Follow").click()
    expect(opened.locator(".log")).to_have_text("first")
    render.kept_file = ("2026-03-01T10:00:05Z", 0)
    with page.expect_response(re.compile(r"stdout\.txt\?offset=6&")):
        page.clock.run_for(6_000)
    expect(opened.get_by_role("status").first).to_contain_text("Batch has the file no more.")
    expect(opened).not_to_contain_text("new lines appear")
    number = len(asked_files(render))
    page.clock.run_for(30_000)
    assert len(asked_files(render)) == number


def test_why_nothing_was_kept_is_said_beside_the_error(page: Page, render: Canned) -> None:
    nothing = {"text": None, "size": None, "offset": None, "reason": "gone", "message": "Its node was gone too soon."}
    render.kept = {"frame-00": {"keptTime": None, "stderr": nothing, "stdout": nothing}}
    render.broken = {"files": (404, "The node was removed.")}
    show(page, render, task="frame-00")
    lines = page.get_by_test_id("last-lines")
    expect(lines).to_contain_text("The output can't be read. The node was removed.")
    expect(lines).to_contain_text("Its node was gone too soon.")


def test_a_task_that_has_not_run_asks_for_no_output(page: Page, render: Canned) -> None:
    render.live = {
        "frame-00": live_task("frame-00", state="active", exitCodeText=None, executionInfo={"retryCount": 0})
    }
    show(page, render, task="frame-00")
    expect(page.get_by_test_id("outcome")).to_contain_text("waiting for")
    expect(page.get_by_test_id("files")).to_be_visible()
    assert asked_files(render) == [""]


def test_files_are_browsed_by_folder_and_opened_at_their_end(page: Page, render: Canned) -> None:
    render.files["wd/train.log"] = b"".join(b"step %d\n" % number for number in range(20_000))
    show(page, render, task="frame-00")
    files = page.locator("[data-section=files]")
    files.get_by_role("button", name="wd/").click()
    expect(files.locator("tr[data-file]")).to_have_count(2)
    files.get_by_role("button", name="train.log").click()
    opened = files.get_by_test_id("open-file")
    expect(opened.get_by_role("status").first).to_contain_text("The last 64 KiB of 204 KiB.")
    expect(opened.locator(".log")).to_have_text(re.compile(r"^step 1[\s\S]*step 19999$"))
    opened.get_by_role("button", name="Show earlier lines").click()
    expect(opened.get_by_role("status").first).to_contain_text("The last 128 KiB of 204 KiB.")
    files.get_by_role("button", name="Top").click()
    expect(files.get_by_role("button", name="stderr.txt", exact=True)).to_be_visible()


def test_a_followed_file_grows_by_what_was_written_since(page: Page, render: Canned) -> None:
    render.files["stdout.txt"] = b"first\n"
    page.clock.install()
    show(page, render, task="frame-00")
    page.clock.run_for(2_000)
    page.locator("[data-file='stdout.txt'] button").click()
    opened = page.get_by_test_id("open-file")
    opened.get_by_role("button", name="Follow").click()
    expect(opened.locator(".log")).to_have_text("first")
    render.files["stdout.txt"] += b"second\n"
    with page.expect_response(re.compile(r"stdout\.txt\?offset=6&")):
        page.clock.run_for(6_000)
    expect(opened.locator(".log")).to_have_text("first\nsecond")
    render.broken = {"files": (404, "The node is gone.")}
    page.clock.run_for(6_000)
    expect(opened.get_by_test_id("unreadable")).to_contain_text("The node is gone.")
    number = len(asked_files(render))
    page.clock.run_for(30_000)
    assert len(asked_files(render)) == number


def test_a_file_that_is_no_text_is_only_downloaded(page: Page, render: Canned, tmp_path: Path) -> None:
    show(page, render, task="frame-00")
    files = page.locator("[data-section=files]")
    for name in ("wd/", "results/", "model.bin"):
        files.get_by_role("button", name=name).click()
    expect(files.get_by_test_id("open-file")).to_contain_text("The file is no text")
    with page.expect_download() as download:
        files.get_by_role("link", name="Download").click()
    download.value.save_as(tmp_path / "model.bin")
    assert (tmp_path / "model.bin").read_bytes() == render.files["wd/results/model.bin"]


def test_runs_before_the_latest_are_listed_and_have_charts(page: Page, render: Canned) -> None:
    before = {
        "poolId": "render-d4s",
        "nodeId": LONG,
        "startTime": text(END - timedelta(hours=5)),
        "endTime": text(END - timedelta(hours=4)),
        "retriedInternally": True,
    }
    latest = run(earlierRuns=2, runsBefore=[before])
    earlier = latest | {"startTime": before["startTime"], "endTime": before["endTime"], "nodeId": "tvmps_7"}
    render.telemetry = lambda query: earlier if query.get("run") == "1" else latest
    show(page, render, task="frame-00")
    rows = page.get_by_test_id("task-runs").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.last).to_contain_text("1 h")
    expect(rows.last).to_contain_text("restarted by Batch itself, not counted as a retry")
    expect(page.get_by_test_id("run")).to_contain_text("1 earlier run isn't shown.")
    rows.last.get_by_role("button", name="Charts").click()
    expect(page.get_by_test_id("run")).to_contain_text("Earlier run on node tvmps_7")
    expect(rows).to_have_count(2)


def test_dependencies_lead_to_their_tasks(page: Page, render: Canned) -> None:
    show(page, render, task="frame-00")
    depends = page.get_by_test_id("depends-on")
    expect(depends).to_contain_text("tasks 3 to 7")
    depends.get_by_role("link", name="scene-setup").click()
    expect(page).to_have_url(re.compile("task=scene-setup"))


def test_long_ids_are_shortened_and_copied_whole(page: Page, render: Canned) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    render.tasks = [task("frame-00", group="killed", nodeId=LONG)]
    show(page, render)
    row = page.locator("tr[data-task=frame-00]")
    expect(row.locator(".on")).to_contain_text(SHORT)
    row.get_by_role("button", name=f"Copy the id {LONG}").click()
    expect(row.get_by_role("status")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == LONG


@pytest.mark.parametrize("width", [420, 768, 1440])
def test_nothing_sticks_out_of_a_tasks_panel(page: Page, render: Canned, width: int) -> None:
    render.files["stdout.txt"] = b"x" * 500 + b"\n"
    render.live = {"frame-00": live_task("frame-00", nodeInfo={"poolId": LONG, "nodeId": LONG})}
    page.set_viewport_size({"width": width, "height": 900})
    show(page, render, task="frame-00")
    page.locator("[data-file='stdout.txt'] button").click()
    expect(page.get_by_test_id("open-file").locator(".log")).to_be_visible()
    assert page.get_by_role("dialog").evaluate("panel => panel.scrollWidth - panel.clientWidth") == 0
