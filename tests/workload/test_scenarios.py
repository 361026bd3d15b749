"""The scenarios as values: their guarantees for viewers of the dashboard, and for tests that count."""

import re

import pytest

from local.batch_emulator.contents.last_words import failure_kinds
from local.batch_emulator.contents.scripts import Filling, LastWords, Log, parse_script
from local.batch_emulator.core.vm_sizes import cores
from local.workload.scenario import MIX, EndingKind, FailurePlan, JobPlan, ScenarioPlan, plan_tasks
from local.workload.scenarios import SCENARIOS
from local.workload.target import TargetError, check_target

DEMO = SCENARIOS["demo"]
SEED = 1


def biggest(scenario: ScenarioPlan) -> JobPlan:
    return max(scenario.jobs, key=lambda job: job.tasks)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda scenario: scenario.name)
def test_every_job_runs_on_a_pool_of_its_scenario(scenario: ScenarioPlan) -> None:
    assert {job.pool for job in scenario.jobs} == {pool.id for pool in scenario.pools}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda scenario: scenario.name)
def test_ids_are_unique_and_acceptable_to_batch(scenario: ScenarioPlan) -> None:
    names = [pool.id for pool in scenario.pools] + [job.id for job in scenario.jobs]
    assert len({name.lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"[\w-]{1,64}", name) for name in names)


def test_the_demo_has_six_pools_and_nine_jobs_of_12_to_20_000_tasks() -> None:
    sizes = sorted(job.tasks for job in DEMO.jobs)
    assert (len(DEMO.pools), len(sizes), sizes[0], sizes[-1]) == (6, 9, 12, 20_000)


def test_one_pool_of_the_demo_is_broken_by_its_start_task_and_one_is_spot() -> None:
    broken = {pool.id for pool in DEMO.pools if "exit 1" in pool.start_task}
    assert len(broken) == 1
    assert sum(pool.spot > 0 for pool in DEMO.pools) == 1
    assert [job.ending for job in DEMO.jobs if job.pool in broken] == [EndingKind.STAYS]


def test_one_pool_of_the_demo_may_have_nodes_of_several_sizes_with_equal_vcpus() -> None:
    (mixed,) = (pool for pool in DEMO.pools if pool.mixed_sizes)
    assert mixed.vm_size == MIX
    assert len({cores(size) for size in mixed.mixed_sizes}) == 1 < len(mixed.mixed_sizes)


def test_at_speed_20_the_largest_job_of_the_demo_ends_at_most_25_tasks_a_second() -> None:
    job = biggest(DEMO)
    slots = next(pool.total_slots for pool in DEMO.pools if pool.id == job.pool)
    assert slots / (sum(job.seconds) / 2) * 20 <= 25


def test_the_demo_fails_for_several_causes() -> None:
    failures = [cause for job in DEMO.jobs for cause in job.failures]
    assert {cause.exit_code for cause in failures if cause.exit_code} == {1, 127, 137, 139}
    assert any(cause.missing_file for cause in failures)
    assert any(job.retries and job.failures for job in DEMO.jobs)


def test_the_big_scenario_is_one_job_of_200_000_tasks() -> None:
    assert [job.tasks for job in SCENARIOS["big"].jobs] == [200_000]


def test_nothing_in_the_quiet_scenario_ends_or_comes_again() -> None:
    quiet = SCENARIOS["quiet"]
    assert (len(quiet.pools), [job.ending for job in quiet.jobs]) == (1, [EndingKind.STAYS, EndingKind.STAYS])


@pytest.mark.parametrize("job", DEMO.jobs, ids=lambda job: job.id)
def test_a_job_has_as_many_distinct_tasks_as_it_says(job: JobPlan) -> None:
    tasks = list(plan_tasks(job, seed=SEED, run=0))
    assert len({task.id for task in tasks}) == len(tasks) == job.tasks


@pytest.mark.parametrize("job", DEMO.jobs, ids=lambda job: job.id)
def test_the_emulator_reads_one_length_and_one_exit_code_from_every_command_line(job: JobPlan) -> None:
    for task in plan_tasks(job, seed=SEED, run=0):
        (length,) = re.findall(r"\bsleep\s+([\d.]+)", task.command_line)
        (_,) = re.findall(r"\bexit\s+(\d+)", task.command_line)
        assert job.seconds[0] <= float(length) <= job.seconds[1]


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda scenario: scenario.name)
def test_every_failing_program_has_last_words_that_fit_its_exit_code(scenario: ScenarioPlan) -> None:
    failures = [cause for job in scenario.jobs for cause in job.failures if cause.exit_code]
    assert [cause.exit_code for cause in failures] == [failure_kinds()[each.last_words].exit_code for each in failures]


def test_the_start_task_of_the_broken_pool_has_last_words_that_fit_its_exit_code() -> None:
    (line,) = (pool.start_task for pool in DEMO.pools if "exit 1" in pool.start_task)
    script = parse_script(line)
    assert (script.failure_code, script.steps[-1].output) == (1, LastWords("name-resolution"))


def test_tasks_of_the_demo_write_a_log_that_grows_files_that_rotate_and_one_of_gigabytes() -> None:
    outputs = [step.output for job in DEMO.jobs for step in parse_script(f"/bin/sh -c '{job.output}'").steps]
    assert any(isinstance(each, Log) and not each.max_size for each in outputs)
    assert any(isinstance(each, Log) and each.max_size for each in outputs)
    assert any(isinstance(each, Filling) and each.size > 2**31 for each in outputs)


def test_failures_have_their_share_and_every_cause_happens_at_least_once() -> None:
    job = JobPlan(
        id="j",
        pool="p",
        name="",
        tasks=100,
        task_prefix="t",
        program="run {n}",
        seconds=(1, 2),
        failures=(
            FailurePlan(share=0.1, exit_code=137),
            FailurePlan(share=0.0001, missing_file="https://files.example/missing"),
        ),
    )
    tasks = list(plan_tasks(job, seed=SEED, run=0))
    assert sum("exit 137" in task.command_line for task in tasks) == 10
    assert sum(bool(task.missing_file) for task in tasks) == 1


def test_the_same_seed_gives_the_same_tasks_and_another_life_gives_others() -> None:
    job = biggest(DEMO)
    first = list(plan_tasks(job, seed=SEED, run=0))
    assert first == list(plan_tasks(job, seed=SEED, run=0))
    assert first != list(plan_tasks(job, seed=SEED, run=1))


@pytest.mark.parametrize(
    "address",
    [
        "https://demo.westeurope.batch.azure.com",
        "http://demo.westeurope.batch.azure.com",
        "https://127.0.0.1:9000",
        "http://127.0.0.1.example:9000",
        "http://127.0.0.1@example:9000",
        "127.0.0.1:9000",
        "",
    ],
)
def test_only_an_emulator_on_this_machine_is_written_to(address: str) -> None:
    with pytest.raises(TargetError, match="writes only to an emulator on this machine"):
        check_target(address)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9000/", "http://localhost:9000", "http://[::1]:9000"])
def test_loopback_addresses_are_accepted(address: str) -> None:
    assert check_target(address) == address.rstrip("/")
