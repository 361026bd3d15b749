"""The whole stack with its demo running fast: counts equal the truth, and the page shows them moving."""

import re
import time
from collections.abc import Iterator

import pytest
from azure.batch import BatchClient, models
from azure.core.credentials import AzureNamedKeyCredential
from playwright.sync_api import Page, expect

from local.prove.counts import FIELDS, Stack, compare
from tests.e2e.brute_force import Listed, differences
from tests.e2e.stack import RunningStack


@pytest.fixture(scope="module")
def demo(stack: RunningStack) -> Stack:
    """The stack once its demo has begun to fill it: thousands of tasks in the largest job, and more coming."""
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
        jobs = {job: [Listed.of(task.as_dict()) for task in batch.list_tasks(job)] for job in demo.truth()}
        assert any(task.result == "failure" for tasks in jobs.values() for task in tasks)
        assert [each for job, tasks in jobs.items() for each in differences(demo, job, tasks)] == []
    finally:
        demo.pause(paused=False)


def test_a_job_that_was_deleted_tells_its_counts_and_failures_still(demo: Stack, batch: BatchClient) -> None:
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
    told, failures = demo.get(path), demo.get(f"{path}/failures")
    assert told["deleted"]
    assert told["taskCounts"] == {field: truth[field] for field in FIELDS}
    assert (told["insight"]["runTime"]["tasks"], told["insight"]["estimate"]["completionTime"]) == (len(tasks), None)
    assert [(group["exitCode"], group["count"]) for group in failures["groups"]] == [(1, 4), (2, 4)]
    assert demo.get(f"{path}/history?step=PT1M")["value"]


def test_the_page_shows_every_job_and_moves_by_itself(demo: Stack, stack: RunningStack, page: Page) -> None:
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
