"""Plans of replays: a workload on a number of nodes with slots, with what varies from one replay to the next.

Of more tasks than are replayed one by one, a sample stands for all. On many nodes, it runs on as small a part of them.
On few, all but as many tasks as the sample has are work that fills the slots evenly, and the sample comes at the end.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.replay.event_budget import EventBudget
from shared.domain.efficiency.replay.scheduler import Bulk, FreeSlots, NodeTimes, ReplayPlan, replayed
from shared.domain.efficiency.replay.workloads import InterruptionRate, ReplayTask, Workload

_MIN_PART = 4  # nodes
_MAX_PARTS = 10_000  # of nodes' slots: those of larger parts become free together
_HOUR = 3_600_000  # milliseconds


@dataclass(frozen=True, slots=True)
class Scenario:
    """Nodes with task slots; runs take `stretch` times as long as seen, and may as well take any of `bounds` times.

    `interruptions` are those of spot nodes.
    """

    nodes: int
    slots: int
    stretch: float = 1.0
    interruptions: InterruptionRate | None = None
    bounds: Sequence[float] = ()


def replay_once(
    workload: Workload, scenario: Scenario, chance: Draws, budget: EventBudget, *, resampled: bool
) -> NodeTimes | None:
    """Returns one replay; waits are drawn from those seen, and if `resampled` durations and interruptions, too.

    None where interruptions keep tasks from ending, or the budget is spent before the end.
    """
    tasks = _tasks(workload, scenario.stretch, chance if resampled else None)
    share = workload.total / len(tasks)
    slots = scenario.nodes * scenario.slots
    is_part = share > 1 and scenario.nodes >= _MIN_PART * share and workload.total < _MIN_PART * slots
    nodes = max(round(scenario.nodes / share), 1) if is_part else scenario.nodes
    arrivals = sorted(_drawn(workload.arrivals, nodes, chance))
    plan = ReplayPlan(
        tasks=tasks,
        slots=scenario.slots,
        arrivals=arrivals,
        free=[FreeSlots(at, node, scenario.slots) for node, at in enumerate(arrivals)],
        gaps=workload.gaps,
        needs=workload.needs,
        interruptions=_rate(scenario.interruptions, chance) if resampled else scenario.interruptions,
        start_up=workload.start_up,
        is_packed=workload.is_packed,
    )
    if is_part:
        found = replayed(plan, chance, budget)
        return found and NodeTimes(found.end, *(part * scenario.nodes / nodes for part in found[1:]))
    return replayed(_after_bulk(plan, share - 1, chance) if share > 1 else plan, chance, budget)


def _tasks(workload: Workload, stretch: float, chance: Draws | None) -> Sequence[ReplayTask]:
    """Returns the tasks with their durations, or with those of others of their stage and width by chance."""
    if chance is None:
        if stretch == 1:
            return workload.tasks
        return [task._replace(duration=round(task.duration * stretch)) for task in workload.tasks]
    alike = defaultdict[tuple[int, int], list[ReplayTask]](list)
    for task in workload.tasks:
        alike[task.stage, task.slots].append(task)
    found = list[ReplayTask]()
    for task in workload.tasks:
        other = chance.choice(alike[task.stage, task.slots])
        found.append(task._replace(duration=round(other.duration * stretch), runs=other.runs))
    return found


def _rate(seen: InterruptionRate | None, chance: Draws) -> InterruptionRate | None:
    """Returns a rate that may have led to as many interruptions as were seen."""
    if seen is None or not seen.number:
        return seen
    return seen._replace(number=chance.gammavariate(seen.number + 0.5, 1.0))


def _drawn(arrivals: Sequence[int], nodes: int, chance: Draws) -> Sequence[int]:
    """Returns the times at which so many nodes are ready: those seen, fewer or more by chance."""
    if nodes <= len(arrivals):
        return chance.sample(arrivals, nodes)
    return [*arrivals, *chance.choices(arrivals, k=nodes - len(arrivals))]


def _after_bulk(plan: ReplayPlan, weight: float, chance: Draws) -> ReplayPlan:
    """Returns the plan for the last tasks, after `weight` times as many have filled the slots evenly."""
    usual = max({task.slots for task in plan.tasks}, key=[task.slots for task in plan.tasks].count)
    fitting = max(plan.slots // usual, 1)
    gap = sum(plan.gaps) / len(plan.gaps)
    arrivals, ready = plan.arrivals, 1
    level, work, retried = float(arrivals[0]), 0.0, 0.0
    rate, mean = plan.interruptions or InterruptionRate(), sum(task.duration for task in plan.tasks) / len(plan.tasks)
    loss = 1 + rate.per_hour * (rate.away + plan.start_up + mean / 2) / _HOUR  # half a run in each slot
    for task in plan.tasks:
        level = max(level, task.release)
        while ready < len(arrivals) and arrivals[ready] <= level:
            ready += 1
        own = weight * task.runs * (task.duration + gap) * task.slots
        work += own
        retried += weight * (task.runs - 1) * task.duration * task.slots
        level += own * loss / (ready * fitting * usual)
    held = sum(weight * task.duration * task.slots for task in plan.tasks)
    struck = work / (fitting * usual) * rate.per_hour / _HOUR
    free, sizes = list[FreeSlots](), _parts(fitting, max(_MAX_PARTS // len(arrivals), 1))
    for node, at in enumerate(arrivals):
        parts = [size * usual for size in sizes] if fitting * usual <= plan.slots else []
        rest = plan.slots - sum(parts)
        first = max(level, at)
        for part in parts:  # at `level` a run of the bulk is over by half on average
            shift = (chance.random() - 0.5) * mean if at < level else 0
            free.append(FreeSlots(max(first + shift, at), node, part))
        if rest:
            free.append(FreeSlots(first, node, rest))
    return ReplayPlan(
        tasks=[task._replace(release=0) for task in plan.tasks],
        slots=plan.slots,
        arrivals=arrivals,
        free=free,
        gaps=plan.gaps,
        needs=[frozenset()] * len(plan.needs),
        interruptions=plan.interruptions,
        start_up=plan.start_up,
        is_packed=plan.is_packed,
        bulk=Bulk(
            held,
            retried,
            struck * mean / 2 * fitting * usual,
            work / (fitting * usual) + struck * mean / 2,
            struck * rate.away,
            struck * plan.start_up,
        ),
    )


def _parts(number: int, most: int) -> list[int]:
    """Returns a number as at most so many numbers that are nearly equal; ones if it isn't larger."""
    parts = min(number, most)
    return [(at + 1) * number // parts - at * number // parts for at in range(parts)]
