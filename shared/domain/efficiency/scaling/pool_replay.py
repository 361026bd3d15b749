"""A model of a pool that scales: tasks wait for slots, a formula sets targets, and nodes come and go with these.

New nodes are ready after a start-up as measured. Of nodes that are removed, those with the fewest runs go first. Runs
on them are begun again, end, or hold the node until their end, as the formula's `$NodeDeallocationOption` says.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Literal, NamedTuple

from shared.domain.autoscale.evaluation import OPTIONS, Targets
from shared.domain.autoscale.formula_errors import FormulaLimitError
from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.scaling.agreement import Evaluator
from shared.domain.efficiency.scaling.recorded_pool import NODE_VARIABLES, SAMPLE_STEP, TASK_VARIABLES
from shared.domain.efficiency.scaling.scaling_plans import ScalingPlan, ScalingStep

_MAX_NODES = 50_000  # that a replay starts
type _Kind = Literal["0 release", "0 end", "0 ready", "1 scale", "2 sample"]
"""What happens at a time; in their order where several happen at once."""


@dataclass(frozen=True, slots=True)
class ScalingTimes:
    """How a replay went: targets as they changed, milliseconds of nodes, and of tasks' waits for their runs.

    Of `tasks` that were ready, `unfinished` hadn't ended; those that were waiting at the end waited until then. `lost`
    runs ended with their nodes; requeued tasks wait again.
    """

    targets: Sequence[tuple[int, Targets]]
    dedicated: float
    spot: float
    waited: float
    longest_wait: float
    tasks: int
    unfinished: int
    lost: int


def replayed_pool(plan: ScalingPlan, evaluator: Evaluator | None, chance: Draws) -> ScalingTimes:
    """Returns how a pool does with a formula, or with the plan's targets. Raises FormulaLimitError."""
    return _PoolReplay(plan, evaluator, chance).run()


@dataclass(slots=True)
class _Node:
    """`runs` are starts by task; one that is `leaving` gets no more."""

    is_dedicated: bool
    since: int
    free: int = 0
    is_leaving: bool = False
    runs: dict[int, int] = field(default_factory=dict)


class _Event(NamedTuple):
    at: int
    kind: _Kind
    number: int
    node: int = 0
    task: int = 0
    step: ScalingStep | None = None


