"""The records of tasks, on a model of the kernel."""

from pathlib import Path

import pytest

from agent.collectors.collector import UnsupportedError
from agent.machine.machine import Machine
from agent.records.record import Record
from agent.tasks.identity import TaskIdentity
from agent.tasks.process_table import PAGE
from agent.tasks.task_collector import ATTEMPT, MEASUREMENT, TaskCollector, accounting_of
from tests.agent.tasks.kernel_model import LAUNCHER, Kernel, ModelMachine, ModelTable, StepClock

MIB = (1 << 20) // PAGE


class Node:
    def __init__(self) -> None:
        self.kernel = Kernel()
        self.clock = StepClock(self.kernel)
        self.gpu: dict[int, tuple[int, float]] = {}
        self.own: set[int] = set()
        self.collector = TaskCollector(
            ModelMachine(self.kernel),
            self.clock,
            table=ModelTable(self.kernel),
            gpu=lambda: self.gpu,
            own=lambda: self.own,
        )

    def sample(self) -> list[Record]:
        self.clock.sleep(10.0)
        return list(self.collector.collect(self.clock.now()))

    def end(self, pid: int) -> None:
        self.kernel.end(pid)
        self.kernel.wait(pid)


def test_two_tasks_at_once_are_measured_apart() -> None:
    node = Node()
    node.sample()
    a, b = node.kernel.fork(LAUNCHER, "a"), node.kernel.fork(LAUNCHER, "b")
    node.kernel.work(a, 200)
    node.kernel.work(node.kernel.fork(b), 100)
    first, second = node.sample()
    assert (first.measurement, second.measurement) == (MEASUREMENT, MEASUREMENT)
    assert dict(first.tags) == {"job_id": "job", "task_id": "a", "task_attempt": "1795000010"}
    assert (first.fields["cpu_time_user"], second.fields["cpu_time_user"]) == (2.0, 1.0)
    assert (first.fields["num_processes"], second.fields["num_processes"]) == (1, 2)
    assert first.fields["cpu_usage"] == pytest.approx(200 / 13)
    assert (first.fields["read_bytes"], first.fields["num_fds"]) == (0, 3)


def test_an_attempt_that_ends_is_recorded_once_with_its_start_and_peak() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    node.kernel.processes[shell].rss = node.kernel.processes[shell].peak = 64 * MIB
    node.sample()
    node.end(shell)
    sample, record = node.sample()
    assert (sample.fields["memory_rss"], record.measurement) == (0, ATTEMPT)
    assert (record.fields["start_time"], record.fields["memory_peak"]) == (1795000010, 64 << 20)
    assert record.fields["end_uncertainty"] == 10.0
    assert (record.tags["cpu_time_from"], record.tags["memory_peak_from"]) == ("samples", "kernel")
    assert record.fields["max_processes"] == 1
    assert node.sample() == []


def test_a_retry_is_an_attempt_of_its_own_even_beside_a_daemon_of_the_last_one() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    daemon = node.kernel.fork(shell)
    node.sample()
    node.end(shell)
    retry = node.kernel.fork(LAUNCHER, "a")
    node.sample()
    first, second = node.collector.task_of(daemon), node.collector.task_of(retry)
    assert (first, second) == (TaskIdentity("job", "a", "1795000010"), TaskIdentity("job", "a", "1795000011"))


def test_an_orphan_of_a_shell_that_ended_stays_in_its_attempt() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    node.sample()
    daemon = node.kernel.fork(shell)
    node.end(shell)
    node.sample()
    assert node.collector.task_of(daemon) == TaskIdentity("job", "a", "1795000010")


def test_a_process_that_ended_is_known_for_ten_minutes() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    node.sample()
    node.end(shell)
    node.sample()
    node.clock.sleep(599.0)
    assert node.collector.task_of(shell) == TaskIdentity("job", "a", "1795000010")
    node.clock.sleep(2.0)
    assert node.collector.task_of(shell) is None


def test_the_kernels_peak_of_one_process_is_added_to_what_the_others_held() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    child = node.kernel.fork(shell)
    node.kernel.processes[shell].rss = node.kernel.processes[shell].peak = 10 * MIB
    node.kernel.processes[child].rss = 20 * MIB
    node.kernel.processes[child].peak = 20 * MIB
    node.sample()
    node.kernel.processes[child].peak = 50 * MIB
    node.kernel.work(child, 1)
    (record,) = node.sample()
    assert (record.fields["memory_rss"], record.fields["memory_peak"]) == (30 << 20, 60 << 20)


