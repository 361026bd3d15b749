"""What is known when somebody asks why a job doesn't run, gathered in one place before anything is concluded.

Rules read it and nothing else, so the same evidence always gives the same answer. None means unknown, never none.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from shared.domain.dependencies.dependencies import Dependencies
from shared.domain.explain.findings import Severity
from shared.domain.explain.pool_growth import target_of
from shared.domain.explain.rivals import Rival, slots_of
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.jobs import COMPLETED, JobFacts
from shared.domain.jobs.observations import Preparation, Retried, Waiting
from shared.domain.nodes.nodes import START_TASK_FAILED, Node
from shared.domain.pools.pool_settings import Problem
from shared.domain.pools.pools import Pool
from shared.domain.tasks.tasks import TaskCounts

ENDING = (COMPLETED, "terminating", "deleting")
COMING = ("creating", "starting", "waitingforstarttask", "rebooting", "reimaging", "upgradingos")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a job and of all that its tasks need.

    `counts` are None before its first read. `pool_gone` is None where nobody could say whether there is a pool.
    `nodes` are those of the pool, empty where all of them can take tasks and some have room. `per_minute` is how many
    tasks of all jobs on the pool ended a minute lately. `waiting`, `dependencies`, `preparation` are None where nothing
    was looked at. `makes_pool`: the pool comes and goes with the job or its schedule; `scheduling_error` is why the
    service couldn't start the job.
    """

    now: datetime
    job: JobFacts
    rules: JobRules = JobRules()  # noqa: RUF009 - frozen
    deleted: bool = False
    counts: TaskCounts | None = None
    waiting_slots: int | None = None
    waiting: Waiting | None = None
    pool: Pool | None = None
    pool_gone: bool | None = None
    nodes: tuple[Node, ...] = ()
    rivals: tuple[Rival, ...] = ()
    per_minute: float | None = None
    dependencies: Dependencies | None = None
    preparation: Preparation | None = None
    retried: Retried | None = None
    makes_pool: bool = False
    scheduling_error: Problem | None = None

    @property
    def waits(self) -> int:
        """How many tasks wait, as far as anybody knows."""
        return self.counts.active if self.counts else 0

    @property
    def runs(self) -> int:
        return self.counts.running + self.counts.preparing if self.counts else 0

    @property
    def severity(self) -> Severity:
        """That of what keeps all of the waiting tasks for now: it blocks a job only if none of its tasks runs."""
        if not self.waits:
            return "info"
        return "limiting" if self.runs else "blocking"

    @property
    def lasting_severity(self) -> Severity:
        """That of what keeps all of the waiting tasks until somebody changes it: it blocks whatever runs."""
        return "blocking" if self.waits else "info"

    @property
    def lasting_pool_severity(self) -> Severity:
        """The same of what comes after dependencies."""
        return self._after_dependencies(self.lasting_severity)

    @property
    def later_severity(self) -> Severity:
        """That of what comes after dependencies: less where these hold every waiting task of which anything is known.

        A pool that has no nodes may have none for that reason: its formula doesn't count tasks that wait for others.
        """
        return self._after_dependencies(self.severity)

    def _after_dependencies(self, severity: Severity) -> Severity:
        seem_held = self.dependencies is not None and self.dependencies.seem_all_held
        return "limiting" if seem_held and severity == "blocking" else severity

    @property
    def is_emptied(self) -> bool:
        """True of a pool that is on its way to no nodes: those that it has run their tasks to the end and get none.

        A resize that is being stopped leaves the nodes that there are.
        """
        facts = self.pool.facts if self.pool else None
        if facts is None or facts.state != "active" or target_of(facts) != 0:
            return False
        return facts.allocation_state == "resizing" and facts.nodes > 0

    @property
    def ahead(self) -> tuple[Rival, ...]:
        """Jobs of a higher priority whose waiting tasks would take free slots now."""
        return tuple(rival for rival in self.rivals if rival.contending and rival.priority > (self.job.priority or 0))

    @property
    def equal(self) -> tuple[Rival, ...]:
        """Jobs of the same priority whose waiting tasks would take free slots now."""
        return tuple(rival for rival in self.rivals if rival.contending and rival.priority == (self.job.priority or 0))

    @property
    def own_slots(self) -> int:
        """Slots for which its own waiting tasks stand in line: those that others hold, or its bound, don't.

        None do that fit on no node.
        """
        if self.waiting and self.pool and self.waiting.least_slots > self.pool.facts.slots_per_node:
            return 0
        held = self.dependencies.held if self.dependencies else 0
        most = self.rules.max_parallel_tasks
        ready = max(self.waits - held, 0)
        ready = ready if most is None else min(ready, max(most - self.runs, 0))
        slots = self.waits if self.waiting_slots is None else self.waiting_slots
        return -(-slots * ready // self.waits) if self.waits else 0

    @property
    def is_contested(self) -> bool:
        """True where slots are free, and fewer than tasks stand in line for: in a moment others have them."""
        is_open = self.pool is not None and self.pool.facts.state == "active" and self.lacks_room is False
        if not (is_open and self.free and self.own_slots):
            return False
        return slots_of(self.ahead) + slots_of(self.equal) + self.own_slots > self.free

    @property
    def is_outranked(self) -> bool:
        """True where jobs of a higher priority would take all slots that are free, and those of nodes on their way."""
        slots = slots_of(self.ahead)
        per_node = self.pool.facts.slots_per_node if self.pool else 1
        return slots > 0 and self.able > 0 and slots >= self.free + (self.coming + self.awaited) * per_node

    @property
    def unfit(self) -> tuple[Node, ...]:
        """Nodes of the pool on which the job's preparation failed: they take no tasks of it."""
        failed = self.preparation.failed_nodes if self.preparation else ()
        return tuple(node for node in self.nodes if node.key in failed)

    @property
    def fit(self) -> tuple[Node, ...]:
        """Of the nodes, where they are known, those that may get tasks of this job."""
        unfit = {node.key for node in self.unfit}
        return tuple(node for node in self.nodes if node.is_able and node.key not in unfit)

    @property
    def free(self) -> int:
        """Slots that are free on nodes which may get tasks of this job."""
        if self.pool is None or self.pool.picture is None or self.is_emptied:
            return 0
        if not self.unfit:
            return self.pool.picture.summary.free
        return sum(max(self.pool.facts.slots_per_node - node.slots, 0) for node in self.fit)

    @property
    def states(self) -> Counter[str]:
        """Nodes by what they come to; by state where they aren't known one by one."""
        if self.nodes:
            return Counter(map(standing_of, self.nodes))
        found: Counter[str] = Counter()
        if self.pool and self.pool.picture:
            for state, _, number in self.pool.picture.summary.counts:
                found[state] += number
        return found

    @property
    def able(self) -> int:
        """Nodes that may get tasks."""
        return 0 if self.is_emptied else self.states["idle"] + self.states["running"]

    @property
    def coming(self) -> int:
        """Nodes that are starting."""
        return sum(self.states[state] for state in COMING)

    @property
    def awaited(self) -> int:
        """Nodes that the pool is to have and hasn't while it is resized, or after that failed; 0 otherwise."""
        if self.pool is None:
            return 0
        has_failed = any(error.is_current for error in self.pool.errors)
        return self.pool.facts.lacking if self.pool.facts.is_resized or has_failed else 0

    @property
    def is_unseen(self) -> bool:
        """True where the pool has nodes, but none was read yet."""
        return self.pool is not None and self.pool.picture is None and self.pool.facts.nodes > 0

    @property
    def lacks_room(self) -> bool | None:
        """Whether more room is what waiting tasks need: no node has enough for the least of them.

        False, too, where they fit on no node of the pool at all, or preparation fails on all. None where nobody knows,
        such as when not all of them were looked at and those that were find no room.
        """
        if self.is_unseen:
            return None
        if self.pool is None or not self.able:
            return True
        if not self.free:
            return bool(self.fit) or not self.unfit
        least, most = self.waiting.least_slots if self.waiting else 1, self.pool.facts.slots_per_node
        if least == 1 or any(least <= most - node.slots for node in self.fit):
            return False
        is_known = self.waiting is not None and self.waiting.looked >= self.waits and bool(self.nodes)
        return least <= most if is_known else None

    @property
    def pool_severity(self) -> Severity:
        """That of what keeps a pool from having room: nothing where there is room for all, less where nobody knows."""
        lacks = self.lacks_room
        if lacks is None and self.severity == "blocking":
            return "limiting"
        if lacks is False:
            return "limiting" if self.is_contested else "info"
        return self.later_severity

    @property
    def growth_severity(self) -> Severity:
        """That of what keeps a pool from having more nodes: those that are starting will do for some tasks."""
        return "limiting" if self.coming and self.pool_severity == "blocking" else self.pool_severity


def standing_of(node: Node) -> str:
    """What a node comes to, which mostly is its state.

    One that may get no tasks is `offline` whatever it still runs, one whose start task failed and is tried again isn't
    starting but failed.
    """
    if node.state in {"idle", "running"} and not node.is_able:
        return "offline"
    return START_TASK_FAILED if node.is_retried else node.state
