"""The whole stack with its demo running fast: counts equal the truth, and the page shows them moving."""

import csv
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
from azure.batch import BatchClient, models
from azure.core.credentials import AzureNamedKeyCredential
from playwright.sync_api import Page, Route, expect

from local.prove.stack.api import Stack
from local.prove.stack.truth import FIELDS, compare
from tests.e2e.live.brute_force import all_differences
from tests.e2e.live.listed import listed
from tests.e2e.live.stack import RunningStack


@pytest.fixture(scope="module")
def demo(stack: RunningStack) -> Stack:
    """Returns the stack once the largest job of its demo has thousands of tasks."""
    found = Stack(stack.api, stack.emulator, stack.account.name)
    deadline = time.monotonic() + 60
    while max((job["total"] for job in found.truth().values()), default=0) < 3_000:
        assert time.monotonic() < deadline, "the demo didn't start within a minute"
        time.sleep(0.5)
    return found


@pytest.fixture(scope="module")
def batch(stack: RunningStack) -> Iterator[BatchClient]:
    """The official client on the emulator."""
    with BatchClient(stack.emulator, AzureNamedKeyCredential(stack.account.name, stack.account.key)) as client:
        yield client


def test_counts_equal_the_truth_while_the_demo_runs(demo: Stack) -> None:
    for _ in range(5):
        time.sleep(1)
        demo.pause(paused=True)
        try:
            assert compare(demo) == []
        finally:
            demo.pause(paused=False)


def test_every_number_is_that_of_batchs_own_list(demo: Stack, batch: BatchClient) -> None:
    demo.pause(paused=True)
    try:
        assert demo.poll_all()["status"] == "succeeded"
        jobs = listed(demo, batch)
        assert any(task.result == "failure" for tasks in jobs.values() for task in tasks)
        assert all_differences(demo, jobs) == []
    finally:
        demo.pause(paused=False)


def test_every_event_that_the_emulator_logged_is_shown_once(demo: Stack) -> None:
    demo.pause(paused=True)
    try:
        expected = Counter(demo.control("GET", "log")[demo.account]["told"])
        deadline = time.monotonic() + 60
        while demo.get(f"/accounts/{demo.account}/ingestion")["events"] < expected.total():
            assert time.monotonic() < deadline, "the events didn't come in"
            time.sleep(0.5)
        shown, path = list[str](), f"/accounts/{demo.account}/events?maxpagesize=1000"
        while path:
            page = demo.get(path)
            shown += [event["kind"] for event in page["value"]]
            path = page.get("nextLink", "").partition("/api")[2]
        assert Counter(kind for kind in shown if not kind.startswith("condition.")) == expected
    finally:
        demo.pause(paused=False)


@dataclass(frozen=True, slots=True)
class DeletedJob:
    """A job that was deleted at a time, in seconds since 1970; its true counts, and its path in the API."""

    path: str
    tasks: int
    truth: Mapping[str, int]
    deleted_at: float


@pytest.fixture(scope="module")
def deleted_job(demo: Stack, batch: BatchClient) -> DeletedJob:
    """Returns a job of twelve tasks, of which a third failed in each of two ways; it was polled when it was deleted."""
    name, path = "to-be-deleted", f"/accounts/{demo.account}/jobs/to-be-deleted"
    pool = models.BatchPoolInfo(pool_id="analytics-d8s")
    batch.create_job(models.BatchJobCreateOptions(id=name, pool_info=pool, priority=1000))
    tasks = [models.BatchTaskCreateOptions(id=f"t-{at}", command_line=f"sleep 1; exit {at % 3}") for at in range(12)]
    batch.create_task_collection(name, models.BatchTaskGroup(task_values=tasks))
    deadline = time.monotonic() + 30
    while demo.truth()[name]["completed"] < len(tasks):
        assert time.monotonic() < deadline, "the job didn't end"
        time.sleep(0.2)
    truth = demo.truth()[name]
    demo.poll_all()
    batch.begin_delete_job(name).result()
    demo.poll_all()
    return DeletedJob(path, len(tasks), truth, time.time())


def test_a_deleted_job_still_shows_its_counts_and_failures(demo: Stack, deleted_job: DeletedJob) -> None:
    job, failures = demo.get(deleted_job.path), demo.get(f"{deleted_job.path}/failures")
    assert job["deleted"]
    assert job["taskCounts"] == {field: deleted_job.truth[field] for field in FIELDS}
    insight = job["insight"]
    assert (insight["runTime"]["tasks"], insight["estimate"]["completionTime"]) == (deleted_job.tasks, None)
    assert [(group["exitCode"], group["count"]) for group in failures["groups"]] == [(1, 4), (2, 4)]


