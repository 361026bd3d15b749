"""Every number of the API against Batch's own lists, with other scenarios and seeds than the demo's."""

import time
from pathlib import Path

import pytest
from azure.batch import BatchClient
from azure.core.credentials import AzureNamedKeyCredential

from local.azurite import StorageAddresses
from local.prove.stack.api import Stack
from local.prove.stack.truth import compare
from tests.e2e.live.ahead_clock import ahead_clock
from tests.e2e.live.brute_force import all_differences, history_differences
from tests.e2e.live.listed import listed
from tests.e2e.live.stack import running_stack


@pytest.mark.parametrize(("scenario", "seed"), [("quiet", 3), ("demo", 7)])
def test_every_number_is_that_of_batchs_own_list(
    azurite: StorageAddresses, tmp_path: Path, scenario: str, seed: int
) -> None:
    with (
        ahead_clock() as clock,
        running_stack(azurite, tmp_path, scenario=scenario, speed=6, seed=seed, clock_url=clock.url) as running,
    ):
        stack = Stack(running.api, running.emulator, running.account.name)
        deadline = time.monotonic() + 60
        while sum(job["completed"] for job in stack.truth().values()) < 50:
            assert time.monotonic() < deadline, "the scenario didn't end 50 tasks within a minute"
            time.sleep(0.2)
        key = AzureNamedKeyCredential(running.account.name, running.account.key)
        with BatchClient(running.emulator, key) as client:
            stack.pause(paused=True)
            assert stack.poll_all()["status"] == "succeeded"
            jobs = listed(stack, client)
            assert any(task.state == "running" for tasks in jobs.values() for task in tasks)
            assert compare(stack) == []
            assert all_differences(stack, jobs) == []
            end = clock.move_into_next_minute()  # a point stands for the end of a minute
            ends = {int(end.timestamp()) * 1000: jobs}
            assert stack.poll_all()["status"] == "succeeded"
        assert history_differences(stack, ends) == []
