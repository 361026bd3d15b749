"""The CPU time of tasks on random trees of processes, held against a model that knows the truth."""

import random
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.records.record import Record
from agent.tasks.process_table import TICK
from agent.tasks.task_collector import ATTEMPT, TaskCollector
from tests.agent.tasks.kernel_model import INIT, LAUNCHER, Kernel, ModelMachine, ModelTable, StepClock

TASKS = ("a", "b")
SECOND = TICK / 1e6


class Random:
    """Random events of a node with two tasks and processes outside of them."""

    def __init__(self, kernel: Kernel, seed: int, *, can_ignore: bool, can_clear: bool) -> None:
        self.kernel = kernel
        self._random = random.Random(seed)  # noqa: S311 - events of a test
        self._can_ignore = can_ignore
        self._started: list[int] = []
        self._can_clear = can_clear

    def event(self) -> None:
        kind = self._random.choices(
            (self.fork, self.work, self.end, self.wait, self.ignore, self.start), (6, 8, 4, 5, 1, 1)
        )
        kind[0]()

    def fork(self) -> None:
        parent = self._one(lambda one: not one.is_zombie and one.pid != INIT)
        if len(self.kernel.processes) < 60 and parent is not None:
            cleared = "" if self._can_clear and self._random.random() < 0.3 else None
            self.kernel.fork(parent, environment=cleared)

    def start(self) -> None:
        """Starts the tasks, each once: an attempt between two samples can't be seen."""
        for task in TASKS[len(self._started) :]:
            self._started.append(self.kernel.fork(LAUNCHER, task))

    def work(self) -> None:
        pid = self._one(lambda one: not one.is_zombie)
        if pid is not None:
            self.kernel.work(pid, self._random.choice((0, 1, 1, 3, 40)))

    def end(self) -> None:
        pid = self._one(lambda one: not one.is_zombie and one.pid > LAUNCHER)
        if pid is not None:
            self.kernel.end(pid)

    def wait(self) -> None:
        pid = self._one(lambda one: one.is_zombie)
        if pid is not None:
            self.kernel.wait(pid)

    def ignore(self) -> None:
        pid = self._one(lambda one: not one.is_zombie and bool(one.task))
        if self._can_ignore and pid is not None:
            self.kernel.processes[pid].ignores_children ^= True

    def _one(self, fits: Callable[..., bool]) -> int | None:
        fitting = [pid for pid, one in self.kernel.processes.items() if fits(one)]
        return self._random.choice(fitting) if fitting else None


class Watched:
    """A collector on a model; keeps what it said of each task."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.table = ModelTable(kernel)
        self.clock = StepClock(kernel)
        self.collector = TaskCollector(ModelMachine(kernel), self.clock, table=self.table)
        self._counted: dict[tuple[str, str], float] = {}
        self._missed: dict[tuple[str, str], float] = {}

    def sample(self) -> None:
        self.clock.sleep(10.0)
        for record in self.collector.collect(self.clock.now()):
            self._take(record)

    def _take(self, record: Record) -> None:
        task = (record.tags["task_id"], record.tags["task_attempt"])
        counted = float(record.fields["cpu_time_user"]) + float(record.fields["cpu_time_system"])
        missed = float(record.fields["cpu_time_missed_max"])
        assert counted >= self._counted.get(task, 0.0) - 1e-9, "the sum fell"
        assert missed >= self._missed.get(task, 0.0) - 1e-9, "the bound fell"
        self._counted[task], self._missed[task] = counted, missed

    def counted(self, task: str) -> float:
        return sum(value for (one, _), value in self._counted.items() if one == task)

    def missed(self, task: str) -> float:
        return sum(value for (one, _), value in self._missed.items() if one == task)

    def has_seen(self, task: str) -> bool:
        return any(one == task for one, _ in self._counted)

    def truth(self, task: str) -> float:
        return self.kernel.used.get(task, 0) * SECOND


def run(seed: int, *, max_pid: int, in_pass: bool, can_ignore: bool = False, can_clear: bool = False) -> None:
    """Runs random events and checks each sample against the truth at the begin and the end of its pass."""
    kernel = Kernel(max_pid=max_pid)
    events = Random(kernel, seed, can_ignore=can_ignore, can_clear=can_clear)
    watched = Watched(kernel)
    watched.sample()
    events.start()
    chance = random.Random(seed + 1)  # noqa: S311 - as above
    for _ in range(chance.randint(2, 8)):
        for _ in range(chance.randint(0, 60)):
            events.event()
        if in_pass:
            watched.table.events = [(at, events.event) for at in sorted(chance.choices(range(1, 60), k=10))]
        before = {task: watched.truth(task) for task in TASKS}
        watched.sample()
        for task in TASKS:
            assert watched.counted(task) <= watched.truth(task) + 1e-9, "counted twice"
            if watched.has_seen(task) and not (in_pass or can_ignore or can_clear):
                assert before[task] <= watched.counted(task) + watched.missed(task) + 1e-9, "missed more than the bound"


@given(st.integers(0, 2**32))
def test_the_sum_stays_between_the_truth_and_its_bound(seed: int) -> None:
    run(seed, max_pid=100_000, in_pass=False)


@given(st.integers(0, 2**32))
def test_so_it_does_if_pids_are_soon_used_again(seed: int) -> None:
    run(seed, max_pid=70, in_pass=False)


@given(st.integers(0, 2**32))
def test_processes_that_fork_and_end_during_the_pass_never_make_the_sum_fall_or_exceed_the_truth(seed: int) -> None:
    run(seed, max_pid=300, in_pass=True)


@given(st.integers(0, 2**32))
def test_ignored_children_and_cleared_environments_never_make_the_sum_fall_or_exceed_the_truth(seed: int) -> None:
    run(seed, max_pid=300, in_pass=False, can_ignore=True, can_clear=True)


@pytest.mark.parametrize("in_pass", [False, True])
def test_all_that_a_shell_waits_for_is_counted_exactly(in_pass: bool) -> None:  # noqa: FBT001
    kernel = Kernel()
    watched = Watched(kernel)
    shell = kernel.fork(LAUNCHER, "a")
    watched.sample()
    for _ in range(20):
        child = kernel.fork(shell)
        kernel.work(child, 7)
        if in_pass:
            watched.table.events = [(4, partial(kernel.reap, child))]
        watched.sample()
        if not in_pass:
            kernel.end(child)
            kernel.wait(child)
    watched.sample()
    assert watched.counted("a") == pytest.approx(140 * SECOND)
    assert watched.missed("a") == 0.0


def test_processes_that_ended_keep_their_time_until_the_attempts_record() -> None:
    kernel = Kernel()
    watched = Watched(kernel)
    shell = kernel.fork(LAUNCHER, "a")
    kernel.work(shell, 50)
    watched.sample()
    kernel.work(shell, 5)
    kernel.end(shell)
    kernel.wait(shell)
    watched.clock.sleep(10.0)
    last, record = watched.collector.collect(watched.clock.now())
    assert (last.fields["num_processes"], record.measurement) == (0, ATTEMPT)
    assert record.fields["cpu_time_user"] == pytest.approx(0.5)
    assert record.fields["cpu_time_missed_max"] == pytest.approx(0.05)
    assert watched.collector.collect(watched.clock.now()) == []
