"""Counters of a leaf: all that its tasks have added so far, written in one transaction with the tasks.

So a read that is repeated, or that another host did at the same time, adds nothing. `waiting` are the keys of tasks
that started and whose state doesn't show it, such as those that wait again after their node was preempted.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from shared.domain.core.keys import key_of
from shared.domain.packing.columns import DAMAGE
from shared.domain.packing.compression import deflated, inflated
from shared.domain.tasks.task_counters import NOTHING, Life, TaskCounters, added_by
from shared.domain.tasks.tasks import COMPLETED, FAILURE, RUNNING, Task

MAX_BYTES = 48 * 1024  # of the 64 KiB of a binary property
type Step = tuple[Life, bool, Task]
"""A task's life before a change, whether its start was known then, and the task after it."""


@dataclass(frozen=True, slots=True)
class LeafCounters:
    counters: TaskCounters = NOTHING
    waiting: frozenset[str] = frozenset()

    def after(self, changed: Iterable[Step], added: Sequence[Task]) -> "LeafCounters":
        """Returns the counters after steps of tasks, and with tasks that weren't there.

        A completed task that changes was reactivated, or re-created under its id, as any with another creation was. It
        can't be seen where it has completed again within the same millisecond.
        """
        started = completed = failed = retried = 0
        waiting = self.waiting
        for (state, result, transition, creation, retries), had_start, task in changed:
            _, now, now_result, now_transition, now_creation, start, _, _, _, now_retries, *_ = task
            shown = now == RUNNING or now_retries > 0 or (now == COMPLETED and start > 0)
            had_started = False
            if creation == now_creation and (state != COMPLETED or (now == COMPLETED and now_transition == transition)):
                had_started = state == RUNNING or retries > 0 or (state == COMPLETED and had_start)
                if waiting and not had_started:
                    had_started = key_of(task.id) in waiting
                completed += now == COMPLETED != state
                failed += now_result == FAILURE != result
                retried += now_retries - retries if now_retries > retries else 0
            else:
                completed += now == COMPLETED
                failed += now_result == FAILURE
                retried += now_retries
            started += shown and not had_started
            waits = had_started and not shown and now != COMPLETED
            if waits or waiting:
                waiting = waiting | {key_of(task.id)} if waits else waiting - {key_of(task.id)}
        sums = self.counters + TaskCounters(started, completed, failed, retried)
        return LeafCounters(sums + added_by(added) if added else sums, waiting)

    def part(self, low: str, high: str | None, *, is_first: bool) -> "LeafCounters":
        """Returns the part for keys from `low` to before `high`; the first part of a leaf keeps all numbers."""
        waiting = frozenset(key for key in self.waiting if key >= low and (high is None or key < high))
        return LeafCounters(self.counters if is_first else NOTHING, waiting)

    def pack(self) -> bytes:
        """Returns the stored form: the numbers, then the compressed keys of waiting tasks, of many only some."""
        numbers = " ".join(map(str, self.counters.values())).encode()
        if not self.waiting:
            return numbers
        packed = numbers + b"\n" + deflated("\n".join(sorted(self.waiting)).encode())
        if len(packed) <= MAX_BYTES:
            return packed
        return replace(self, waiting=frozenset(sorted(self.waiting)[::2])).pack()

    @classmethod
    def unpack(cls, stored: bytes | None) -> "LeafCounters":
        """Returns the counters; those of a damaged form, or of a leaf of an older version, begin anew."""
        with suppress(*DAMAGE):
            numbers, _, packed = (stored or b"").partition(b"\n")
            keys = inflated(packed).decode().split("\n") if packed else ()
            started, completed, failed, retried = map(int, numbers.split())
            return cls(TaskCounters(started, completed, failed, retried), frozenset(keys))
        return cls()
