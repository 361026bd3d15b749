"""The bound on the CPU time that samples of a task can have missed.

The use of a member after its last reading appears with the process that waited for it. If that is an ancestor outside
of the task (init, a subreaper, the launcher), the growth of its `waited` times is a bound on it, and also on the
use of processes that lived and ended between two samples. If nobody waited, the bound is the interval times the threads
that ended. The time of a zombie that was never seen alive counts as missed. Not included are processes that lived and
ended between two samples and whose parent ignores SIGCHLD or is no ancestor of a member, and ends of processes during
the milliseconds of a pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable

from agent.tasks.process_table import TICK, Process, Table, same


class OutsideTime:
    """CPU time that ancestors of tasks got from ended processes, beyond the known times of their own children.

    `before` and `table` are tables that are `elapsed` microseconds apart, `vanished` the processes that ended between.
    """

    def __init__(self, before: Table, table: Table, vanished: Iterable[Process], elapsed: int) -> None:
        self._before = before
        self._table = table
        self._elapsed = elapsed
        self._zombies = [one for one in table.values() if one.state == "Z" and not same(before, one)]
        self._expected: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
        for process in vanished:
            parent = before.get(process.parent)
            if parent and same(table, parent):
                time, threads = self._expected[parent.pid]
                self._expected[parent.pid] = (time + process.own + process.waited, threads + process.threads)

    def of(self, ancestors: Container[int], members: Container[int]) -> int:
        """Returns the microseconds that these ancestors of these members got without a known reason."""
        zombies = sum(
            one.own + one.waited for one in self._zombies if one.parent in ancestors and one.pid not in members
        )
        return zombies + sum(
            self._unexplained(one) for pid, one in self._table.items() if pid in ancestors and pid not in members
        )

    def _unexplained(self, process: Process) -> int:
        last = self._before.get(process.pid)
        grown = process.waited - (last.waited if last and last.start == process.start else 0)
        time, threads = self._expected.get(process.pid, (0, 0))
        surplus = grown - time
        return max(surplus, 0) if surplus > -2 * TICK else self._elapsed * threads
