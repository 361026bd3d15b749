"""A day's tasks with events for `bench pools`: jobs as polls cache them, their log in Batch's form, and a pool's nodes.

One task in ten is retried once. Its first run has no known end, so it ends by what else its node does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import batched

from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.events.batch_events import BatchEvent
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.leaves.leaves import MAX_ROWS, Leaf
from shared.domain.nodes.nodes import Node
from shared.domain.tasks.tasks import COMPLETED, SUCCESS, Task, TaskCounts
from shared.domain.usage.usage_ledger import DeletedPool, UsageLedger
from shared.stores.events import TABLE, chunk_rows
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.leaf_rows import LeafEntry, LeafReplacement
from shared.stores.jobs.task_cache import Directory
from shared.stores.pools.nodes import StoredNodes, planned
from shared.stores.stores import Stores
from shared.stores.tables.rows import write_units
from shared.stores.tables.tables import Tables

ACCOUNT = "demo"
NOW = datetime(2026, 3, 2, 20, tzinfo=UTC)
RUN = 300_000  # milliseconds
_POOL, _NODES, _SLOTS, _RETRIED = "pool", 100, 4, 10
_BEGUN, _LATEST = NOW - timedelta(hours=19), timedelta(hours=18)  # the first start, and the last one after it
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class TaskRuns:
    """As many tasks in each of some jobs, in one pool."""

    jobs: int
    tasks: int

    async def seed(self, tables: Tables) -> None:
        stores = Stores(tables)
        for number in range(self.jobs):
            await self._save_job(stores, f"job-{number:04}", number)
        events = [event for number in range(self.jobs) for event in self._events(f"job-{number:04}", number)]
        rows = chunk_rows(ACCOUNT, "bench", events)
        for some in batched(rows, _AT_ONCE, strict=False):
            await write_units(tables[TABLE], [[row] for row in some])
        nodes = {node.key: node for node in map(_node, range(_NODES))}
        usage = UsageLedger(
            to_milliseconds(_BEGUN), to_milliseconds(NOW), pool=DeletedPool(_POOL, _SLOTS, "linux", None)
        )
        await stores.nodes.save_all([planned(StoredNodes(ACCOUNT, _POOL), nodes, None, usage)])

    async def _save_job(self, stores: Stores, name: str, number: int) -> None:
        leaf, partition = Leaf(self._tasks(number)), generation_partition(ACCOUNT, name, "g")
        first = Directory(partition, (LeafEntry("s", TaskCounts(), None),))
        rewrites = [LeafReplacement(first.leaves[0], leaf.split(MAX_ROWS))]
        directory = await stores.cache.save_head(await stores.cache.save_leaves(first, rewrites), NOW)
        snapshot = JobSnapshot("g", NOW, "delta", directory.counts, NOW, NOW, NOW, statistics=directory.statistics)
        await stores.jobs.save(ACCOUNT, Job(JobFacts(name, _BEGUN, "active", _BEGUN, pool_id=_POOL), snapshot))

    def _tasks(self, number: int) -> list[Task]:
        return [
            Task(
                f"task-{place:06}",
                COMPLETED,
                SUCCESS,
                transition=start + RUN,
                creation=to_milliseconds(_BEGUN),
                start=start,
                end=start + RUN,
                exit_code=0,
                retries=retries,
                node=(_POOL, node),
            )
            for place, (start, node, retries) in enumerate(self._runs(number))
        ]

    def _runs(self, number: int) -> Iterator[tuple[int, str, int]]:
        """Yields start, node and retries of the latest run of each task of a job."""
        begun, span = to_milliseconds(_BEGUN), _LATEST // timedelta(milliseconds=1)
        for place in range(number, self.jobs * self.tasks, self.jobs):
            yield begun + place * span // (self.jobs * self.tasks), _node(place % _NODES).id, int(place % _RETRIED == 0)

    def _events(self, job: str, number: int) -> Iterator[BatchEvent]:
        for task, (start, node, retries) in zip(self._tasks(number), self._runs(number), strict=True):
            if retries:
                yield _event("TaskStartEvent", job, task.id, node, start - RUN, start=start - RUN, retries=0)
            yield _event("TaskStartEvent", job, task.id, node, start, start=start, retries=retries)
            yield _event("TaskCompleteEvent", job, task.id, node, start + RUN, start=start, retries=retries)


def _node(number: int) -> Node:
    return Node(f"tvmps_{number:064}_d", "running", transition=to_milliseconds(_BEGUN), vm_size="standard_d4s_v5")


def _event(kind: str, job: str, task: str, node: str, at: int, *, start: int, retries: int) -> BatchEvent:
    stamp, end = from_milliseconds(start).isoformat(), from_milliseconds(at).isoformat()
    run = {"startTime": stamp, "endTime": end, "exitCode": 0, "retryCount": retries, "requeueCount": 0}
    if kind == "TaskStartEvent":
        run = {"retryCount": retries, "scheduledTime": stamp}
    properties = {
        "jobId": job,
        "id": task,
        "taskType": "User",
        "systemTaskVersion": 220192842,
        "requiredSlots": 1,
        "nodeInfo": {"poolId": _POOL, "nodeId": node},
        "multiInstanceSettings": {"numberOfInstances": 1},
        "constraints": {"maxTaskRetryCount": 2},
        "executionInfo": run,
    }
    identity = f"{job[-4:]}{task[-6:]}{kind[4]}{retries:d}".encode()
    return BatchEvent(from_milliseconds(at), kind, job, task, _POOL, node, properties, identity)
