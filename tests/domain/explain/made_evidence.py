"""Evidence assembled from parts, and its findings."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.domain.dependencies.dependencies import BlockingTask, Dependencies
from shared.domain.events.batch_events import BatchEvent
from shared.domain.explain.competing_jobs import CompetingJob
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.explanation import explain
from shared.domain.explain.pool_nodes import PoolNodes
from shared.domain.explain.preemptions import Requeue
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.jobs import JobFacts
from shared.domain.jobs.observations import RequiredSlots
from shared.domain.nodes.nodes import Node, NodeError, StartRun, summary_of
from shared.domain.pools.machine_settings import MachineSettings, SchedulingPolicy
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pool_settings import AutoScale, Problem
from shared.domain.pools.pools import NodesSnapshot, Pool, first_seen
from shared.domain.tasks.tasks import TaskCounts

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
JOB = JobFacts("job", NOW - 60 * MINUTE, "active", NOW - 60 * MINUTE, pool_id="pool", priority=0)
WAITS = TaskCounts(active=10)
FACTS = PoolFacts(
    "pool", NOW - 60 * MINUTE, "active", NOW - 60 * MINUTE, "standard_d2s_v5", allocation_state="steady",
    allocation_state_transition_time=NOW, dedicated=Size(2, 2), spot=Size(0, 0), slots_per_node=2,
)  # fmt: skip
FULL = tuple(Node(f"full-{number}", "running", slots=2, tasks=2) for number in range(3))
IDLE, BUSY = Node("idle", "idle"), Node("busy", "running", slots=2, tasks=2)
FAILED = Node("failed", "starttaskfailed", start=StartRun("completed", "failure", 7))
LOST = Node("lost", "unusable", errors=(NodeError("DiskFull", "no space"),))
GONE = Node("gone", "preempted", dedicated=False)
SHUT = Node("shut", "idle", scheduling="disabled")
COMING = Node("coming", "waitingforstarttask")
RETRIED = Node("retried", "waitingforstarttask", start=StartRun("running", "failure", retries=57))
REPORTED = tuple(
    BatchEvent(
        NOW - MINUTE, f"node.{kind}", "job", "task", "pool", "busy", {"xid": 79, "message": "It says so."}, bytes(12)
    )
    for kind in ("oom_kill", "disk_full", "gpu_xid")
)
"""Events of the node `busy`."""
LEAVING = Node("leaving", "leavingpool")
QUOTA = Problem("AccountCoreQuotaReached", "No cores.")
SCALE_ERROR = AutoScale("x", error=Problem("InsufficientSampleData", "No samples."))
URGENT = CompetingJob("other", 5, "active", JobRules(), TaskCounts(active=7, running=4), 4, 7, NOW - 90 * MINUTE)
OLDEST_FIRST = MachineSettings(task_scheduling_policy=SchedulingPolicy(job_default_order="creationtime"))
OLDER = replace(URGENT, id="older", priority=0)
PREEMPTED = tuple(Requeue(f"task-{number}", "busy", NOW - number * MINUTE, "other") for number in (1, 2))
"""Requeues of two tasks of a job that allows them."""
HELD = Dependencies(10, whole=True, held=10, lost=10, blockers=(BlockingTask("first", "failed", 10),))
BY_WAITING = Dependencies(9, whole=False, held=9, blockers=(BlockingTask("first", "waiting", 9),))
MOSTLY_HELD = replace(HELD, held=3, lost=3, unsure=7)


def pool(*nodes: Node, **changes: Any) -> Pool:
    facts = replace(FACTS, **changes)
    snapshot = NodesSnapshot(NOW, NOW, "firstRead", summary_of(nodes, facts.slots_per_node), "digest")
    return first_seen(facts, NOW).listed(snapshot)


def evidence(
    *nodes: Node, counts: TaskCounts = WAITS, pool_changes: dict[str, Any] | None = None, **more: Any
) -> Evidence:
    found = Evidence(NOW, JOB, counts=counts, pool=pool(*nodes, **(pool_changes or {})), nodes=PoolNodes(nodes))
    return replace(found, **more)


def roomy(*nodes: Node, **more: Any) -> Evidence:
    """Returns evidence with one waiting task, for which any free slot suffices."""
    return evidence(*nodes, counts=TaskCounts(active=1), **more)


def required(tasks: int, *slots: int) -> RequiredSlots:
    """Returns the slots of so many tasks: all but one require the first number, the last one the other."""
    first, *others = slots
    return RequiredSlots.of(Counter([first] * (tasks - 1) + [*others, first][:1]))


def unseen(**pool_changes: Any) -> Evidence:
    """Returns evidence of a pool whose nodes couldn't be read."""
    return evidence(pool=first_seen(replace(FACTS, **pool_changes), NOW))


def codes_of(found: Evidence) -> list[tuple[str, str]]:
    return [(finding.rule, finding.severity) for finding in explain(found).findings]
