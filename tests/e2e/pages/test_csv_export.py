"""Tables of more rows than one answer holds, as one file, with a canned API.

A headless browser can't let anybody choose a file. Without the picker parts are collected and downloaded; a picker of
the test's own chooses a file that is the browser's own, which is written in the same way.
"""

import csv
import io
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import task
from tests.e2e.canned.canned_values import counts, job
from tests.e2e.canned.job_page import part, show

TASKS = 250
PART = 100
NO_PICKER = "delete window.showSaveFilePicker"
PICKER = """
  window.showSaveFilePicker = async (asked) => {
    window.files = await navigator.storage.getDirectory();
    return files.getFileHandle(asked.suggestedName, { create: true });
  };
"""
FULL_DISK = """
  window.showSaveFilePicker = async () => {
    const write = () => { throw new DOMException("The disk is full.", "QuotaExceededError"); };
    const createWritable = async () => Object.assign(new WritableStream({ write }), { truncate: async () => {} });
    return { createWritable, getFile: async () => ({ size: 0 }) };
  };
"""
SAVED = "files.getFileHandle('render-tasks.csv').then((file) => file.getFile()).then((file) => file.text())"
NO_FILE = """async () => {
  for (let tries = 0; tries < 50; tries++) {
    if ((await Array.fromAsync(files.keys())).length === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}"""


@pytest.fixture
def large(render: Canned) -> Canned:
    """Returns a job that claims 250,000 tasks; it has 250, and an answer contains a hundred."""
    names = [f"größe-{at:03}" for at in range(TASKS)]
    render.tasks = [task(name, failureCode='two\r\nlines, "quoted"' if name.endswith("7") else None) for name in names]
    render.jobs["demo"] = [job("render", taskCounts=counts(succeeded=250_000))]
    render.page_size = PART
    return render


def ids(text: str) -> list[str]:
    """Returns the ids in a table; only its first line has headings."""
    found = [row[0] for row in csv.reader(io.StringIO(text, newline=""))]
    assert found[0] == "id"
    assert "id" not in found[1:]
    return found[1:]


def every(canned: Canned) -> list[str]:
    return [each["id"] for each in canned.tasks]


def asked(canned: Canned) -> list[str]:
    """Returns the first index of each requested table."""
    tables = [path for path in canned.asked if "format=csv" in path]
    return [(re.findall(r"continuation=(\d+)", path) or ["0"])[0] for path in tables]


def export(page: Page) -> Locator:
    return page.get_by_role("button", name="Tasks as CSV")


def status(page: Page) -> Locator:
    return part(page, "tasks").locator(".export[role=status]")


def downloaded(page: Page, button: Locator) -> str:
    with page.expect_download() as download:
        button.click()
    assert download.value.suggested_filename == "render-tasks.csv"
    return download.value.path().read_bytes().decode()


def hold(page: Page, continuation: int) -> list[Route]:
    """Holds requests for that part, and returns them."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(re.compile(rf"format=csv.*continuation={continuation}$"), keep)
    return held


def no_file_is_left(page: Page) -> None:
    assert page.evaluate(NO_FILE)


def fail(page: Page, continuation: int, **answer: Any) -> None:
    """Makes the next request for that part fail, or gives it this answer."""

    def once(route: Route) -> None:
        if answer:
            route.fulfill(**answer)
        else:
            route.abort()

    page.route(re.compile(rf"format=csv.*continuation={continuation}$"), once, times=1)


def test_a_table_of_many_parts_is_one_file(page: Page, large: Canned) -> None:
    page.add_init_script(NO_PICKER)
    show(page, large)
    text = downloaded(page, export(page))
    assert ids(text) == every(large)
    assert text.count('"two\r\nlines, ""quoted"""') == TASKS / 10
    assert asked(large) == ["0", "100", "200"]
    expect(status(page)).to_have_text("250 tasks saved")
    expect(export(page)).to_be_focused()


def test_a_table_of_many_parts_goes_into_the_chosen_file_as_it_comes(page: Page, large: Canned) -> None:
    page.add_init_script(PICKER)
    show(page, large)
    export(page).click()
    expect(status(page)).to_have_text("250 tasks saved")
    assert ids(page.evaluate(SAVED)) == every(large)


