"""Large jobs stay cheap: the cost of a request follows its answer, that of a simulated event its effect."""

import time

from local.batch_emulator.core.collation import ORDERS
from local.batch_emulator.core.stamps import SECOND
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Job, Task
from local.batch_emulator.entities.task_counts import TaskCounts
from local.batch_emulator.entities.task_set import TaskSet
from local.batch_emulator.filtering.filter_rows import TASKS
from local.batch_emulator.filtering.filters import compile_filter
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from tests.emulator.support.driver import Driver

_MANY = 200_000


def _full(size: int) -> TaskSet:
    tasks = TaskSet()
    for number in range(size):
        spec = {"commandLine": "true"}
        name = f"task-{number:06}"
        tasks.add(Task(name, name, number, spec, 1, 0, number * SECOND, number * SECOND))
    return tasks


def test_a_scan_of_a_large_job_and_a_delta_are_fast() -> None:
    tasks, order = _full(_MANY), ORDERS["ordinal"]
    next(tasks.listed(order, None, None))
    scan = compile_filter("state ne 'active' and id ge 'task-0'", TASKS, order)
    began = time.process_time()
    assert not any(map(scan.matches, tasks.listed(order, None, None)))
    assert time.process_time() - began < 0.4
    delta = compile_filter("stateTransitionTime ge DateTime'1970-01-03T07:33:10Z'", TASKS, order)
    began = time.process_time()
    found = [task.id for task in tasks.listed(order, None, delta.since) if delta.matches(task)]
    assert time.process_time() - began < 0.01
    assert found == [f"task-{number:06}" for number in range(199_990, _MANY)]


async def test_a_large_job_runs_in_bounded_time(stepped: Driver) -> None:
    await stepped.add_pool(nodes=100, taskSlotsPerNode=10)
    await stepped.add_job()
    simulation = stepped.emulator.simulations["demo"]
    job = simulation.account.jobs["job"]
    simulation.tasks.add(job, [_task(number) for number in range(30_000)])
    began = time.process_time()
    await stepped.advance(400)
    took = time.process_time() - began
    counts = (await stepped.control("GET", "truth"))["accounts"]["demo"]["jobs"]["job"]
    assert counts["completed"] > 20_000
    assert took < 8


def _task(number: int) -> Task:
    return Task(f"t{number}", f"t{number}", number, {"commandLine": "sleep 5"}, 1, 0, 0, 0)


def test_counts_of_the_past_are_kept_only_while_they_lag() -> None:
    tally, lag = TaskCounts(), 10 * SECOND
    for second in range(100):
        tally.move(2, before=None, after="active", now=second * SECOND, lag=lag)
    assert tally.lagged(99 * SECOND, lag).tasks["active"] == 90
    assert tally.lagged(99 * SECOND, lag).slots["active"] == 180
    assert tally.lagged(99 * SECOND, 0).tasks["active"] == 100
    assert tally.lagged(200 * SECOND, lag).tasks["active"] == 100


def test_an_emulator_needs_no_environment_and_no_network() -> None:
    emulator = Emulator({"Demo": DEVELOPMENT_KEY})
    assert isinstance(emulator.simulations["demo"].account.jobs, dict)
    assert Job.__slots__