class _PoolReplay:
    def __init__(self, plan: ScalingPlan, evaluator: Evaluator | None, chance: Draws) -> None:
        self._plan = plan
        self._evaluator = evaluator
        self._chance = chance
        self._numbers = count()
        self._nodes = dict[int, _Node]()
        self._by_free: list[dict[int, None]] = [{} for _ in range(plan.slots + 1)]
        self._started = 0
        self._waiting = dict[int, deque[int]]()
        self._waiting_tasks = 0
        self._running = 0
        self._succeeded, self._failed = plan.succeeded, plan.failed
        self._waits = dict[int, int]()
        self._waiting_since = dict[int, int]()
        self._released = 0
        self._lost = 0
        self._history = plan.history.copy()
        self._targets = plan.targets
        self._changes = [(plan.since, plan.targets)]
        self._time, self._there = {True: 0, False: 0}, {True: 0, False: 0}
        self._leaving = 0
        self._events = list[_Event]()
        for is_dedicated, number in ((True, plan.nodes.dedicated), (False, plan.nodes.spot)):
            for _ in range(number):
                self._add_node(plan.since, 0, is_dedicated=is_dedicated)
        for number, task in enumerate(plan.tasks):
            self._expect(max(task.ready, plan.since), "0 release", task=number)
        for at in plan.evaluations:
            self._expect(at, "1 scale")
        for step in plan.steps:
            self._expect(step.at, "1 scale", step=step)
        if evaluator and plan.evaluations:
            first = plan.evaluations[0] % SAMPLE_STEP
            self._expect(plan.since + (first - plan.since) % SAMPLE_STEP, "2 sample")

    def run(self) -> ScalingTimes:
        until = self._plan.until
        while self._events and self._events[0].at < until:
            now = self._events[0].at
            event = heappop(self._events)
            self._happen(event)
            if not (self._events and self._events[0][:2] == event[:2]):
                self._dispatch(now)
        for node in self._nodes.values():
            self._time[node.is_dedicated] += until - node.since
        return self._times()

    def _happen(self, event: _Event) -> None:
        match event.kind:
            case "0 release":
                self._released += 1
                self._push(event.task, event.at)
            case "0 end":
                self._ended(event)
            case "0 ready":
                self._set_free(event.node, self._plan.slots)
            case "1 scale":
                self._scale(event)
            case "2 sample":
                self._history.add(event.at, self._counts())
                self._expect(event.at + SAMPLE_STEP, "2 sample")

    def _expect(self, at: int, kind: _Kind, node: int = 0, task: int = 0, step: ScalingStep | None = None) -> None:
        heappush(self._events, _Event(at, kind, next(self._numbers), node, task, step))

    def _counts(self) -> dict[str, float]:
        dedicated, spot = self._there[True], self._there[False]
        total = dedicated + spot
        pending = self._waiting_tasks + self._running
        tasks = (self._waiting_tasks, self._running, pending, self._succeeded, self._failed)
        counts = (*tasks, dedicated, spot, 0, total - self._leaving, total)
        return dict(zip((*TASK_VARIABLES, *NODE_VARIABLES), map(float, counts), strict=True))

    def _scale(self, event: _Event) -> None:
        if event.step:
            option, targets = event.step.option or OPTIONS[0], event.step.targets
        elif self._evaluator:
            found = self._evaluator.at(event.at, self._targets, self._history, self._counts())
            option, targets = found.option, found.targets
        else:
            return
        if targets != self._targets:
            self._targets = targets
            self._changes.append((event.at, targets))
        for is_dedicated, target in ((True, targets.dedicated), (False, targets.spot)):
            self._resize(event.at, target, option, is_dedicated=is_dedicated)

    def _resize(self, now: int, target: int, option: str, *, is_dedicated: bool) -> None:
        staying = [
            number for number, node in self._nodes.items() if node.is_dedicated == is_dedicated and not node.is_leaving
        ]
        for _ in range(target - len(staying)):
            self._add_node(now, self._chance.choice(self._plan.start_ups), is_dedicated=is_dedicated)
        surplus = sorted(staying, key=lambda number: len(self._nodes[number].runs))[: max(len(staying) - target, 0)]
        for number in surplus:
            self._remove(number, now, option)

    def _add_node(self, now: int, start_up: int, *, is_dedicated: bool) -> None:
        self._started += 1
        if self._started > _MAX_NODES:
            raise FormulaLimitError(f"the formula starts more than {_MAX_NODES:,} nodes")
        number = next(self._numbers)
        self._nodes[number] = _Node(is_dedicated, now)
        self._there[is_dedicated] += 1
        self._expect(now + start_up, "0 ready", node=number)

    def _remove(self, number: int, now: int, option: str) -> None:
        node = self._nodes[number]
        self._set_free(number, 0)
        node.is_leaving = True
        self._leaving += 1
        if node.runs and option in {"taskcompletion", "retaineddata"}:
            return
        for task in sorted(node.runs, reverse=True):
            self._running -= 1
            self._lost += 1
            if option == "terminate":
                self._failed += 1
            else:
                self._push(task, now, first=True)
        self._gone(number, now)

    def _gone(self, number: int, now: int) -> None:
        node = self._nodes.pop(number)
        self._time[node.is_dedicated] += now - node.since
        self._there[node.is_dedicated] -= 1
        self._leaving -= 1

    def _push(self, task: int, now: int, *, first: bool = False) -> None:
        queue = self._waiting.setdefault(self._plan.tasks[task].slots, deque())
        (queue.appendleft if first else queue.append)(task)
        self._waiting_since[task] = now
        self._waiting_tasks += 1

    def _set_free(self, number: int, free: int) -> None:
        node = self._nodes.get(number)
        if node is None or node.is_leaving:
            return
        self._by_free[node.free].pop(number, None)
        node.free = free
        if free:
            self._by_free[free][number] = None

    def _dispatch(self, now: int) -> None:
        most = self._plan.slots
        while self._waiting:
            while most and not self._by_free[most]:
                most -= 1
            fitting = [slots for slots in self._waiting if slots <= most]
            if not fitting:
                return
            number = next(iter(self._by_free[most]))
            slots = min(fitting, key=lambda each: self._waiting[each][0])
            task = self._waiting[slots].popleft()
            if not self._waiting[slots]:
                del self._waiting[slots]
            self._place(now, task, number)

    def _place(self, now: int, task: int, number: int) -> None:
        node, given = self._nodes[number], self._plan.tasks[task]
        start = now + self._plan.gap
        node.runs[task] = start
        self._waiting_tasks -= 1
        self._running += 1
        self._waited(task, start)
        self._set_free(number, node.free - given.slots)
        self._expect(start + given.duration, "0 end", number, task)

    def _waited(self, task: int, until: int) -> None:
        self._waits[task] = self._waits.get(task, 0) + until - self._waiting_since.pop(task)

    def _ended(self, event: _Event) -> None:
        node = self._nodes.get(event.node)
        if node is None or event.task not in node.runs:
            return
        del node.runs[event.task]
        self._running -= 1
        has_failed = self._plan.tasks[event.task].has_failed
        self._failed += has_failed
        self._succeeded += not has_failed
        if node.is_leaving and not node.runs:
            self._gone(event.node, event.at)
        else:
            self._set_free(event.node, node.free + self._plan.tasks[event.task].slots)

    def _times(self) -> ScalingTimes:
        for task in [*self._waiting_since]:
            self._waited(task, self._plan.until)
        return ScalingTimes(
            targets=self._changes,
            dedicated=self._time[True],
            spot=self._time[False],
            waited=sum(self._waits.values()),
            longest_wait=max(self._waits.values(), default=0),
            tasks=self._released,
            unfinished=self._waiting_tasks + self._running,
            lost=self._lost,
        )
