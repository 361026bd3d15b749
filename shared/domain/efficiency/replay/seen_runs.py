"""Makes the workload of a replay from a job's cached tasks: what their starts and ends show of nodes and waits.

Only the latest run of a task is cached. Earlier ones of a retried task count as long as it; runs that were lost with
their node aren't seen.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from itertools import pairwise
from statistics import median

from shared.domain.efficiency.replay.workloads import ReplayTask, Workload
from shared.domain.efficiency.task_groups import MAX_PREFIXES, prefix_of
from shared.domain.tasks.tasks import COMPLETED, Task
from shared.domain.timeline.timeline import Node

MAX_TASKS = 3000
"""The most tasks that are replayed one by one; of more, a sample stands for all."""
_CLOCKS = 2000  # milliseconds by which nodes' clocks differ from Batch's
_SOON = 3  # times the usual gap: a task that started within it found a free slot
_MAX_GAPS = 500
_OUTLIER = 4  # times the median gap
_MAX_AGAINST = 0.25  # of neighbours by id that may have started in the other order
_NUMBERS = re.compile(r"([0-9]+)")


def workload_of(
    tasks: Iterable[Task], *, total: int, slots: int, uses_dependencies: bool = False, run_mean: float | None = None
) -> Workload | None:
    """Returns the workload of a job's tasks that ended; None without any.

    `total` is how many there are if these are a sample, `run_mean` the mean duration of all. `slots` are those of each
    node. Where the job uses dependencies, its stages are groups of tasks that began after others had ended.
    """
    ended = _in_order([task for task in tasks if task.state == COMPLETED and task.start])
    if not ended:
        return None
    begin = min(task.creation or task.start for task in ended)
    stages, needs = _stages(ended) if uses_dependencies else ({}, [frozenset[int]()])
    gaps = _gaps(ended, slots)
    usual = median(gaps) if gaps else _first_wait(ended, begin)
    shown = _sample(ended, MAX_TASKS)
    scale = _scale(shown, run_mean) if total > len(shown) else 1.0
    return Workload(
        tasks=[_replay_task(task, begin, stages.get(prefix_of(task.id), 0), scale) for task in shown],
        total=max(total, len(shown)),
        nodes=_nodes_at_once(ended),
        end=max(max(map(_end, ended)) - begin, 0),
        arrivals=_arrivals(ended, begin, usual, _stage_starts(ended, stages, needs)),
        gaps=_sample(sorted(gaps), _MAX_GAPS) or (round(usual),),
        needs=needs,
    )


def with_pool(workload: Workload, *, start_up: int, is_packed: bool) -> Workload:
    """Returns the workload with what is known of the pool, not of the job."""
    return replace(workload, start_up=start_up, is_packed=is_packed)


def _in_order(tasks: Sequence[Task]) -> list[Task]:
    """Returns tasks in the order in which they were taken: by creation, then by id if starts follow ids, else by start.

    Ids are the better sign: clocks of nodes differ, and the first start of a task that ran again isn't known. Tasks of
    different widths overtake each other, so starts are compared among those of one width.
    """
    by_id = sorted(tasks, key=lambda task: (task.creation, _natural(task.id)))
    pairs = list(pairwise(sorted(by_id, key=lambda task: task.slots)))
    against = sum(
        (one.creation, one.slots) == (other.creation, other.slots)
        and _first_start(other) < _first_start(one) - 2 * _CLOCKS
        for one, other in pairs
    )
    if against <= _MAX_AGAINST * len(pairs):
        return by_id
    return sorted(tasks, key=lambda task: (task.creation, _first_start(task)))


def _natural(task: str) -> list[tuple[int, str]]:
    """Returns a key by which `frame-9` comes before `frame-10`."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in _NUMBERS.split(task.lower())]


def _first_start(task: Task) -> int:
    """Returns when a task first started, if its earlier runs took as long as the last."""
    return task.start - task.retries * (_end(task) - task.start)


def _end(task: Task) -> int:
    return max(task.start, task.end or task.transition)


def _replay_task(task: Task, begin: int, stage: int, scale: float) -> ReplayTask:
    release = max(task.creation - begin, 0) if task.creation else 0
    return ReplayTask(release, round((_end(task) - task.start) * scale), task.slots, 1 + task.retries, stage)


