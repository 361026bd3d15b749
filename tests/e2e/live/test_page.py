"""The dashboard on the real stack: data from Batch arrives on the page unchanged and without a reload."""

import json
import re
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from azure.batch import BatchClient, models
from azure.core.credentials import AzureNamedKeyCredential
from playwright.sync_api import Page, expect

from local.prove.stack.api import call
from tests.e2e.live.stack import RunningStack

HOSTILE = "<img src=x onerror=document.title='broken'>\"'&amp; {{1}} ${1}"
SOON = 30_000


def jobs_of(stack: RunningStack) -> dict[str, dict[str, Any]]:
    with urllib.request.urlopen(f"{stack.api}/accounts/{stack.account.name}/jobs", timeout=10) as response:  # noqa: S310
        return {job["id"]: job for job in json.load(response)["value"]}


def test_a_job_shows_its_pool_state_and_total(stack: RunningStack, page: Page) -> None:
    page.goto(stack.dashboard)
    row = page.locator('[data-job="wind-tunnel"]')
    expect(row.locator("[data-count=total]")).to_contain_text("300", timeout=SOON)
    expect(row.locator(".pool")).to_have_text("cfd-hb120")
    expect(row.locator(".state")).to_have_text("active")


def test_the_accounts_tile_keeps_updating(stack: RunningStack, page: Page) -> None:
    page.goto(stack.dashboard)
    succeeded = page.get_by_test_id("tasks-succeeded")
    expect(succeeded).to_have_text(re.compile(r"^[1-9]"), timeout=SOON)
    expect(succeeded).not_to_have_text(succeeded.inner_text(), timeout=SOON)
    expect(page.get_by_test_id("round")).to_contain_text("Last poll:")


def test_the_filter_of_the_address_is_the_apis(stack: RunningStack, page: Page) -> None:
    page.goto(f"{stack.dashboard}?state=active&prefix=WIND")
    expect(page.locator("tr[data-job]")).to_have_count(1, timeout=SOON)
    expect(page.locator("tr[data-job]")).to_have_attribute("data-job", "wind-tunnel")


def test_a_hostile_display_name_is_shown_as_text(stack: RunningStack, page: Page) -> None:
    credential = AzureNamedKeyCredential(stack.account.name, stack.account.key)
    with BatchClient(stack.emulator, credential) as client:
        pool = models.BatchPoolInfo(pool_id="cfd-hb120")
        client.create_job(models.BatchJobCreateOptions(id="hostile", display_name=HOSTILE, pool_info=pool))
    page.goto(stack.dashboard)
    expect(page.locator("[data-job=hostile] .aside")).to_have_text(HOSTILE, timeout=SOON)
    assert page.locator("main img").count() == 0
    assert page.title() == "Batchscope"
    assert jobs_of(stack)["hostile"]["displayName"] == HOSTILE


def costs_of(stack: RunningStack) -> dict[str, Any]:
    """Has the usage of today rolled up until there is any, and returns the account's costs."""
    deadline = time.monotonic() + 60
    while True:
        call("POST", f"{stack.dashboard}admin/functions/housekeeping", {})
        found: dict[str, Any] = call("GET", f"{stack.api}/accounts/{stack.account.name}/cost")
        if found["value"]:
            return found
        assert time.monotonic() < deadline, "no usage was rolled up within a minute"
        time.sleep(2)


def test_costs_are_shown_by_every_grouping(stack: RunningStack, page: Page) -> None:
    groups = costs_of(stack)["value"]
    page.goto(f"{stack.dashboard}?view=cost")
    expect(page.get_by_test_id("cost-basis")).to_contain_text("not the bill", timeout=SOON)
    for group in groups:
        expect(page.locator(f"[data-group='{group['name']}']")).to_be_visible()
    expect(page.get_by_test_id("cost-tile").get_by_role("heading")).to_have_text(stack.account.name)
    groupings = page.get_by_role("navigation", name="Group by")
    for name in ("Job", "Schedule", "VM size", "Class", "Pool"):
        groupings.get_by_role("link", name=name).click()
        expect(groupings.locator("[aria-current]")).to_have_text(name)
        expect(page.locator("main .contents").first).to_have_attribute("aria-busy", "false")
        expect(page.get_by_test_id("cost-problem")).to_have_count(0)
        expect(page.get_by_test_id("cost-groups").locator("tbody tr").first).to_be_visible()


def awaited[T](seen: Callable[[], T | None], seconds: float, what: str) -> T:
    """Returns what is seen at last."""
    deadline = time.monotonic() + seconds
    while (found := seen()) is None:
        assert time.monotonic() < deadline, f"{what} wasn't seen within {seconds:g} s"
        time.sleep(1)
    return found


