"""Ends of processes that no table has shown, by exit accounting."""

from agent.tasks.attempts import Attempt, Attempts
from agent.tasks.batch_environment import BatchTask
from agent.tasks.exited_processes import Exit, ExitedProcesses
from agent.tasks.process_table import Process, Table

INIT, LAUNCHER, SHELL, DAEMON, GONE, LATE = 1, 2, 3, 4, 5, 6
TASK = BatchTask("j", "a")


def table(**parents: int) -> Table:
    """Returns processes by the names of their pids, each with its parent."""
    named = {"init": INIT, "launcher": LAUNCHER, "shell": SHELL, "daemon": DAEMON, "gone": GONE, "late": LATE}
    return {
        named[name]: Process(named[name], named[name], parent, 0, "S", 0, 0, 0, 0, 1, 0, 0)
        for name, parent in parents.items()
    }


def after(*exits: Exit) -> tuple[Attempts, Attempt]:
    """Returns attempts, and their only one, after processes ended between two tables."""
    attempts, exited = Attempts(lambda: 0), ExitedProcesses()
    attempts.update(table(init=0, launcher=INIT, shell=LAUNCHER, daemon=INIT, gone=INIT), {SHELL: TASK})
    exited.add(exits)
    attempts.update(table(init=0, launcher=INIT, shell=LAUNCHER, daemon=INIT, late=INIT), {SHELL: TASK}, exited)
    (attempt,) = attempts.live
    return attempts, attempt


def ended(pid: int, parent: int, cpu: int) -> Exit:
    return Exit(pid, parent, cpu, 0, 0, 0, 0)


def test_a_process_of_a_daemon_that_lives_on_may_not_be_a_tasks() -> None:
    attempts, attempt = after(ended(50, DAEMON, 7), ended(51, 52, 7), ended(52, DAEMON, 7))
    assert attempts.unattributed(attempt.ancestors) == 0


def test_a_process_may_be_a_tasks_if_an_ancestor_of_the_task_or_nobody_known_is_its_parent() -> None:
    for parent in (INIT, LAUNCHER, GONE, LATE, 77, 0):
        attempts, attempt = after(ended(50, parent, 7), ended(51, DAEMON, 100))
        assert attempts.unattributed(attempt.ancestors) == 7, parent


def test_a_process_of_a_member_is_the_tasks() -> None:
    attempts, attempt = after(ended(50, SHELL, 7), ended(51, 50, 3))
    assert attempts.unattributed(attempt.ancestors) == 0
    assert sum(one.exit.cpu for one in attempt.departures if one.exit) == 10
