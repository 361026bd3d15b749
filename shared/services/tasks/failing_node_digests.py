"""Determines on which nodes tasks of a job fail beyond what chance explains, and stores them in the job's row.

Rounds name polled jobs with failed tasks. After each tick the leaves of those with other failures than before are read
for a few seconds: no request goes to Batch, and none to storage where nothing new failed. Only jobs with such nodes are
written, so explanations and pools read no tasks.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from zlib import crc32

from shared.domain.accounts.accounts import Account
from shared.domain.contrasts.blamed_nodes import nodes_at_fault
from shared.domain.contrasts.comparison import compare_tasks
from shared.domain.contrasts.node_outcomes import NodeOutcomes, OutcomeCounts, failing_nodes
from shared.domain.contrasts.sampling import ComparedTasks, TaskSample
from shared.domain.core.keys import KeyRange
from shared.domain.core.stamps import to_milliseconds
from shared.domain.findings.thresholds import MIN_FAILED_OF_NODE
from shared.domain.jobs.jobs import Job
from shared.domain.nodes.failing_nodes import FailingNode, FailingNodes
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import BatchscopeError, NotFoundError
from shared.log import logger
from shared.services.accounts.registry import Registry
from shared.services.jobs.job_records import JobRecords
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.jobs.jobs import JobStore

_LOG = logger(__name__)
_BUDGET, _READING = timedelta(seconds=3), timedelta(seconds=10)  # in all, and of a job that was begun in time
_INTERVAL = timedelta(minutes=3)  # between two looks at a job
_MAX_TASKS, _MAX_LEAVES = 250_000, 128  # a sample of a larger job's leaves is read, the same ones each time
_MAX_SEEN = 10_000  # jobs
_ALL = 1 << 32
_SHARE = 0.3  # of the sample of a comparison: half a second of CPU

type _Seen = tuple[datetime, int]
"""When a job was created, and how many of its tasks had failed."""


@dataclass(frozen=True, slots=True)
class FailingNodeDigests:
    """Determines failing nodes of jobs of all accounts. This process remembers which failures it has looked at."""

    registry: Registry
    walk: LeafReader
    jobs: JobStore
    records: JobRecords
    _seen: dict[tuple[str, str], _Seen] = field(default_factory=dict)
    _looked: dict[tuple[str, str], datetime] = field(default_factory=dict)
    _due: dict[str, dict[str, Job]] = field(default_factory=dict)

    async def refresh(self, failing: Mapping[str, Sequence[Job]], budget: timedelta = _BUDGET) -> None:
        """Looks at due jobs; `failing` are polled jobs with failed tasks, by account id.

        No job is begun after the `budget`. Errors are logged, and later calls try again.
        """
        self._note(failing)
        end = asyncio.get_running_loop().time() + min(budget, _BUDGET).total_seconds()
        due = [(account, jobs) for account, jobs in self._due.items() if jobs]
        await asyncio.gather(*(self._refresh(self.registry.account(account), jobs, end) for account, jobs in due))

    def _note(self, failing: Mapping[str, Sequence[Job]]) -> None:
        """Makes jobs due with other failures than this process looked at, or than those with the stored nodes."""
        if len(self._seen) > _MAX_SEEN:
            self._seen.clear()
            self._looked.clear()
        for account, jobs in failing.items():
            for job in jobs:
                failed, stored = _failed(job), job.failing_nodes
                now = job.facts.creation_time, failed
                may_differ = failed != stored.failed if stored else failed >= MIN_FAILED_OF_NODE
                if may_differ and self._seen.get((account, job.key)) != now:
                    self._due.setdefault(account, {})[job.key] = job

    async def _refresh(self, account: Account, due: dict[str, Job], end: float) -> None:
        for key, job in list(due.items()):
            now = await self.registry.clock.now()
            looked = self._looked.get((account.id, key))
            if asyncio.get_running_loop().time() >= end:
                return
            if looked is not None and now - looked < _INTERVAL:
                continue
            del due[key]
            self._looked[account.id, key] = now
            try:
                await self._look(account, job)
            except NotFoundError:  # the job was deleted
                continue
            except (BatchscopeError, TimeoutError) as error:
                _LOG.info("Failing nodes of %s weren't determined: %s", job.facts.id, str(error) or "it took too long")
                due.setdefault(key, job)  # behind the others, also if it fails again
                continue
            self._seen[account.id, key] = job.facts.creation_time, _failed(job)

    async def _look(self, account: Account, job: Job) -> None:
        """Determines and stores the failing nodes of a job.

        Raises NotFoundError, CacheConflictError, StorageError, TimeoutError.
        """
        snapshot = job.snapshot
        if snapshot is None:
            return
        async with asyncio.timeout(_READING.total_seconds()):
            outcomes, compared, is_part = await self._read(account, job, snapshot.counts)
        nodes = await asyncio.to_thread(_at_fault, outcomes.of_job(job.key), compared)
        made = FailingNodes(to_milliseconds(snapshot.as_of), snapshot.counts.failed, tuple(nodes), is_part)
        stored = await self.jobs.load(account.key, job.facts.id)
        if stored is None or stored.facts.creation_time != job.facts.creation_time:
            return
        found = made if nodes else None
        if found != stored.failing_nodes:
            await self.records.save(account.key, replace(stored, failing_nodes=found))

    async def _read(self, account: Account, job: Job, tasks: TaskCounts) -> tuple[OutcomeCounts, ComparedTasks, bool]:
        """Returns the outcomes of a job's tasks, a smaller sample of them, and whether only a part was read."""
        outcomes, compared, number = OutcomeCounts(), ComparedTasks(TaskSample.of(tasks, _SHARE)), 0
        ended = tasks.succeeded + tasks.failed
        limit = _ALL if ended <= _MAX_TASKS else _ALL * _MAX_TASKS // ended

        def is_sampled(keys: KeyRange) -> bool:
            return crc32(keys.low.encode()) < limit

        slices = self.walk.slices(
            *(account.id, job.facts.id),
            wanted=lambda counts, _: counts.succeeded + counts.failed > 0,
            holds=is_sampled,
        )
        async with aclosing(slices):
            async for part in slices:
                outcomes.add_leaf(part.leaf, part.places)
                compared.add(part.leaf, part.places)
                number += 1
                if number == _MAX_LEAVES:
                    return outcomes, compared, True
        return outcomes, compared, limit < _ALL


def _at_fault(outcomes: NodeOutcomes, compared: ComparedTasks) -> list[FailingNode]:
    found = failing_nodes(outcomes)
    return nodes_at_fault(found, compare_tasks(compared.tasks, positions=compared.positions())) if found else []


def _failed(job: Job) -> int:
    return job.snapshot.counts.failed if job.snapshot else 0
