"""Compares a job's failed tasks with those that succeeded, from cached tasks, stored nodes and measured runs.

No request goes to Batch. Of a large job a sample is compared, in a thread, as it takes seconds of CPU.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.contrasts.attributes import NodeTraits, RunFigures
from shared.domain.contrasts.blamed_nodes import nodes_at_fault
from shared.domain.contrasts.comparison import compare_tasks
from shared.domain.contrasts.contrast import TaskComparison
from shared.domain.contrasts.node_outcomes import NodeOutcomes, OutcomeCounts, failing_nodes
from shared.domain.contrasts.rules.failing_nodes import failing_node_findings
from shared.domain.contrasts.sampling import ComparedTasks, TaskSample
from shared.domain.contrasts.setting_eras import PoolChange
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.findings.finding import Finding
from shared.domain.nodes.failing_nodes import NodePlace
from shared.domain.nodes.nodes import Node
from shared.domain.pools.pools import Pool
from shared.domain.pools.setting_changes import image_in, settings_at, texts_of_changes
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import Task, TaskCounts
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from shared.errors import UnreadableError
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.stores import Stores
from shared.stores.telemetry.measured_attempts import MeasuredAttemptStore

_CLOCKS_DIFFER = timedelta(minutes=1)  # a node's from Batch's


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """A job's comparison as of its counts, None before its first read, and findings on nodes whose tasks fail."""

    report: JobReport
    as_of: datetime | None
    counts: TaskCounts
    comparison: TaskComparison
    findings: Sequence[Finding] = ()


class TaskComparisons:
    def __init__(self, queries: Queries, walk: LeafReader, stores: Stores, attempts: MeasuredAttemptStore) -> None:
        self._queries = queries
        self._walk = walk
        self._nodes, self._pools = stores.nodes, stores.pools
        self._attempts = attempts

    async def of_job(self, account_id: str, job_id: str) -> ComparisonReport:
        """Returns a job's comparison. Raises NotFoundError, CacheConflictError, StorageError."""
        report = await self._queries.job(account_id, job_id)
        snapshot = report.job.snapshot
        counts = snapshot.counts if snapshot else TaskCounts()
        compared, outcomes = ComparedTasks(TaskSample.of(counts)), OutcomeCounts()
        if counts.failed:
            await self._read(report, compared, outcomes)
        tasks = compared.tasks
        is_compared = bool(tasks) and counts.succeeded > 0
        starts = _first_starts(tasks) if is_compared else {}
        pools = await self._pools_of(report.account.key, starts)
        traits = await self._traits(report.account.key, pools, starts)
        figures = await self._figures(report, tasks) if is_compared else {}
        found = outcomes.of_job(report.job.key)
        comparison, findings = await asyncio.to_thread(
            _compared, compared, found, traits, figures, {name: _changes(pool) for name, pool in pools.items()}
        )
        return ComparisonReport(report, snapshot.as_of if snapshot else None, counts, comparison, findings)

    async def _read(self, report: JobReport, compared: ComparedTasks, outcomes: OutcomeCounts) -> None:
        """Reads all tasks: also those that haven't ended have a position, and a sample says no rates of nodes."""
        async with aclosing(self._walk.slices(report.account.id, report.job.facts.id)) as slices:
            async for part in slices:
                compared.add(part.leaf, part.places)
                outcomes.add_leaf(part.leaf, part.places)

    async def _pools_of(self, account_key: str, places: Collection[NodePlace]) -> dict[str, Pool | None]:
        """Returns the pools of nodes by id, None where one isn't stored or can't be read. Raises StorageError."""
        found = dict[str, Pool | None]()
        for name in sorted({place[0] for place in places}):
            try:
                _, found[name] = await self._pools.load(account_key, name)
            except UnreadableError:
                found[name] = None
        return found

    async def _traits(
        self, account_key: str, pools: Mapping[str, Pool | None], starts: Mapping[NodePlace, int]
    ) -> dict[NodePlace, NodeTraits]:
        """Returns what is stored of the nodes that ran tasks; of nodes that are gone only what their pool had set."""
        found = dict[NodePlace, NodeTraits]()
        for name, pool in pools.items():
            stored = (await self._nodes.read(account_key, key_of(name))).nodes
            for place, start in starts.items():
                if place[0] == name:
                    found[place] = _traits(stored.get(key_of(place[1])), pool, start)
        return found

    async def _figures(self, report: JobReport, tasks: Sequence[Task]) -> dict[str, RunFigures]:
        """Returns the figures of the latest runs, by task key."""
        since = max(to_milliseconds(report.job.facts.creation_time - _CLOCKS_DIFFER) // 1000, 0)
        runs = await self._attempts.load_runs(report.account.key, report.job.key, since)
        starts = {key_of(task.id): task.start // 1000 for task in tasks} if runs else {}
        latest = dict[str, MeasuredAttempt]()
        for run in sorted(runs, key=lambda one: one.start):
            latest[key_of(run.task)] = run
        allowed = _CLOCKS_DIFFER.total_seconds()
        return {
            key: RunFigures(run.memory_peak, run.gpus, run.gpu_memory_peak, run.vm_size)
            for key, run in latest.items()
            if key in starts and abs(run.start - starts[key]) <= allowed
        }


def _changes(pool: Pool | None) -> list[PoolChange]:
    texts = texts_of_changes(pool.changes, more=pool.changes_left_out) if pool else []
    return [PoolChange(to_milliseconds(at), text) for at, text in texts]


def _first_starts(tasks: Sequence[Task]) -> dict[NodePlace, int]:
    """Returns the first start on each node that ran tasks, in milliseconds since 1970."""
    found = dict[NodePlace, int]()
    for task in tasks:
        if task.node[1] and task.start:
            found[task.node] = min(found.get(task.node, task.start), task.start)
    return found


def _traits(node: Node | None, pool: Pool | None, start: int) -> NodeTraits:
    """Returns what is known of a node that ran a task at a time: Batch changes images of empty pools alone."""
    at = from_milliseconds(start)
    is_younger = pool is not None and pool.facts.creation_time <= at
    settings = settings_at(pool.facts, pool.changes, at) if pool and is_younger else {}
    known = NodeTraits(node.vm_size, node.dedicated, agent=node.agent) if node else NodeTraits()
    return known._replace(image=image_in(settings))


def _compared(
    compared: ComparedTasks,
    outcomes: NodeOutcomes,
    traits: Mapping[NodePlace, NodeTraits],
    figures: Mapping[str, RunFigures],
    changes: Mapping[str, Sequence[PoolChange]],
) -> tuple[TaskComparison, list[Finding]]:
    comparison = compare_tasks(compared.tasks, traits, figures, compared.positions(), changes=changes)
    nodes = nodes_at_fault(failing_nodes(outcomes), comparison)
    return comparison, list(failing_node_findings(nodes))
