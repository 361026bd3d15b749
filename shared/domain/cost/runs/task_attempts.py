"""All runs of a task: those that events show, joined with the latest one, which its cached state shows.

No event says when a run that was retried ended. Polls that saw its task wait again do (run_ends.py). Else it counts
until the task's next run started, as Batch queues the task at once, ahead of others of its job, or until other runs
took its slots (node_runs.py). Where nothing shows when a run ended, as of a task that was deleted while it ran, the run
isn't known.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

from shared.domain.cost.busy_nodes import Outcome, outcome_of_result
from shared.domain.cost.runs.run_events import RunEvent
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, PREPARING, RUNNING, Task
from shared.domain.timeline.timeline import Node, Run

_SAME = 60_000  # milliseconds between two stamps of one start
_CLOSE = 2_000  # at most that, whichever the number of retries is
_WAITING = frozenset((ACTIVE, PREPARING))


class TaskRun(NamedTuple):
    """A run of a task and its outcome; a bounded one ended at its end at the latest."""

    run: Run
    outcome: Outcome
    is_bounded: bool


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A run; `end` is None where it isn't known, `outcome` where no result of the run is."""

    start: int
    end: int | None
    outcome: Outcome | None
    slots: int
    node: Node
    retries: int
    is_bounded: bool = False

    def is_at(self, start: int, node: Node) -> bool:
        return abs(self.start - start) <= _SAME and node[1] in {"", self.node[1]}


def attempts(
    events: Iterable[RunEvent], task: Task | None, known: int, end_of: Callable[[int], int | None] = lambda _: None
) -> Iterator[TaskRun]:
    """Yields a task's runs; bounded ones end at the latest time at which they may have ended.

    `task` is its cached state, None where there is none. The cached tasks of its job are known as of `known`, in
    milliseconds since 1970: a run that began later still runs. `end_of` returns when the task's run ended that had so
    many retries before it, None where no poll saw it.
    """
    found = sorted(_joined(_of_events(events), task), key=lambda each: each.start)
    for one, following in zip_longest(found, found[1:]):
        seen = end_of(one.retries)
        ended = _ended(one, following, seen) if following else _last(one, task, known, seen)
        if ended is not None and ended.outcome is not None:
            end = None if ended.outcome == "running" else max(ended.start, ended.end or 0)
            run = Run(ended.start, task.id if task else "", end, 0, ended.slots, ended.node)
            yield TaskRun(run, ended.outcome, ended.is_bounded)


def _of_events(events: Iterable[RunEvent]) -> list[_Attempt]:
    """Returns the runs that events show."""
    found = list[_Attempt]()
    for event in sorted(events, key=_order):
        if event.step == "start":
            found.append(_begun(event, event.start or event.at))
        elif found and _is_about(event, found[-1]):
            if found[-1].end is None:
                found[-1] = _closed(found[-1], event)
        elif event.start:
            found.append(_closed(_begun(event, event.start), event))
    return found


def _order(event: RunEvent) -> tuple[int, int, bool]:
    """Returns where an event stands among others: of those logged at one time, those of an earlier run come first."""
    return event.at, event.start or (event.at if event.step == "start" else 0), event.step != "start"


def _is_about(event: RunEvent, one: _Attempt) -> bool:
    """Returns whether the end or requeue in an event is that of the run."""
    if event.start:
        return one.is_at(event.start, event.node)
    return one.end is None and event.retries <= one.retries


def _begun(event: RunEvent, start: int) -> _Attempt:
    return _Attempt(start, None, None, event.slots, event.node, event.retries)


def _closed(one: _Attempt, event: RunEvent) -> _Attempt:
    outcome = outcome_of_result(event.result) if event.step == "end" else "interrupted"
    return replace(one, start=event.start or one.start, end=event.end or event.at, outcome=outcome)


def _joined(found: Sequence[_Attempt], task: Task | None) -> list[_Attempt]:
    """Returns the runs with the cached one, whose stamps count where both know them."""
    if task is None or not task.start:
        return list(found)
    end = None if task.state == RUNNING else max(task.start, task.end or task.transition)
    outcome = outcome_of_result(task.result) if task.state == COMPLETED else None
    cached = _Attempt(task.start, end, outcome, task.slots, task.node, task.retries)
    same = min(
        (one for one in found if _is_same(one, task)),
        key=lambda one: abs(one.start - cached.start),
        default=None,
    )
    if same is None:
        return [*found, cached]
    if cached.outcome is None:
        end = cached.end if same.end is None else same.end
        cached = replace(cached, end=end, outcome=same.outcome, retries=same.retries)
    return [cached if one is same else one for one in found]


def _is_same(one: _Attempt, task: Task) -> bool:
    """Returns whether a run is the latest one of the cached task, which may have been retried since."""
    retried = task.retries - one.retries
    is_numbered = retried == 0 or (retried == 1 and task.state in _WAITING)
    return one.is_at(task.start, task.node) and (is_numbered or abs(one.start - task.start) <= _CLOSE)


def _ended(one: _Attempt, following: _Attempt, seen: int | None) -> _Attempt | None:
    """Returns a run with a later one; None where it isn't known when it ended. `seen` is its end as a poll saw it."""
    if one.outcome is not None:
        return one
    if following.retries > one.retries:
        is_seen = seen is not None and one.start <= seen <= following.start + _CLOSE
        end = (seen if is_seen else one.end) or following.start
        return replace(one, end=min(end, following.start), outcome="retried", is_bounded=not is_seen)
    return None if one.end is None else replace(one, end=min(one.end, following.start), outcome="interrupted")


def _last(one: _Attempt, task: Task | None, known: int, seen: int | None) -> _Attempt | None:
    """Returns the latest run; None where it isn't known when it ended. `seen` is its end as a poll saw it."""
    if one.outcome is not None:
        return one
    if seen is not None and one.start <= seen:
        return replace(one, end=seen, outcome="retried")
    if task is None:
        return replace(one, outcome="running") if one.start > known else None
    was_retried, waits = task.retries > one.retries, task.state in _WAITING
    if task.state != RUNNING and (task.transition >= one.start or (waits and was_retried)):
        outcome: Outcome = "retried" if was_retried else "interrupted"
        return replace(one, end=one.end or task.transition, outcome=outcome, is_bounded=task.state != ACTIVE)
    return replace(one, outcome="interrupted" if one.end is not None else "running")
