"""A job whose tasks run side by side and all fail within a given time, for many causes with outputs of their own.

A cause is an exit code and the last words of a kind of program. Half of the tasks fail for the first cause, the last
ones have three tasks each. Every third task has written more than is kept of it.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, batched, cycle, islice
from typing import Any

from azure.batch import models
from azure.batch.aio import BatchClient

from local.batch_emulator.contents.last_words import failure_kinds
from local.dev.system.console import Failure
from local.prove.load.raw_writes import post

JOB = "failing"
CAUSES = 30
SLOTS = 256
"""Of a node, the most that a pool may have."""
RARE, OF_RARE = 3, 3  # causes, and tasks of each
_FIRST_CODE = 10
_LARGE_EVERY = 3
_WRITES = "emulate text 300KiB; emulate text 300KiB >&2; "
_PER_CALL, _AT_ONCE = 100, 4
_STEEPNESS = 1.5  # with it half of the tasks have the first cause


def exit_code_of(cause: int) -> int:
    return _FIRST_CODE + cause


def drawn_causes(tasks: int, seed: int) -> Sequence[int]:
    """Returns the cause of each task, in the order in which they fail; each of CAUSES occurs if there are enough."""
    chance = random.Random(f"{seed}/causes")
    usual = range(CAUSES - RARE)
    weights = list(accumulate((rank + 1) ** -_STEEPNESS for rank in usual))
    found = [*usual, *chance.choices(usual, cum_weights=weights, k=tasks)][:tasks]
    chance.shuffle(found)
    for place, cause in zip(chance.sample(range(tasks), RARE * OF_RARE), cycle(range(CAUSES - RARE, CAUSES))):
        found[place] = cause
    return found


def command_line(number: int, cause: int, seconds: float) -> str:
    """Returns the command line of a task that fails after so many seconds."""
    kind = next(islice(failure_kinds(), cause, None))
    writes = "" if number % _LARGE_EVERY else _WRITES
    return f"/bin/sh -c '{writes}sleep {seconds:.1f}; emulate failure {kind}; exit {exit_code_of(cause)}'"


class FailingJob:
    """The job; the causes of its tasks are in the order of their numbers."""

    def __init__(self, client: BatchClient, *, tasks: int, seed: int) -> None:
        self._client = client
        self.causes = drawn_causes(tasks, seed)

    @property
    def nodes(self) -> int:
        return -(-len(self.causes) // SLOTS) + 1

    @property
    def counts(self) -> Counter[int]:
        """How many tasks fail with each exit code."""
        return Counter(exit_code_of(cause) for cause in self.causes)

    async def create(self) -> None:
        """Creates the job, and a pool with a slot for each of its tasks."""
        size = models.BatchPoolCreateOptions(
            id=JOB, vm_size="standard_d64s_v5", target_dedicated_nodes=self.nodes, task_slots_per_node=SLOTS
        )
        await self._client.create_pool(size)
        where = models.BatchPoolInfo(pool_id=JOB)
        await self._client.create_job(models.BatchJobCreateOptions(id=JOB, pool_info=where))

    async def fill(self, begin: float, span: float) -> None:
        """Adds all tasks, which fail from a time of the monotonic clock on, evenly within `span` seconds.

        Nodes must be there, so that a task starts at once. Raises Failure if it takes too long.
        """
        batches = batched(range(len(self.causes)), _PER_CALL, strict=False)
        await asyncio.gather(*(self._add(batches, begin, span) for _ in range(_AT_ONCE)))

    async def _add(self, batches: Iterator[tuple[int, ...]], begin: float, span: float) -> None:
        for some in batches:
            left = begin - time.monotonic()
            if left <= 0:
                raise Failure("The tasks weren't all there before they were to fail; give it more --before.")
            step = span / len(self.causes)
            tasks: list[dict[str, Any]] = [
                {"id": task_id(number), "commandLine": command_line(number, self.causes[number], left + step * number)}
                for number in some
            ]
            await post(self._client, f"/jobs/{JOB}/addtaskcollection", {"value": tasks})


def task_id(number: int) -> str:
    return f"task-{number:06}"


def number_of(task: str) -> int:
    """Returns the number of a task of that id."""
    return int(task.rpartition("-")[2])