def test_the_page_shows_every_job_and_keeps_updating(demo: Stack, stack: RunningStack, page: Page) -> None:
    page.goto(stack.dashboard)
    row = page.locator('[data-job="render-feature-film"]')
    expect(row).to_be_visible(timeout=15_000)
    expect(row.locator("[data-count=total]")).to_contain_text(re.compile(r"\d+,\d{3}"))
    expect(row.locator("[data-level]")).to_have_attribute("data-level", "exact", timeout=30_000)
    before = row.inner_text()
    page.wait_for_function(
        "text => document.querySelector('[data-job=\"render-feature-film\"]').innerText !== text",
        arg=before,
        timeout=20_000,
    )
    shown = {element.get_attribute("data-job") for element in page.locator("[data-job]").all()}
    assert "render-feature-film" in shown
    assert len(shown) >= 4


def test_the_page_puts_the_parts_of_a_table_together(demo: Stack, stack: RunningStack, page: Page) -> None:
    """The job is reported as larger than it is, and parts are smaller than those that the page requests."""
    demo.pause(paused=True)
    try:
        assert demo.poll_all()["status"] == "succeeded"
        job, truth = max(demo.truth().items(), key=lambda each: each[1]["total"])
        of_job = f"/jobs/{job}"

        def larger(route: Route) -> None:
            body = route.fetch().json()
            route.fulfill(json={**body, "taskCounts": {**body["taskCounts"], "total": 250_000}})

        def smaller(route: Route) -> None:
            route.continue_(url=route.request.url.replace("=100000", "=1000"))

        page.add_init_script("delete window.showSaveFilePicker")
        page.route(lambda url: url.endswith(of_job), larger)
        page.route(lambda url: "format=csv&maxpagesize=100000" in url, smaller)
        page.set_viewport_size({"width": 1440, "height": 3000})
        page.goto(f"{stack.dashboard}?account={demo.account}&job={job}")
        with page.expect_download() as download:
            page.get_by_role("button", name="Tasks as CSV").click()
        rows = list(csv.reader(download.value.path().read_text(encoding="utf-8").splitlines()))
        ids = [row[0] for row in rows[1:]]
        assert (rows[0][0], len(ids), len(set(ids))) == ("id", truth["total"], truth["total"])
        assert truth["total"] > 2_000, "more than two parts"
    finally:
        demo.pause(paused=False)


def test_a_node_shows_its_telemetry_and_the_tasks_that_it_ran(demo: Stack, stack: RunningStack, page: Page) -> None:
    pool = f"/accounts/{demo.account}/pools/analytics-d8s"
    node = demo.get(f"{pool}/nodes?maxpagesize=1")["value"][0]["id"]
    memory = f"{pool}/nodes/{node}/telemetry?name=system.memory.limit"
    deadline = time.monotonic() + 60
    while not (found := demo.get(memory))["value"]:
        assert time.monotonic() < deadline, "no telemetry came in"
        time.sleep(0.5)
    page.goto(f"{stack.dashboard}?account={demo.account}&pool=analytics-d8s&node={node}")
    expect(page.get_by_test_id("facts")).to_contain_text(found["facts"]["cpuModel"], timeout=15_000)
    expect(page.locator("[data-chart=memory] h5")).to_have_text("Memory of 32 GiB")
    expect(page.locator("[data-chart=cpu] .mean")).to_have_attribute("d", re.compile(r"^M\d"))
    expect(page.get_by_test_id("runs").locator(".run").first).to_be_visible()


def test_received_network_bytes_equal_the_emulators_record(demo: Stack) -> None:
    deadline = time.monotonic() + 90

    def grown() -> tuple[str, int]:
        """Returns the API path of the node that received the most network bytes, and their number."""
        nodes = demo.control("GET", "telemetry")[demo.account]["nodes"]
        most = max(nodes, key=lambda node: nodes[node]["growth"].get("net.bytes_recv", 0))
        return f"pools/{nodes[most]['pool']}/nodes/{most}", nodes[most]["growth"].get("net.bytes_recv", 0)

    def shown(path: str) -> float:
        found = demo.get(f"/accounts/{demo.account}/{path}/telemetry?name=system.network.io&step=PT1H")["value"]
        received = [each for each in found if each["attributes"]["network.io.direction"] == "receive"]
        total: float = sum(point["sum"] for each in received for point in each["points"])
        return total

    while not grown()[1]:
        assert time.monotonic() < deadline, "no node measured anything"
        time.sleep(0.5)
    demo.pause(paused=True)
    try:
        while shown(grown()[0]) != grown()[1]:
            assert time.monotonic() < deadline, "what nodes measured didn't come in"
            time.sleep(0.5)
    finally:
        demo.pause(paused=False)


def test_the_history_of_a_deleted_job_ends_with_its_counts(demo: Stack, deleted_job: DeletedJob) -> None:
    """It is the last test here, as a point stands for the end of a minute, which passes during the others."""
    end_of_minute = deleted_job.deleted_at // 60 * 60 + 61
    demo.pause(paused=True)  # it would cost a core meanwhile
    try:
        time.sleep(max(0.0, end_of_minute - time.time()))
    finally:
        demo.pause(paused=False)
    counts, history = demo.get(deleted_job.path)["taskCounts"], demo.get(f"{deleted_job.path}/history?step=PT1M")
    known = [point["taskCounts"] for point in history["value"] if point["taskCounts"]]
    assert known[-1:] == [counts]
