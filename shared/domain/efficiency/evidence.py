"""What the rules on efficiency conclude from: the measured runs of a job on one VM size, and what their slots offer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Unpack

from shared.domain.efficiency.distributions import Distribution
from shared.domain.efficiency.job_context import JobContext, Kills
from shared.domain.efficiency.offers import NodeOffer, Room, SlotOffer, advised_nodes, nearest_size
from shared.domain.efficiency.task_groups import Figure, TaskGroup
from shared.domain.findings.finding import Amount, Details, Finding, Scope, Value
from shared.domain.findings.thresholds import (
    CORES_HEADROOM,
    MAX_SLOTS,
    MAX_WAITING_CORES,
    MEMORY_HEADROOM,
    MEMORY_NEAR,
    MIN_MEASURED_OF_SMALL_JOBS,
    MIN_MEASURED_RUNS,
    MIN_MORE_TASKS,
    NODE_MEMORY_FOR_TASKS,
)

THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class EfficiencyEvidence:
    """Runs of a job on a VM size. The job has so many `tasks`, None before its first read.

    `cost` is the money for what these tasks held; None where nothing of it has a price. `context` has what is known of
    the job beside them; where a job ran on several sizes, findings on it stand with the main one alone, which has most
    of the runs. `hourly` are the known prices of nodes by VM size.
    """

    job_id: str
    group: TaskGroup
    offer: SlotOffer
    tasks: int | None
    cost: Decimal | None = None
    context: JobContext = field(default_factory=JobContext)
    hourly: Mapping[str, Decimal] = field(default_factory=dict)
    is_main_size: bool = True

    def enough(self, figure: Figure) -> Distribution | None:
        """Returns a figure if enough runs have it: 20, or 5 if these are all tasks of the job."""
        values = self.group.figures.get(figure)
        return values if values and is_enough(values.count, self.tasks) else None

    @property
    def own_kills(self) -> Kills | None:
        """The job's kills, on its main VM size alone: they aren't known by size."""
        return self.context.kills if self.is_main_size else None

    @property
    def is_memory_near_limit(self) -> bool:
        """Whether one run in twenty reached 90 % of the memory of its slots."""
        memory, offered = self.enough("memory"), self.offer.memory
        return memory is not None and bool(offered) and memory.quantile(95) >= MEMORY_NEAR * (offered or 0)

    @property
    def may_wait(self) -> bool:
        """Whether half of the runs kept at most 0.3 cores busy, or 30 % of their slots' cores where that is less."""
        cores, offered = self.enough("cores"), self.offer.cores
        return cores is not None and cores.quantile(50) / THOUSAND <= MAX_WAITING_CORES * min(offered or 1, 1)

    @property
    def longest_run(self) -> timedelta | None:
        """The longest run of all tasks, measured or not; None where that isn't known, or too few runs were measured."""
        durations, runs = self.enough("duration"), self.context.runs
        if durations is None:
            return None
        measured = timedelta(milliseconds=durations.highest.value)
        if runs is not None and runs.at_least is not None and runs.at_most is not None:
            return measured if measured >= runs.at_least else runs.at_most
        return measured if self.tasks is not None and durations.count >= self.tasks else None

    @property
    def need(self) -> Room | None:
        """What suffices for a task: the highest peak of memory, and the cores that 95 % keep busy, with some room.

        It isn't more than the slots offer now.
        """
        memory, cores, offered = self.enough("memory"), self.enough("cores"), self.offer.room
        if memory is None or cores is None or offered is None:
            return None
        return Room(
            min(cores.quantile(95) / THOUSAND * CORES_HEADROOM, offered.cores),
            min(memory.highest.value * MEMORY_HEADROOM, offered.memory * NODE_MEMORY_FOR_TASKS),
        )

    @property
    def more_tasks(self) -> int | None:
        """How many tasks a node has room for, where these are at least half as many again as now.

        It is None where tasks were killed for lack of memory, and on nodes with GPUs, which more tasks would share.
        """
        node, need = self.offer.node.room, self.need
        if node is None or need is None or self.context.kills or self.offer.node.may_have_gpus:
            return None
        by_memory = node.memory * NODE_MEMORY_FOR_TASKS / max(need.memory, 1)
        by_cores = node.cores / need.cores if need.cores else MAX_SLOTS
        possible = int(min(by_memory, by_cores, self.offer.node.most_slots))
        return possible if possible >= MIN_MORE_TASKS * self.offer.tasks else None

    @property
    def fewer_tasks(self) -> int:
        """How many tasks, fewer than now, a node has memory for by their highest peak; 0 where not even one."""
        memory, offered = self.enough("memory"), self.offer.node.memory
        fewer = self.offer.tasks - 1
        if memory is None or not offered or not fewer:
            return fewer
        return min(fewer, int(offered * NODE_MEMORY_FOR_TASKS / max(memory.highest.value, 1)))

    @property
    def sufficient_size(self) -> str | None:
        """The smallest known VM size that has room for as many tasks as a node now, if it is much smaller.

        It has the same GPUs, which must be known, and a local disk unless nodes are known to have none. It costs less,
        as far as both prices are known.
        """
        return self._smaller(lambda one: one.replaces(self.offer.node))

    @property
    def size_without_gpus(self) -> str | None:
        """The smallest known VM size without GPUs that has room for as many tasks as a node now."""
        return self._smaller(lambda one: not one.gpus and one.has_disk_of(self.offer.node))

    @property
    def larger_size(self) -> str | None:
        """The smallest known VM size with at least as many vCPUs and enough memory for as many tasks as a node now.

        It has the same GPUs, which must be known, and a local disk unless nodes are known to have none.
        """
        node, memory = self.offer.node, self.enough("memory")
        if node.room is None or memory is None:
            return None
        need = self.offer.tasks * memory.highest.value * MEMORY_HEADROOM / NODE_MEMORY_FOR_TASKS
        return self.nearest(
            one
            for one in advised_nodes()
            if one.room and one.room.suffices(Room(node.room.cores, max(need, node.room.memory + 1)))
            if one.replaces(node)
        )

    def _smaller(self, is_fit: Callable[[NodeOffer], bool]) -> str | None:
        node, need, tasks = self.offer.node, self.need, self.offer.tasks
        if node.room is None or need is None or self.context.kills or self.is_memory_near_limit:
            return None
        whole = Room(need.cores * tasks, need.memory * tasks / NODE_MEMORY_FOR_TASKS)
        return self.nearest(
            one
            for one in advised_nodes()
            if one.room and one.room.suffices(whole) and one.room.is_much_smaller(node.room)
            if is_fit(one) and self._is_cheaper(one.vm_size)
        )

    def nearest(self, nodes: Iterable[NodeOffer]) -> str | None:
        """Returns the smallest size; of those alike the one whose version is nearest to the present one."""
        return nearest_size(nodes, self.offer.node.vm_size)

    def saved_by_size(self, size: str) -> Amount | None:
        """Returns the money that nodes of another size would have saved, None without both prices."""
        before, after = self.hourly.get(self.offer.node.vm_size), self.hourly.get(size)
        return Amount(self.cost * (before - after) / before, "money") if self.cost and before and after else None

    def _is_cheaper(self, size: str) -> bool:
        before, after = self.hourly.get(self.offer.node.vm_size), self.hourly.get(size)
        return before is None or after is None or after < before

    def saved_by(self, tasks: int) -> Amount | None:
        """Returns the money that nodes with `tasks` tasks each would have saved; a node can't have more than all."""
        tasks = max(min(tasks, max(self.tasks or 0, self.group.runs)), self.offer.tasks)
        return Amount(self.cost * (tasks - self.offer.tasks) / tasks, "money") if self.cost else None

    def found(self, rule: str, *, saving: Amount | None = None, **details: Unpack[Details]) -> Finding:
        """Returns the finding of a rule about the job."""
        about: dict[str, Value] = {"vmSize": self.offer.node.vm_size, "measuredRuns": self.group.runs}
        return Finding(
            rule=rule,
            scope=Scope("job", self.job_id),
            severity="info",
            title=details["title"],
            sentence=details["sentence"],
            advice=details["advice"],
            evidence={**details.get("evidence", {}), **about},
            amount=saving,
        )


def is_enough(runs: int, tasks: int | None) -> bool:
    """Returns whether so many measured runs are enough: 20, or 5 if these are all `tasks` of the job.

    The first tasks of a larger job to complete are its shortest.
    """
    is_all = tasks is not None and runs >= max(tasks, MIN_MEASURED_OF_SMALL_JOBS)
    return runs >= MIN_MEASURED_RUNS or is_all
