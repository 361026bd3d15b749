"""Evidence for the question why a job doesn't run, gathered completely before any rule concludes from it.

Rules read nothing else, so the same evidence always gives the same answer. None means unknown, never none.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Unpack

from shared.domain.dependencies.dependencies import Dependencies
from shared.domain.events.batch_events import BatchEvent
from shared.domain.explain.competing_jobs import CompetingJob, Rank, rank_of, slots_of
from shared.domain.explain.pool_nodes import NO_NODES, PoolNodes, roomiest
from shared.domain.explain.pool_size import wants_no_nodes
from shared.domain.explain.preemptions import Requeue
from shared.domain.findings.finding import Details, Finding, Scope, Severity
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.jobs import COMPLETED, JobFacts
from shared.domain.jobs.observations import NONE_OVERSIZED, OversizedTasks, Preparation, RequiredSlots, RetriedTask
from shared.domain.nodes.failing_nodes import FailingNodes
from shared.domain.nodes.nodes import Node, by_state
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_settings import Problem
from shared.domain.pools.pools import Pool
from shared.domain.quotas.account_quotas import Quota
from shared.domain.tasks.tasks import TaskCounts

ENDING = {
    COMPLETED: ("jobCompleted", "has completed"),
    "terminating": ("jobTerminating", "is being terminated"),
    "deleting": ("jobDeleting", "is being deleted"),
}
"""States of a job that takes no more tasks, with their rules and words."""
EXPIRED = "maxwallclocktimeexpiry"
COMING = ("creating", "starting", "waitingforstarttask", "rebooting", "reimaging", "upgradingos")

type Found = Finding | None
"""The result of a rule: None where it doesn't apply, or where its evidence is missing."""
type Rule = Callable[["Evidence"], Found]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The known facts about a job and everything that its tasks need.

    `counts` is None before the job's first read. `pool_gone` is None where the pool's existence is unknown. `nodes` are
    the pool's, empty where all of them can take tasks and some have room. `per_minute` is how many tasks of all jobs on
    the pool recently ended per minute. `waiting`, `dependencies` and `preparation` are None where nothing was read.
    `makes_pool` means that the pool is created and deleted with the job or its schedule. `scheduling_error` is the
    reason why the service couldn't start the job. `node_events` are those that the pool's nodes reported lately.
    `requeues` are those of its running tasks lately, if it allows preemption.
    `quotas` are the account's where the pool lacks nodes for a quota of cores.
    `failing_nodes` are those on which tasks of the job fail beyond what chance explains, None where none is known.
    """

    now: datetime
    job: JobFacts
    rules: JobRules = JobRules()  # noqa: RUF009 - frozen
    deleted: bool = False
    counts: TaskCounts | None = None
    waiting_slots: int | None = None
    waiting: RequiredSlots | None = None
    pool: Pool | None = None
    pool_gone: bool | None = None
    nodes: PoolNodes = NO_NODES
    competing_jobs: tuple[CompetingJob, ...] = ()
    per_minute: float | None = None
    dependencies: Dependencies | None = None
    preparation: Preparation | None = None
    retried: RetriedTask | None = None
    makes_pool: bool = False
    scheduling_error: Problem | None = None
    node_events: tuple[BatchEvent, ...] | None = None
    requeues: tuple[Requeue, ...] | None = None
    quotas: tuple[Quota, ...] = ()
    failing_nodes: FailingNodes | None = None

    def about_job(self, rule: str, severity: Severity, **details: Unpack[Details]) -> Finding:
        """Returns a finding about the job."""
        return Finding(rule, Scope("job", self.job.id), severity, **details)

    def about_pool(self, rule: str, severity: Severity, **details: Unpack[Details]) -> Finding:
        """Returns a finding about the job's pool."""
        pool_id = self.facts.id if self.facts else self.job.pool_id or ""
        return Finding(rule, Scope("pool", pool_id), severity, **details)

    @property
    def facts(self) -> PoolFacts | None:
        return self.pool.facts if self.pool else None

    @property
    def priority(self) -> int:
        return self.job.priority or 0

    @property
    def terminate_reason(self) -> str:
        return (self.job.terminate_reason or "").lower()

    @property
    def waiting_tasks(self) -> int:
        """Returns the number of waiting tasks, as far as known."""
        return self.counts.active if self.counts else 0

    @property
    def running_tasks(self) -> int:
        return self.counts.running + self.counts.preparing if self.counts else 0

    @property
    def severity(self) -> Severity:
        """Returns the severity of a temporary cause for all waiting tasks: blocking only if no task runs."""
        if not self.waiting_tasks:
            return "info"
        return "limiting" if self.running_tasks else "blocking"

    @property
    def lasting_severity(self) -> Severity:
        """Returns the severity of a cause for all waiting tasks that needs action: blocking even if tasks run."""
        return "blocking" if self.waiting_tasks else "info"

    @property
    def lasting_pool_severity(self) -> Severity:
        """Returns `lasting_severity` for causes that rank after dependencies."""
        return self._after_dependencies(self.lasting_severity)

    @property
    def later_severity(self) -> Severity:
        """Returns `severity` for causes that rank after dependencies: less where these hold every known waiting task.

        A pool may have no nodes for that very reason: its formula doesn't count tasks that wait for others.
        """
        return self._after_dependencies(self.severity)

    def _after_dependencies(self, severity: Severity) -> Severity:
        seem_held = self.dependencies is not None and self.dependencies.seem_all_held
        return "limiting" if seem_held and severity == "blocking" else severity

    @property
    def is_emptied(self) -> bool:
        """Returns whether the pool shrinks to no nodes: its nodes finish their tasks and get no new ones.

        A resize that is being stopped leaves the existing nodes.
        """
        facts = self.facts
        return facts is not None and wants_no_nodes(facts) and facts.allocation_state == "resizing" and facts.nodes > 0

    @property
    def is_to_be_empty(self) -> bool:
        """Returns whether the pool's target is no nodes, and no node continues to take tasks."""
        if self.facts is None or not wants_no_nodes(self.facts):
            return False
        return self.is_emptied or not (self.able or self.is_unseen)

    @property
    def rank(self) -> Rank:
        return self._rank(self.priority, self.job.creation_time)

    def rank_of(self, job: CompetingJob) -> Rank:
        return self._rank(job.priority, job.creation_time)

    def _rank(self, priority: int, creation_time: datetime) -> Rank:
        oldest_first = self.facts is not None and self.facts.takes_oldest_first
        return rank_of(priority, creation_time, oldest_first=oldest_first)

    @property
    def ahead(self) -> tuple[CompetingJob, ...]:
        """Returns jobs that go first, and whose waiting tasks would take free slots now.

        They have a higher priority, or are older where the pool takes the oldest of equal priority first.
        """
        rank = self.rank
        return tuple(job for job in self.competing_jobs if job.contending and self.rank_of(job) < rank)

    @property
    def equal(self) -> tuple[CompetingJob, ...]:
        """Returns jobs with the same chances whose waiting tasks would take free slots now."""
        rank = self.rank
        return tuple(job for job in self.competing_jobs if job.contending and self.rank_of(job) == rank)

    @property
    def own_slots(self) -> int:
        """Returns the slots for which tasks compete that neither others, maxParallelTasks nor their width hold."""
        held, wide = self.dependencies.held if self.dependencies else 0, self.oversized
        most, fitting = self.rules.max_parallel_tasks, self.waiting_tasks - wide.number
        ready = max(self.waiting_tasks - max(held, wide.number), 0)
        ready = ready if most is None else min(ready, max(most - self.running_tasks, 0))
        slots = fitting if self.waiting_slots is None else self.waiting_slots - wide.slots
        return max(-(-slots * ready // fitting), ready) if fitting > 0 else 0

    @property
    def oversized(self) -> OversizedTasks:
        """Returns the waiting tasks that fit on no node, as far as known."""
        if self.waiting is None or self.pool is None:
            return NONE_OVERSIZED
        return self.waiting.oversized(self.pool.facts.slots_per_node, self.waiting_tasks)

    @property
    def is_contested(self) -> bool:
        """Returns whether free slots are fewer than competing tasks need, so that others will have them in a moment."""
        is_open = self.pool is not None and self.pool.facts.state == "active" and self.lacks_room is False
        if not (is_open and self.free and self.own_slots):
            return False
        return slots_of(self.ahead) + slots_of(self.equal) + self.own_slots > self.free

    @property
    def is_outranked(self) -> bool:
        """Returns whether jobs that go first would take all free slots, and those of nodes on their way."""
        slots = slots_of(self.ahead)
        per_node = self.pool.facts.slots_per_node if self.pool else 1
        return slots > 0 and self.able > 0 and slots >= self.free + (self.coming + self.awaited) * per_node

    @property
    def unfit(self) -> tuple[Node, ...]:
        """Returns the pool's nodes on which the job's preparation task failed; these take none of its tasks."""
        return self.nodes.keyed(self.preparation.failed_nodes) if self.preparation else ()

    @property
    def fit(self) -> tuple[Node, ...]:
        """Returns the known nodes that may get tasks of this job."""
        failed = self.preparation.failed_nodes if self.preparation else ()
        return tuple(node for node in self.nodes.able if node.key not in failed) if failed else self.nodes.able

    @property
    def free(self) -> int:
        """Returns the number of free slots on nodes that may get tasks of this job."""
        if self.pool is None or self.pool.snapshot is None or self.is_emptied:
            return 0
        if not self.unfit:
            return self.pool.snapshot.summary.free
        return sum(max(self.pool.facts.slots_per_node - node.slots, 0) for node in self.fit)

    @property
    def states(self) -> Counter[str]:
        """Returns the number of nodes by effective state, or by state where single nodes aren't known."""
        if self.nodes:
            return self.nodes.states
        return Counter(by_state(self.pool.snapshot.summary.counts if self.pool and self.pool.snapshot else ()))

    @property
    def able(self) -> int:
        """Returns the number of nodes that may get tasks."""
        return 0 if self.is_emptied else self.states["idle"] + self.states["running"]

    @property
    def coming(self) -> int:
        """Returns the number of nodes that are starting."""
        states = self.states
        return sum(states[state] for state in COMING)

    @property
    def awaited(self) -> int:
        """Returns the number of nodes below target, during a resize or after a failed one; 0 otherwise."""
        if self.pool is None:
            return 0
        return self.pool.facts.lacking if self.pool.facts.is_resized or self.pool.current_errors else 0

    @property
    def is_unseen(self) -> bool:
        """Returns whether the pool has nodes, but none was read."""
        return self.pool is not None and self.pool.snapshot is None and self.pool.facts.nodes > 0

    @property
    def lacks_room(self) -> bool | None:
        """Returns whether waiting tasks need more room: no node has enough for the smallest of them.

        False, too, where they fit on no node of the pool at all, or preparation fails on all nodes. None where that is
        unknown, such as when only some waiting tasks were read and these find no room.
        """
        if self.is_unseen:
            return None
        if self.pool is None or not self.able:
            return True
        if not self.free:
            return bool(self.fit) or not self.unfit
        least, most = self.waiting.least_slots if self.waiting else 1, self.pool.facts.slots_per_node
        if least == 1 or (self._roomiest and least <= most - self._roomiest.slots):
            return False
        is_known = self.waiting is not None and self.waiting.looked >= self.waiting_tasks and bool(self.nodes)
        return least <= most if is_known else None

    @property
    def _roomiest(self) -> Node | None:
        return roomiest(self.fit) if self.unfit else self.nodes.roomiest

    @property
    def pool_severity(self) -> Severity:
        """Returns the severity of a cause for a lack of room: lower where there is room, or where that is unknown."""
        lacks = self.lacks_room
        if lacks is None and self.severity == "blocking":
            return "limiting"
        if lacks is False:
            return "limiting" if self.is_contested else "info"
        return self.later_severity

    @property
    def growth_severity(self) -> Severity:
        """Returns the severity of a cause that keeps a pool from growing: starting nodes suffice for some tasks."""
        return "limiting" if self.coming and self.pool_severity == "blocking" else self.pool_severity
