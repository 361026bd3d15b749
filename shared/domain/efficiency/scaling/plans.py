"""Plans of replays of a pool, from what is stored of it; and what was seen of its nodes and of waiting tasks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from shared.domain.autoscale.evaluation import Targets
from shared.domain.autoscale.samples import SampleHistory
from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.scaling.recorded_pool import DAY, SAMPLE_STEP, PoolTask, RecordedPool
from shared.domain.efficiency.scaling.scaling_plans import ScalingPlan, ScalingStep, WaitingTask, has_fallen

_QUICKEST = 10  # of so many waits one is that of a task that found a free slot
_MAX_GAP = 30_000  # milliseconds


@dataclass(frozen=True, slots=True)
class SeenPool:
    """What was seen in a range: milliseconds of nodes, and the mean wait of tasks within it; None without any.

    Tasks that hadn't begun at its end waited until then, as in a replay.
    """

    dedicated: float
    spot: float
    mean_wait: float | None

    @property
    def nodes(self) -> float:
        return self.dedicated + self.spot


def seen_pool(pool: RecordedPool, since: int, until: int) -> SeenPool:
    """Returns what polls saw of nodes, as long as each poll's numbers held, and of tasks."""
    dedicated = spot = 0.0
    for point, at in zip(pool.nodes, [*(each.at for each in pool.nodes[1:]), until], strict=False):
        time = max(min(at, until) - max(point.at, since), 0)
        dedicated += point.dedicated * time
        spot += point.spot * time
    waits = [max(min(task.start or until, until) - max(task.ready, since), 0) for task in _within(pool, since, until)]
    return SeenPool(dedicated, spot, sum(waits) / len(waits) if waits else None)


def plan_of(
    pool: RecordedPool, since: int, until: int, evaluations: Sequence[int], start_ups: Sequence[int]
) -> ScalingPlan:
    """Returns the plan of a replay whose nodes take as long as usual to start; it begins with the nodes seen then."""
    tasks = _within(pool, since, until)
    nodes, numbers = pool.nodes_at(since), pool.counts_at([since]).values
    first = since + ((evaluations[0] if evaluations else since) - since) % SAMPLE_STEP
    return ScalingPlan(
        since=since,
        until=until,
        tasks=_waiting(tasks, since, until),
        slots=pool.slots,
        targets=_targets_at(pool, since),
        nodes=Targets(nodes.dedicated, nodes.spot),
        evaluations=evaluations,
        history=pool.samples(first - DAY, first),
        start_ups=(round(median(start_ups)),) if start_ups else (0,),
        gap=_gap(tasks),
        succeeded=round(numbers["$SucceededTasks"][0]),
        failed=round(numbers["$FailedTasks"][0]),
    )


def as_recorded(plan: ScalingPlan, pool: RecordedPool) -> ScalingPlan:
    """Returns the plan of a pool that follows the targets that it had."""
    return replace(plan, evaluations=(), history=SampleHistory(), steps=_changes(plan, pool))


def recorded_before_evaluations(plan: ScalingPlan, pool: RecordedPool) -> ScalingPlan:
    """Returns the plan of a pool that follows the targets that it had until the first evaluation of its formula."""
    first = plan.evaluations[0] if plan.evaluations else plan.until
    return replace(plan, steps=[step for step in _changes(plan, pool) if step.at < first])


def evaluated_every(plan: ScalingPlan, interval: int) -> ScalingPlan:
    """Returns the plan with evaluations at an interval in milliseconds from its begin on, in step with its first."""
    first = plan.evaluations[0] if plan.evaluations else plan.since
    begin = plan.since + (first - plan.since) % interval
    return replace(plan, evaluations=range(begin, plan.until, interval))


def _changes(plan: ScalingPlan, pool: RecordedPool) -> list[ScalingStep]:
    """Returns the changes of the recorded targets since the plan's begin, each as of the poll that saw it."""
    return [
        ScalingStep(at, targets, pool.option_within(since, at))
        for (since, before), (at, targets) in _seen_targets(pool, plan.since)
        if before != targets
    ]


def unrecorded_falls(pool: RecordedPool, since: int, until: int) -> list[tuple[int, int]]:
    """Returns between which polls of a range recorded targets fell where no option is recorded."""
    return [
        (last, at)
        for (last, before), (at, targets) in _seen_targets(pool, since)
        if at < until and has_fallen(before, targets) and pool.option_within(last, at) is None
    ]


def _seen_targets(pool: RecordedPool, since: int) -> Iterable[tuple[tuple[int, Targets], tuple[int, Targets]]]:
    """Returns pairs of targets that polls saw one after the other, each with its time, from those at a time on."""
    seen = [(point.at, point.targets) for point in pool.nodes if point.targets and point.at >= since]
    return pairwise([(since, _targets_at(pool, since)), *seen])


def _targets_at(pool: RecordedPool, at: int) -> Targets:
    nodes = pool.nodes_at(at)
    return nodes.targets or Targets(nodes.dedicated, nodes.spot)


def varied(plan: ScalingPlan, start_ups: Sequence[int], chance: Draws) -> ScalingPlan:
    """Returns the plan with other durations of start-ups and runs, drawn from those seen."""
    durations = [task.duration for task in plan.tasks]
    tasks = [task._replace(duration=chance.choice(durations)) for task in plan.tasks]
    return replace(plan, tasks=tasks, start_ups=start_ups or plan.start_ups)


def _within(pool: RecordedPool, since: int, until: int) -> list[PoolTask]:
    """Returns the tasks that waited or ran in a range, without those that ended without a run."""
    return [
        task
        for task in pool.tasks
        if task.ready < until and (task.end is None or (task.start is not None and task.end > since))
    ]


def _waiting(tasks: Sequence[PoolTask], since: int, until: int) -> list[WaitingTask]:
    """Returns tasks in the order in which they were ready; those that ran at the begin come first, with what was left.

    Runs that hadn't ended last until the end at least, and those that weren't seen as long as usual.
    """
    known = [task.end - task.start for task in tasks if task.start and task.end and task.end >= task.start]
    usual = round(median(known)) if known else 0
    found = list[tuple[int, int, WaitingTask]]()
    for task in tasks:
        begin = max(task.start or task.ready, since) if task.start else task.ready
        duration = usual if task.start is None else max((task.end or max(until, begin + usual)) - begin, 0)
        runs = task.start is not None and task.start < since
        waiting = WaitingTask(since if runs else task.ready, duration, task.slots, task.has_failed)
        found.append((0 if runs else 1, task.ready, waiting))
    return [task for _, _, task in sorted(found, key=lambda one: one[:2])]


def _gap(tasks: Sequence[PoolTask]) -> int:
    """Returns how long a task waits that finds a free slot: as long as the quickest tenth."""
    waits = sorted(max(task.start - task.ready, 0) for task in tasks if task.start)
    return min(waits[len(waits) // _QUICKEST], _MAX_GAP) if waits else 0