def test_a_nodes_panel_shows_the_last_lines_of_its_failed_start_task_and_its_files(
    stack: RunningStack, page: Page
) -> None:
    nodes = f"{stack.api}/accounts/{stack.account.name}/pools/cfd-hb120/nodes"

    def failed() -> str | None:
        found = page.request.get(nodes).json().get("value", [])  # an error while the pool isn't known
        return next((node["id"] for node in found if node["state"] == "starttaskfailed"), None)

    name = awaited(failed, 60, "a start task that failed")
    written = page.request.get(f"{nodes}/{name}/files/startup/stderr.txt").text().splitlines()
    assert "".join(written)
    page.goto(f"{stack.dashboard}?account={stack.account.name}&pool=cfd-hb120&node={name}")
    panel = page.get_by_role("dialog")
    last = panel.get_by_label("Last lines of stderr.txt", exact=True)
    expect(last).to_have_text("\n".join(written[-12:]), timeout=SOON)
    panel.locator(".node-files summary").click()
    panel.get_by_role("button", name="startup/").click(timeout=SOON)
    panel.get_by_role("button", name="stderr.txt", exact=True).click(timeout=SOON)
    expect(panel.get_by_test_id("open-file").locator(".log")).to_have_text("\n".join(written), timeout=SOON)


def fail_a_task(client: BatchClient, name: str, words: str) -> None:
    """Runs a task that fails with some last words, in a job and on a node of its own."""
    client.create_pool(models.BatchPoolCreateOptions(id=name, vm_size="standard_d2s_v5", target_dedicated_nodes=1))
    client.create_job(models.BatchJobCreateOptions(id=name, pool_info=models.BatchPoolInfo(pool_id=name)))
    client.create_task(
        name, models.BatchTaskCreateOptions(id="broken", command_line=f"sh -c 'echo {words} >&2; exit 3'")
    )


def test_a_failed_tasks_last_words_are_on_its_page_after_its_node_has_gone(stack: RunningStack, page: Page) -> None:
    name, words = "short-lived", "no room left for the last scene"
    task = f"{stack.api}/accounts/{stack.account.name}/jobs/{name}/tasks/broken"

    def kept() -> str | None:
        found = page.request.get(f"{task}/output")
        return found.json()["stderr"]["text"] if found.ok else None  # the job isn't known at first

    def gone() -> str | None:
        return page.request.get(f"{task}/files/stderr.txt").headers.get("batchscope-kept-at")

    with BatchClient(stack.emulator, AzureNamedKeyCredential(stack.account.name, stack.account.key)) as client:
        fail_a_task(client, name, words)
        assert awaited(kept, 300, "the kept output") == f"{words}\n"
        nodes = [node.id for node in client.list_nodes(name)]
        client.begin_remove_nodes(name, models.BatchNodeRemoveOptions(node_ids=nodes))
        awaited(gone, 120, "a file that is only kept")
    page.goto(f"{stack.dashboard}?account={stack.account.name}&job={name}&task=broken")
    panel = page.get_by_role("dialog")
    shown = panel.locator("[data-output='stderr.txt'][data-kept]")
    expect(shown.get_by_label("Last lines of stderr.txt", exact=True)).to_have_text(words, timeout=SOON)
    expect(shown.locator("h4 small")).to_have_text(re.compile(r"^kept \d+ \w+, \d\d:\d\d$"))
    shown.get_by_role("button", name="Open stderr.txt").click()
    opened = panel.get_by_test_id("open-file")
    expect(opened.locator(".log")).to_have_text(words, timeout=SOON)
    expect(opened.get_by_role("button", name="Follow")).to_have_count(0)


def test_the_page_of_the_api_fits_a_narrow_screen(stack: RunningStack, page: Page) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    page.goto(f"{stack.api}/docs")
    expect(page.get_by_role("heading", name="Types")).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_real_server_sends_policy_and_cache_headers(stack: RunningStack, page: Page) -> None:
    """The policy allows only own files, unchanged lists cost no body, and files with a hash may be cached for ever."""
    statuses: list[int] = []
    page.on("response", lambda answer: statuses.append(answer.status) if "/api/" in answer.url else None)
    with page.expect_response(lambda answer: answer.url.endswith(".js")) as script:
        answer = page.goto(stack.dashboard)
    assert answer is not None
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "immutable" in script.value.headers["cache-control"]
    page.wait_for_timeout(5_000)
    assert set(statuses) <= {200, 304}