def _scale(shown: Sequence[Task], run_mean: float | None) -> float:
    """Returns the factor by which runs of a sample become as long in the mean as those of all tasks."""
    own = sum(_end(task) - task.start for task in shown) / len(shown)
    return run_mean / own if run_mean and own else 1.0


def _sample[T](some: Sequence[T], most: int) -> Sequence[T]:
    """Returns some at equal distances, or all of few."""
    return [some[at * len(some) // most] for at in range(most)] if len(some) > most else some


def _by_node(tasks: Iterable[Task]) -> Mapping[Node, list[Task]]:
    found = defaultdict[Node, list[Task]](list)
    for task in tasks:
        found[task.node].append(task)
    for runs in found.values():
        runs.sort(key=lambda task: task.start)
    return found


def _gaps(tasks: Iterable[Task], slots: int) -> list[int]:
    """Returns the milliseconds from when slots became free until the start of the next task, if one was waiting.

    Those far above the median are left out: other jobs or dependencies held the slots meanwhile.
    """
    found = list[int]()
    for runs in _by_node(tasks).values():
        ends, used = list[int](), 0
        for task in runs:
            new = min(slots - used, task.slots)  # slots that no task had before
            used += new
            taken = [heappop(ends) for _ in range(task.slots - new) if ends and ends[0] <= task.start]
            if taken and not new and task.creation <= taken[-1]:
                found.append(task.start - taken[-1])
            for _ in range(task.slots):
                heappush(ends, _end(task))
    limit = _OUTLIER * median(found) + 1 if found else 0
    return [gap for gap in found if gap <= limit]


def _first_wait(tasks: Iterable[Task], begin: int) -> int:
    """Returns how long the first task waited, as the usual gap where none is seen; 0 if that is long."""
    first = min(task.start for task in tasks) - begin
    return first if 0 <= first <= _SOON * _CLOCKS else 0


def _arrivals(tasks: Iterable[Task], begin: int, usual: float, stage_starts: Mapping[str, int]) -> tuple[int, ...]:
    """Returns when each node was ready, in order; 0 where its first task started as soon as it could."""
    found = list[int]()
    for runs in _by_node(tasks).values():
        first = runs[0]
        possible = max(begin, first.creation, stage_starts.get(prefix_of(first.id), 0))
        soon = first.start - possible <= _SOON * usual + _CLOCKS
        found.append(0 if soon else max(round(first.start - begin - usual), 0))
    return tuple(sorted(found))


def _nodes_at_once(tasks: Iterable[Task]) -> int:
    """Returns the most nodes that had work at once, each from its first start to its last end."""
    nodes = _by_node(tasks).values()
    steps = sorted((*((runs[0].start, 1) for runs in nodes), *((max(map(_end, runs)), -1) for runs in nodes)))
    most = now = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return max(most, 1)


def _stages(tasks: Iterable[Task]) -> tuple[dict[str, int], list[frozenset[int]]]:
    """Returns the stage of each prefix of ids, in the order of their starts, and the stages that it needs.

    It needs those whose last run ended before its first began, though its tasks had been there before.
    """
    groups = defaultdict[str, list[Task]](list)
    for task in tasks:
        groups[prefix_of(task.id)].append(task)
    if not 1 < len(groups) <= MAX_PREFIXES:
        return {}, [frozenset()]
    ordered = sorted(groups, key=lambda prefix: min(task.start for task in groups[prefix]))
    ends = [max(map(_end, groups[prefix])) for prefix in ordered]
    needs = list[frozenset[int]]()
    for number, prefix in enumerate(ordered):
        start = min(task.start for task in groups[prefix]) + _CLOCKS
        created = min(task.creation for task in groups[prefix])
        needs.append(frozenset(at for at in range(number) if created <= ends[at] <= start))
    return {prefix: number for number, prefix in enumerate(ordered)}, needs


def _stage_starts(tasks: Iterable[Task], stages: Mapping[str, int], needs: Sequence[frozenset[int]]) -> dict[str, int]:
    """Returns when the tasks of each prefix could begin, as those that they need had ended."""
    ends = defaultdict[int, int](int)
    for task in tasks:
        stage = stages.get(prefix_of(task.id), 0)
        ends[stage] = max(ends[stage], _end(task))
    return {prefix: max((ends[need] for need in needs[stage]), default=0) for prefix, stage in stages.items()}
