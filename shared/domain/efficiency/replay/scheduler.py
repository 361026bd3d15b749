"""A model of Batch's scheduler by discrete events: tasks in their order, each to a node with enough free slots.

Of waiting tasks the oldest that fits goes first, to the node with the most free slots, or the fewest where nodes are
filled. A retried or interrupted run goes to the head of the queue.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.replay.event_budget import EventBudget
from shared.domain.efficiency.replay.workloads import InterruptionRate, ReplayTask

_HOUR = 3_600_000  # milliseconds
_MAX_RUNS = 20  # for each of its tasks: a replay with more is given up


class FreeSlots(NamedTuple):
    """Slots of a node that are free from a time on."""

    at: float
    node: int
    slots: int


class Bulk(NamedTuple):
    """What was before the replay: slot milliseconds of runs by how they ended, and milliseconds of nodes.

    `away` is the time of nodes without a machine, `restarted` that of their start-ups afterwards.
    """

    held: float = 0
    retried: float = 0
    lost: float = 0
    busy: float = 0
    away: float = 0
    restarted: float = 0


NO_BULK = Bulk()


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """Tasks on nodes, given by when their slots are free; `arrivals` are when each node is ready.

    Nodes are paid from `start_up` before they are ready until the job's end, except while they are interrupted.
    """

    tasks: Sequence[ReplayTask]
    slots: int
    arrivals: Sequence[float]
    free: Sequence[FreeSlots]
    gaps: Sequence[int] = (0,)
    needs: Sequence[frozenset[int]] = (frozenset(),)
    interruptions: InterruptionRate | None = None
    start_up: int = 0
    is_packed: bool = False
    bulk: Bulk = NO_BULK


class NodeTimes(NamedTuple):
    """The end of a replay, and milliseconds of nodes: in all, and divided by their use.

    `held` are those of runs that succeeded or failed for good, `retried` of earlier ones, `interrupted` of lost ones.
    """

    end: float
    nodes: float
    held: float
    retried: float
    interrupted: float
    idle_slots: float
    idle_nodes: float
    starting: float


def replayed(plan: ReplayPlan, chance: Draws, budget: EventBudget) -> NodeTimes | None:
    """Returns how a replay ends; None where interruptions or the budget keep tasks from it, or one needs more slots."""
    replay = _Replay(plan, chance)
    found = replay.run(budget.left)
    budget.take(replay.events)
    return found


@dataclass(slots=True)
class _Node:
    """`life` counts interruptions, so that ends of lost runs are recognized; `runs` are starts by task."""

    free: int = 0
    used: int = 0
    life: int = 0
    since: float = 0
    runs: dict[int, float] = field(default_factory=dict)


class _Event(NamedTuple):
    """What happens `at` a time: slots become free, a run ends, a task is released, or a node is interrupted."""

    at: float
    number: int
    kind: str
    node: int = 0
    life: int = 0
    task: int = 0


class _Replay:
    def __init__(self, plan: ReplayPlan, chance: Draws) -> None:
        self._plan = plan
        self._chance = chance
        self.events = 0
        self._nodes = [_Node() for _ in plan.arrivals]
        self._by_free: list[dict[int, None]] = [{} for _ in range(plan.slots + 1)]
        self._most_free = 0  # no node has more free slots
        self._waiting: dict[int, deque[int]] = {}
        self._left = [task.runs for task in plan.tasks]
        self._open = [0] * len(plan.needs)
        self._blocked: dict[int, list[int]] = {}
        self._undone = len(plan.tasks)
        self._placed = 0
        self._end = max((slot.at for slot in plan.free), default=0.0) if plan.bulk.busy else 0.0
        self._held, self._retried, self._lost, self._busy, self._away, self._restarted = plan.bulk
        self._interruptions: list[float] = []
        self._events: list[_Event] = []
        for slot in plan.free:
            self._plan_event(slot.at, "free", slot.node, task=slot.slots)
        for number, task in enumerate(plan.tasks):
            self._open[task.stage] += 1
            if task.release > 0 or plan.needs[task.stage]:
                self._plan_event(task.release, "release", task=number)
            else:
                self._push(number)
        if plan.interruptions and plan.interruptions.per_hour > 0:
            begins = {slot.node: slot.at for slot in sorted(plan.free, reverse=True)}
            for node, begin in sorted(begins.items()):
                self._plan_event(
                    begin + self._chance.expovariate(plan.interruptions.per_hour / _HOUR), "interrupt", node
                )

    def run(self, most_events: int) -> NodeTimes | None:
        events, most = self._events, _MAX_RUNS * (len(self._left) + len(self._nodes))
        if any(task.slots > self._plan.slots for task in self._plan.tasks):
            return None
        while self._undone and events:
            now = events[0].at
            while events and events[0].at == now:
                self._happen(heappop(events))
            self._dispatch(now)
            if self._placed > most or self.events >= most_events:
                return None
        return None if self._undone else self._times()

    def _happen(self, event: _Event) -> None:
        match event.kind:
            case "end":
                self._ended(event)
            case "free":
                node = self._nodes[event.node]
                if node.life == event.life:
                    self._set_free(event.node, node.free + event.task)
            case "release":
                self._released(event.task)
            case _:
                self._interrupt(event)

    def _plan_event(self, at: float, kind: str, node: int = 0, *, life: int = 0, task: int = 0) -> None:
        heappush(self._events, _Event(at, self.events, kind, node, life, task))
        self.events += 1

    def _push(self, task: int, *, first: bool = False) -> None:
        queue = self._waiting.setdefault(self._plan.tasks[task].slots, deque())
        (queue.appendleft if first else queue.append)(task)

    def _released(self, task: int) -> None:
        stage = self._plan.tasks[task].stage
        if any(self._open[need] for need in self._plan.needs[stage]):
            self._blocked.setdefault(stage, []).append(task)
        else:
            self._push(task)

    def _dispatch(self, now: float) -> None:
        while self._waiting:
            found = self._next()
            if found is None:
                return
            queue, node = found
            task = queue.popleft()
            slots = self._plan.tasks[task].slots
            if not queue:
                del self._waiting[slots]
            self._place(now, task, node)

    def _next(self) -> tuple[deque[int], int] | None:
        """Returns the queue of the oldest task that fits, and the node for it."""
        free = self._by_free
        while self._most_free and not free[self._most_free]:
            self._most_free -= 1
        most = self._most_free
        fitting = [slots for slots in self._waiting if slots <= most] if most else []
        if not fitting:
            return None
        slots = min(fitting, key=lambda each: self._waiting[each][0]) if len(fitting) > 1 else fitting[0]
        if self._plan.is_packed:
            most = next(size for size in range(slots, most + 1) if free[size])
        return self._waiting[slots], next(iter(free[most]))

    def _place(self, now: float, task: int, number: int) -> None:
        node, (_, duration, slots, _, _) = self._nodes[number], self._plan.tasks[task]
        start = now + self._chance.choice(self._plan.gaps)
        if not node.used:
            node.since = now
        node.used += slots
        node.runs[task] = start
        self._set_free(number, node.free - slots)
        self._placed += 1
        self._plan_event(start + duration, "end", number, life=node.life, task=task)

    def _set_free(self, number: int, free: int) -> None:
        node = self._nodes[number]
        self._by_free[node.free].pop(number, None)
        node.free = free
        if free:
            self._by_free[free][number] = None
            self._most_free = max(self._most_free, free)

    def _ended(self, event: _Event) -> None:
        node, task = self._nodes[event.node], self._plan.tasks[event.task]
        if node.life != event.life:
            return
        del node.runs[event.task]
        node.used -= task.slots
        if not node.used:
            self._busy += event.at - node.since
        self._set_free(event.node, node.free + task.slots)
        self._left[event.task] -= 1
        if self._left[event.task]:
            self._retried += task.duration * task.slots
            self._push(event.task, first=True)
            return
        self._held += task.duration * task.slots
        self._end = max(self._end, event.at)
        self._undone -= 1
        self._open[task.stage] -= 1
        if not self._open[task.stage]:
            for stage in [*self._blocked]:
                if not any(self._open[need] for need in self._plan.needs[stage]):
                    for one in self._blocked.pop(stage):
                        self._push(one)

    def _interrupt(self, event: _Event) -> None:
        """Loses a node's runs, and plans its return; work on slots that are free later is lost with it."""
        rate, node = self._plan.interruptions, self._nodes[event.node]
        if rate is None:
            return
        node.life += 1
        for task, start in sorted(node.runs.items(), reverse=True):
            self._lost += max(event.at - start, 0) * self._plan.tasks[task].slots
            self._push(task, first=True)
        if node.used:
            self._busy += event.at - node.since
        node.runs.clear()
        node.used = 0
        self._set_free(event.node, 0)
        self._interruptions.append(event.at)
        back = event.at + rate.away + self._plan.start_up
        self._plan_event(back, "free", event.node, life=node.life, task=self._plan.slots)
        self._plan_event(back + self._chance.expovariate(rate.per_hour / _HOUR), "interrupt", event.node)

    def _missing(self) -> tuple[float, float]:
        """Returns the times of nodes without a machine, and of their start-ups afterwards, both until the job's end."""
        away, restarted, plan = self._away, self._restarted, self._plan
        most = plan.interruptions.away if plan.interruptions else 0
        for at in self._interruptions:
            left = self._end - at
            away += min(most, left)
            restarted += min(plan.start_up, max(left - most, 0))
        return away, restarted

    def _times(self) -> NodeTimes:
        plan, end, busy = self._plan, self._end, self._busy
        there = sum(max(end - at, 0) for at in plan.arrivals)
        starting = sum(min(plan.start_up, at) for at in plan.arrivals if at < end)
        away, restarted = self._missing()
        away = min(away, there)
        held, retried, lost = (work / plan.slots for work in (self._held, self._retried, self._lost))
        idle_slots = max(busy - held - retried - lost, 0)
        return NodeTimes(
            end=end,
            nodes=max(there - away, 0) + starting,
            held=held,
            retried=retried,
            interrupted=lost,
            idle_slots=idle_slots,
            idle_nodes=max(there - away - restarted - busy, 0),
            starting=starting + min(restarted, max(there - away - busy, 0)),
        )
