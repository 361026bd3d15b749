"""Which processes belong to which task."""

import pytest

from agent.tasks.attribution import Attribution
from agent.tasks.batch_environment import PREPARATION, RELEASE, START, BatchTask, task_of_environment
from tests.agent.tasks.kernel_model import LAUNCHER, Kernel, ModelMachine, ModelTable

NODE = b"AZ_BATCH_NODE_STARTUP_DIR=/mnt/batch/tasks/startup\0"
CONTAINER = "0::/system.slice/docker-" + "ab" * 32 + ".scope"


class Node:
    def __init__(self) -> None:
        self.kernel = Kernel()
        self.own: set[int] = set()
        self.attribution = Attribution(ModelMachine(self.kernel), lambda: self.own)
        self._time = 0

    def tasks(self) -> dict[int, str]:
        self._time += 10_000_000_000
        found = self.attribution.update(ModelTable(self.kernel).processes(self._time))
        return {pid: task.task for pid, task in found.items()}


@pytest.mark.parametrize(
    ("environment", "task"),
    [
        (b"AZ_BATCH_JOB_ID=j\0AZ_BATCH_TASK_ID=t", BatchTask("j", "t")),
        (b"AZ_BATCH_JOB_ID=%s:job-12\0AZ_BATCH_TASK_ID=t" % (b"s" * 64), BatchTask("s" * 64 + ":job-12", "t")),
        (b"AZ_BATCH_JOB_ID=j:other\0AZ_BATCH_TASK_ID=t", None),
        (b"X=1\0AZ_BATCH_JOB_ID=j\0AZ_BATCH_TASK_ID=jobpreparation", BatchTask("j", "jobpreparation", PREPARATION)),
        (
            b"AZ_BATCH_JOB_ID=j\0AZ_BATCH_TASK_ID=mine\0AZ_BATCH_TASK_DIR=/mnt/batch/tasks/workitems/j/job-1/jobrelease",
            BatchTask("j", "mine", RELEASE),
        ),
        (NODE + b"AZ_BATCH_TASK_DIR=/mnt/batch/tasks/startup", BatchTask("", "startup", START)),
        (NODE + b"AZ_BATCH_TASK_DIR=/elsewhere", None),
        (b"MY_AZ_BATCH_JOB_ID=j\0AZ_BATCH_TASK_ID=t", None),
        (b"AZ_BATCH_JOB_ID=j/../k\0AZ_BATCH_TASK_ID=t", None),
        (b"AZ_BATCH_JOB_ID=j\0AZ_BATCH_TASK_ID=" + b"t" * 65, None),
        (b"AZ_BATCH_JOB_ID=\xff\0AZ_BATCH_TASK_ID", None),
        (b"", None),
    ],
)
def test_an_environment_names_a_task_of_some_kind(environment: bytes, task: BatchTask | None) -> None:
    assert task_of_environment(environment) == task


def test_a_child_whose_environment_was_cleared_belongs_to_its_parents_task() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    child = node.kernel.fork(shell, environment="")
    assert node.tasks() == {shell: "a", child: "a"}


def test_a_process_keeps_its_task_when_init_adopts_it() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    daemon = node.kernel.fork(shell, environment="")
    node.tasks()
    node.kernel.processes[daemon].session = daemon
    node.kernel.end(shell)
    node.kernel.wait(shell)
    grandchild = node.kernel.fork(daemon)
    assert node.tasks() == {daemon: "a", grandchild: "a"}


def test_an_orphan_that_was_never_seen_belongs_to_the_task_of_its_session() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    node.kernel.processes[shell].session = shell
    node.tasks()
    between = node.kernel.fork(shell)
    orphan = node.kernel.fork(between, environment="")
    node.kernel.end(between)
    node.kernel.wait(between)
    assert node.tasks() == {shell: "a", orphan: "a"}


def test_a_pid_that_is_used_again_belongs_to_its_new_process() -> None:
    node = Node()
    first = node.kernel.fork(LAUNCHER, "a")
    node.tasks()
    node.kernel.end(first)
    node.kernel.wait(first)
    node.kernel.now += 5
    node.kernel.last_pid = first - 1
    assert node.kernel.fork(LAUNCHER, "b") == first
    assert node.tasks() == {first: "b"}


def test_a_process_that_is_seen_before_it_executes_its_program_is_read_once_more() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a", environment="")
    assert node.tasks() == {}
    node.kernel.processes[shell].environment = "a"
    assert node.tasks() == {shell: "a"}


def test_a_process_without_a_task_is_read_twice_only() -> None:
    node = Node()
    other = node.kernel.fork(LAUNCHER, "", environment="")
    node.tasks()
    node.tasks()
    node.kernel.processes[other].environment = "a"
    assert node.tasks() == {}


def test_processes_of_a_container_belong_to_the_only_task_in_it() -> None:
    node = Node()
    inside = node.kernel.fork(LAUNCHER, "a")
    cleared = node.kernel.fork(LAUNCHER, "a", environment="")
    node.kernel.processes[inside].cgroup = node.kernel.processes[cleared].cgroup = CONTAINER
    assert node.tasks() == {inside: "a", cleared: "a"}


def test_a_container_of_two_tasks_attributes_nothing() -> None:
    node = Node()
    for task in ("a", "b", ""):
        pid = node.kernel.fork(LAUNCHER, task)
        node.kernel.processes[pid].cgroup = CONTAINER
    assert sorted(node.tasks().values()) == ["a", "b"]


def test_the_agent_and_what_it_starts_belong_to_no_task() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    agent = node.kernel.fork(shell)
    child = node.kernel.fork(agent)
    node.own = {agent}
    assert node.tasks() == {shell: "a"}
    assert node.attribution.is_own(child)


def test_another_agent_and_what_it_starts_belong_to_no_task() -> None:
    node = Node()
    shell = node.kernel.fork(LAUNCHER, "a")
    agent = node.kernel.fork(shell)
    node.kernel.processes[agent].name = "batchscope"
    child = node.kernel.fork(agent)
    assert node.tasks() == {shell: "a"}
    assert node.attribution.is_own(child)


def test_environments_that_may_not_be_read_are_counted_once() -> None:
    node = Node()
    node.kernel.denied = {"environ"}
    assert node.tasks() == {}
    node.tasks()
    node.tasks()
    assert node.attribution.unreadable == 2