def test_gpu_use_is_summed_by_task() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    child = node.kernel.fork(shell)
    node.gpu = {shell: (5, 10.0), child: (7, 90.0), LAUNCHER: (100, 1.0)}
    (record,) = node.sample()
    assert (record.fields["gpu_memory_used"], record.fields["gpu_usage"]) == (12, 100.0)


def test_an_ended_attempt_has_its_mean_use_of_gpus() -> None:
    node = Node()
    node.sample()
    shell = node.kernel.fork(LAUNCHER, "a")
    for percent in (100.0, 0.0, 50.0):
        node.gpu = {shell: (7, percent)}
        node.sample()
    node.gpu = {}
    node.end(shell)
    _, record = node.sample()
    assert record.fields["gpu_memory_peak"] == 7
    assert record.fields["gpu_usage"] == pytest.approx(150 / 4)


def test_a_peak_that_only_several_processes_reach_together_is_of_samples() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    child = node.kernel.fork(shell)
    node.sample()
    for pid in (shell, child):
        node.kernel.processes[pid].rss += 20 * MIB
        node.kernel.processes[pid].peak = node.kernel.processes[pid].rss
    node.sample()
    for pid in (child, shell):
        node.end(pid)
    _, record = node.sample()
    assert record.tags["memory_peak_from"] == "samples"


def test_the_agents_own_time_isnt_its_tasks_even_if_the_task_waits_for_it() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    agent = node.kernel.fork(shell)
    node.own = {agent}
    node.kernel.work(agent, 500)
    node.kernel.work(shell, 30)
    node.sample()
    node.end(agent)
    (record,) = node.sample()
    assert record.fields["cpu_time_user"] == 0.3


def test_a_clock_that_is_set_makes_no_start_task_older() -> None:
    node = Node()
    node.kernel.fork(LAUNCHER, "startup")
    node.sample()
    ((pid, before),) = node.collector.start_task_processes()
    age = node.clock.now() - before
    node.kernel.boot_time += 7200
    ((same, after),) = node.collector.start_task_processes()
    assert (same, node.clock.now() - after) == (pid, age)


@pytest.mark.parametrize("sees_the_start_task", [True, False])
def test_a_daemon_that_a_start_task_left_behind_is_no_start_task(*, sees_the_start_task: bool) -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "startup")
    node.kernel.fork(shell)
    if sees_the_start_task:
        node.sample()
        assert [pid for pid, _ in node.collector.start_task_processes()] == [shell]
    node.end(shell)
    assert "startup" in {record.tags["task_id"] for record in node.sample()}
    assert list(node.collector.start_task_processes()) == []


def test_io_that_may_not_be_read_is_left_out() -> None:
    node = Node()
    node.kernel.denied = {"io", "status"}
    node.kernel.fork(LAUNCHER, "a")
    (record,) = node.sample()
    assert "read_bytes" not in record.fields
    assert record.fields["memory_peak"] == 100 * PAGE


def test_a_preparation_task_is_marked() -> None:
    node = Node()
    node.kernel.fork(LAUNCHER, "jobpreparation")
    (record,) = node.sample()
    assert record.tags["task_kind"] == "preparation"


def test_a_driver_that_fails_costs_only_the_fields_of_gpus() -> None:
    node = Node()
    node.collector._gpu = lambda: (_ for _ in ()).throw(OSError("no driver"))
    node.kernel.fork(LAUNCHER, "a")
    (record,) = node.sample()
    assert "gpu_usage" not in record.fields


def test_a_plain_user_gets_notes_on_what_is_missing(tmp_path: Path) -> None:
    node = Node()
    node.kernel.denied = {"environ"}
    node.kernel.fork(LAUNCHER, "a")
    node.sample()
    assert [note.split(" of ")[0] for note in node.collector.notes] == ["CPU times", "The environments"]
    assert accounting_of(Machine(str(tmp_path), is_root=False)) == (None, "Exit accounting needs root.")


def test_without_proc_there_is_no_collector(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="can't be listed"):
        TaskCollector(Machine(str(tmp_path)), StepClock(Kernel()))
