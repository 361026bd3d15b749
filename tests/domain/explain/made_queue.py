"""Queues of pools assembled from jobs, and what they show."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from shared.domain.explain.competing_jobs import CompetingJob
from shared.domain.explain.pool_nodes import PoolNodes
from shared.domain.explain.pool_queue import QueuedJob, QueueEvidence, WaitingJob, queue_of
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.observations import RequiredSlots
from shared.domain.nodes.nodes import Node
from shared.domain.tasks.tasks import TaskCounts
from tests.domain.explain.made_evidence import BUSY, FACTS, JOB, MINUTE, NOW, pool, required

SECOND = timedelta(seconds=1)
NO_RULES, DEPENDS = JobRules(), JobRules(uses_task_dependencies=True)


def job(
    name: str,
    priority: int = 0,
    age: float = 10,
    *,
    tasks: int = 5,
    running: int = 0,
    slots: int = 1,
    state: str = "active",
    rules: JobRules = NO_RULES,
    **more: Any,
) -> WaitingJob:
    """Returns a job created `age` minutes ago."""
    created, counts = NOW - age * MINUTE, TaskCounts(active=tasks, running=running)
    facts = replace(JOB, id=name, creation_time=created, priority=priority, state=state, rules=rules)
    waiting_job = WaitingJob(
        facts, CompetingJob(name, priority, state, rules, counts, running, tasks * slots, created, **more)
    )
    return waiting_job.with_slots(required(tasks, slots), FACTS.slots_per_node) if slots > 1 and tasks else waiting_job


def mixed(each: WaitingJob, widths: Mapping[int, int], *, unread: int = 0) -> WaitingJob:
    """Returns the job with so many waiting tasks by the slots that they require, and more that weren't read, of one."""
    found = RequiredSlots.of(widths)
    slots = sum(slots * tasks for slots, tasks in found.tasks) + unread
    counts = replace(each.job.counts, active=found.looked + unread)
    job = replace(each.job, counts=counts, waiting_slots=slots)
    return replace(each, job=job).with_slots(found, FACTS.slots_per_node)


def queue(
    *jobs: WaitingJob, nodes: tuple[Node, ...] = (BUSY,), rate: float | None = 10.0, top: int = 100, **pool_changes: Any
) -> list[QueuedJob]:
    return queue_of(QueueEvidence(NOW, pool(*nodes, **pool_changes), PoolNodes(nodes), rate, jobs), top)


def shown(found: list[QueuedJob]) -> list[tuple[str, int | None, int | None, float | None, str | None]]:
    return [
        (one.waiting.facts.id, one.rank, one.ready, one.share, one.cause.rule if one.cause else None) for one in found
    ]