@pytest.mark.parametrize("way", [NO_PICKER, PICKER], ids=["downloaded", "chosen"])
def test_a_part_that_fails_is_read_again_and_none_before_it(page: Page, large: Canned, way: str) -> None:
    """It gets no answer at first, then a refusal, then an answer that breaks off in the middle."""
    page.add_init_script(way)
    show(page, large)
    fail(page, 200)
    export(page).click()
    problem, go_on = page.get_by_test_id("export-problem"), page.get_by_role("button", name="Resume the export")
    expect(problem).to_have_text("Export stopped after 200 of about 250,000 tasks. The server doesn't respond.")
    refusal = {"error": {"code": "Busy", "message": "Too many requests.", "target": None}}
    fail(page, 200, status=429, json=refusal, headers={"Retry-After": "7"})
    go_on.click()
    expect(problem).to_contain_text("Too many requests; try again in 7 s.")
    large.cut = 1
    go_on.click()
    expect(problem).to_contain_text("The connection was lost; resume the export.")
    expect(go_on).to_be_focused()
    if way == PICKER:
        go_on.click()
        expect(status(page)).to_have_text("250 tasks saved")
        text = page.evaluate(SAVED)
    else:
        text = downloaded(page, go_on)
    assert ids(text) == every(large)
    assert asked(large) == ["0", "100", "200", "200"]


def test_a_job_that_is_deleted_meanwhile_is_said_in_words(page: Page, large: Canned) -> None:
    page.add_init_script(PICKER)
    show(page, large)
    gone = {"error": {"code": "JobNotFound", "message": "There is no job 'render' here.", "target": None}}
    fail(page, 100, status=404, json=gone)
    export(page).click()
    expect(status(page)).to_have_text("Export stopped after 100 of about 250,000 tasks. There is no job 'render' here.")
    page.get_by_role("button", name="Discard the export").click()
    expect(status(page)).to_be_empty()
    expect(export(page)).to_be_focused()
    no_file_is_left(page)


def test_an_export_is_stopped_by_its_button_and_by_leaving(page: Page, large: Canned) -> None:
    page.add_init_script(PICKER)
    held = hold(page, 100)
    show(page, large)
    export(page).click()
    expect(status(page)).to_have_text("100 of about 250,000 tasks")
    page.get_by_role("button", name="Stop the export of tasks").click()
    expect(status(page)).to_be_empty()
    no_file_is_left(page)
    export(page).click()
    expect(status(page)).to_have_text("100 of about 250,000 tasks")
    page.get_by_role("link", name="Jobs").click()
    no_file_is_left(page)
    assert len(held) == 2


def test_other_filters_leave_an_export_alone(page: Page, large: Canned) -> None:
    page.add_init_script(PICKER)
    held = hold(page, 100)
    show(page, large)
    export(page).click()
    expect(status(page)).to_have_text("100 of about 250,000 tasks")
    page.get_by_role("link", name="failed 0").click()
    expect(part(page, "tasks")).to_contain_text("No task matches.")
    expect(status(page)).to_have_text("100 of about 250,000 tasks")
    held[0].continue_()
    expect(page.get_by_role("link", name="Tasks as CSV")).to_have_attribute("href", re.compile("result=failure"))
    expect(status(page)).to_have_text("250 tasks saved")
    assert ids(page.evaluate(SAVED)) == every(large)
    page.get_by_role("link", name="All 250,000").click()
    expect(status(page)).to_be_empty()


def test_a_file_that_nobody_chose_is_not_written(page: Page, large: Canned) -> None:
    page.add_init_script("window.showSaveFilePicker = async () => { throw new DOMException('no file', 'AbortError') }")
    show(page, large)
    export(page).click()
    expect(status(page)).to_be_empty()
    export(page).click()
    expect(export(page)).to_be_visible()
    assert asked(large) == []


def test_a_full_disk_is_said_in_words(page: Page, large: Canned) -> None:
    page.add_init_script(FULL_DISK)
    show(page, large)
    export(page).click()
    problem = page.get_by_test_id("export-problem")
    expect(problem).to_contain_text("The file can't be written: The disk is full.")
    page.get_by_role("button", name="Discard the export").click()
    expect(problem).to_be_hidden()


def test_an_unknown_total_of_exported_tasks_is_not_shown(page: Page, large: Canned) -> None:
    page.add_init_script(PICKER)
    page.route(re.compile("format=csv.*continuation=100"), lambda route: route.abort())
    show(page, large, prefix="g")
    export(page).click()
    expect(status(page)).to_contain_text("Export stopped after 100 tasks so far.")
