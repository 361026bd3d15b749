"""What an attempt uses, where exit accounting and readings are of different moments."""

from agent.tasks.attempts import Attempt, Departure
from agent.tasks.batch_environment import BatchTask
from agent.tasks.exited_processes import Exit
from agent.tasks.process_details import Details
from agent.tasks.process_table import Process
from agent.tasks.task_usage import TaskUsage

PARENT = Process(10, 1, 1, 10, "S", 0, 0, 0, 0, 1, 0, 0)
CHILD = Exit(11, 10, 0, 0, 0, 2_000_000, 3_000_000)


def usage_of(*readings: int, ignores_children: bool = False) -> tuple[object, object]:
    """Returns bytes read and written of a process whose child's accounting comes with the last of its readings.

    Readings are the children of 2 MB read and 3 MB written that the process's own counters contain.
    """
    attempt, usage = Attempt(BatchTask("job", "task"), PARENT, 0), TaskUsage()
    attempt.members = {PARENT.pid: PARENT}
    for number, children in enumerate(readings, 1):
        attempt.departures = [Departure(11, 10, None, CHILD)] if number == len(readings) else []
        details = Details(0, children * CHILD.read, children * CHILD.written, 0, ignores_children)
        usage.update(attempt, {PARENT.pid: details}, {}, 10_000_000)
    return usage.totals()["read_bytes"], usage.totals()["write_bytes"]


def test_a_child_that_ended_between_accounting_and_reading_counts_once() -> None:
    assert usage_of(0, 1, 1) == (2_000_000, 3_000_000)
    assert usage_of(0, 1) == (2_000_000, 3_000_000)


def test_a_child_for_which_nobody_waits_counts_by_its_accounting() -> None:
    assert usage_of(0, 0, ignores_children=True) == (2_000_000, 3_000_000)
