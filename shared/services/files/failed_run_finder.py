"""Finds the failed runs of a job whose outputs are to be kept, by walks over its cached tasks that end in time.

A walk that doesn't reach the last leaf in time goes on there in the next pass. The mark of the job moves on once a walk
has reached it.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial

from shared.domain.core.keys import KeyRange
from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.jobs import Job
from shared.domain.outputs.failed_runs import FailedRun, failed_since, may_have_failed_since
from shared.domain.outputs.kept_outputs import JobOutputs, OutputMark
from shared.domain.outputs.output_limits import OutputLimits
from shared.services.tasks.leaf_reader import LeafReader

_ALL = KeyRange()
_MAX_WALKS = 1_000


@dataclass(slots=True)
class Walk:
    """A walk over a job's tasks that began at a time, in milliseconds since 1970; `rest` are the keys that it lacks.

    `newest` is the newest end of a failed run, `left` the earliest end of one that wasn't kept.
    """

    began: int
    rest: KeyRange | None = _ALL
    newest: int = 0
    left: int | None = None

    def note_left(self, runs: Sequence[FailedRun]) -> None:
        """Notes runs that weren't kept, or had nothing to keep."""
        ends = [run.ended for run in runs] + [end for end in (self.left,) if end is not None]
        self.left = min(ends, default=None)

    def since(self, mark: OutputMark) -> int:
        """Returns which end the mark of the job may move on to."""
        if self.left is not None:
            return self.left
        return max(mark.since, min(self.newest + 1, self.began))


@dataclass(frozen=True, slots=True)
class FailedRunFinder:
    """Walks over jobs of all accounts; this process remembers those that aren't at their end."""

    leaves: LeafReader
    limits: OutputLimits
    _walks: dict[tuple[str, str, datetime], Walk] = field(default_factory=dict)

    def take_walk(self, account_id: str, job: Job, now: datetime) -> Walk:
        """Returns the walk that is to go on, or a new one."""
        return self._walks.pop((account_id, job.key, job.facts.creation_time), None) or Walk(to_milliseconds(now))

    def put_back(self, account_id: str, job: Job, walk: Walk) -> None:
        """Remembers a walk for the next pass."""
        if len(self._walks) > _MAX_WALKS:
            self._walks.clear()
        self._walks[account_id, job.key, job.facts.creation_time] = walk

    async def find(
        self, account_id: str, job: Job, stored: JobOutputs, walk: Walk, *, since: int, deadline: float
    ) -> list[FailedRun]:
        """Returns the runs to keep that ended at `since` or later, the most telling first; reads one leaf at least.

        Raises NotFoundError, StorageError, CacheConflictError.
        """
        before, each = stored.stored, cache(partial(self.limits.each, account_id))
        wanted, rest = list[FailedRun](), walk.rest or _ALL
        slices = self.leaves.slices(account_id, job.facts.id, keys=rest, wanted=may_have_failed_since(since))
        async with aclosing(slices):
            async for part in slices:
                runs, newest = failed_since(part.leaf, part.places, since, before, each)
                wanted, walk.newest = stored.chosen([*wanted, *runs], each), max(walk.newest, newest)
                if part.keys.high is not None and asyncio.get_running_loop().time() >= deadline:
                    walk.rest = KeyRange(part.keys.high)
                    return wanted
        walk.rest = None
        return wanted
