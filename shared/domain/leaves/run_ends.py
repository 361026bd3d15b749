"""When runs of tasks ended that were retried, as no event and no later state of a task says it.

A poll that sees a task wait again, with more retries than before, sees it: the task's state changed when its run ended.
Where polls first see the task's next run, or its preparation, they have missed it.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Self

from shared.domain.core.keys import key_of
from shared.domain.leaves.leaf_counters import Step
from shared.domain.packing.columns import DAMAGE
from shared.domain.packing.compression import deflated, inflated
from shared.domain.tasks.task_counters import Life
from shared.domain.tasks.tasks import ACTIVE, Task

MAX_ENDS = 500  # of a leaf: 32 KiB at the most
KEPT = timedelta(days=4) // timedelta(milliseconds=1)  # as the days whose usage isn't final


@dataclass(frozen=True, slots=True)
class RunEnds:
    """Ends of retried runs in milliseconds since 1970, by task key and the retries before the run.

    They are the latest ones of a leaf, written in one transaction with its tasks.
    """

    times: Mapping[tuple[str, int], int] = field(default_factory=dict)

    def after(self, changed: Iterable[Step], added: Sequence[Task]) -> Self:
        """Returns the ends after steps of tasks, and with tasks that weren't there."""
        retried = [task for life, _, task in changed if task.retries and _was_retried(task, life)]
        retried += [task for task in added if task.retries]
        found = {(key_of(task.id), task.retries - 1): task.transition for task in retried if task.state == ACTIVE}
        return self.joined(type(self)(found)) if found else self

    def joined(self, others: Self) -> Self:
        """Returns these ends with others, which win; those that are too old or too many are left out."""
        times = {**self.times, **others.times}
        first = max(times.values(), default=0) - KEPT
        latest = sorted(times.items(), key=lambda one: one[1])[-MAX_ENDS:]
        return type(self)({run: end for run, end in latest if end > first})

    def part(self, low: str, high: str | None) -> Self:
        """Returns the part for keys from `low` to before `high`."""
        within = {run: end for run, end in self.times.items() if run[0] >= low and (high is None or run[0] < high)}
        return type(self)(within)

    def pack(self) -> bytes:
        """Returns the stored form: a compressed line for each run."""
        lines = (f"{key} {retries} {end}" for (key, retries), end in sorted(self.times.items()))
        return deflated("\n".join(lines).encode())

    @classmethod
    def unpack(cls, stored: bytes | None) -> Self:
        """Returns the ends; there are none in a damaged form."""
        with suppress(*DAMAGE):
            rows = [line.split(" ") for line in inflated(stored).decode().splitlines()] if stored else []
            return cls({(key, int(retries)): int(end) for key, retries, end in rows})
        return cls()


def _was_retried(task: Task, before: Life) -> bool:
    """Returns whether a task was retried since its life before, or is another one under its id."""
    _, _, _, creation, retries = before
    return task.retries > retries or task.creation != creation
