"""Days of a pool of one kind of nodes and of runs of jobs, as housekeeping makes them at any times."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from shared.domain.cost.busy_nodes import HOUR, TaskUsageByHour
from shared.domain.cost.day_rollups import (
    EndedTime,
    NodeKinds,
    day_tasks,
    kept_hours,
    outcome_times,
    settled_hours,
    settling,
    usage_by_hour,
    with_ended,
)
from shared.domain.cost.runs.job_days import kept_jobs
from shared.domain.cost.runs.known_tasks import KnownTasks
from shared.domain.cost.usage_days import DAY, HOURS, NodeKind, PoolDay, UsageDay, summed
from shared.domain.timeline.timeline import Run
from shared.domain.usage.usage_ledger import UsageHours, UsageKind

DAY_NUMBER = 20_000
START = DAY_NUMBER * DAY
KIND = NodeKind("standard_d2s_v5", True)
MINUTE = 60_000


class Polled(NamedTuple):
    """The last polls, of nodes and of tasks by job; jobs that aren't in it were read now."""

    nodes: int
    tasks: Mapping[str, int] = MappingProxyType({})


def run(start: float, end: float, result: int, node: str = "n_d") -> Run:
    """Returns a run between hours of the day."""
    return Run(START + int(start * HOUR), "t", START + int(end * HOUR), result, 1, ("P", node))


def ledger(nodes: int, until: int) -> UsageHours:
    """Returns the time of nodes that ran tasks from the day's start on."""
    kind = UsageKind("running", True, KIND.vm_size)
    hours = range(START // HOUR, until // HOUR + 1)
    return {hour: {kind: nodes * (min(until, (hour + 1) * HOUR) - hour * HOUR)} for hour in hours}


def seen(runs: Iterable[Run], as_of: int) -> list[Run]:
    """Returns runs as they are known at a time: those that end later go on."""
    return [one if one.end and one.end <= as_of else one._replace(end=None) for one in runs if one.start < as_of]


def rolled_up(
    day: UsageDay,
    jobs: Mapping[str, Sequence[Run]],
    now: int,
    nodes: int,
    polled: Polled | None = None,
) -> tuple[UsageDay, dict[EndedTime, int]]:
    """Returns a day as housekeeping makes it at a time, and what runs held that ended since their hours were settled.

    Nodes and tasks are known as of now unless polls are given.
    """
    as_of, read = polled or Polled(now)
    known = KnownTasks(read, min([now, *read.values()]))
    settles = settling(day, settled_hours(day, min(as_of, known.as_of)), known.as_of)
    left = range(day.day * HOURS + day.settled, (day.day + 1) * HOURS)
    usage = TaskUsageByHour(left, min(now, (day.day + 1) * DAY), lambda _: False, settles, known.behind(as_of))
    for job, runs in jobs.items():
        usage.take(job, seen(runs, read.get(job, now)))
    tasks = day_tasks(usage, {"p": NodeKinds({}, frozenset({KIND}))})
    before = with_ended(day, tasks.ended)
    made = usage_by_hour(ledger(nodes, as_of), tasks.pools.get("p", {}), day.day, 1)
    hours = kept_hours(before, "p", made, START)
    pool = PoolDay("P", 1, None, None, None, summed(hours.values()))
    made_day = replace(
        day,
        pools={"p": pool},
        hours={"p": hours},
        jobs=kept_jobs(before, tasks, {job: job for job in jobs}),
        settled=settles.before - day.day * HOURS,
        outcomes_as_of=outcome_times(before, settles),
    )
    return made_day, dict(tasks.ended)


def refreshed(
    days: Sequence[UsageDay],
    jobs: Mapping[str, Sequence[Run]],
    now: int,
    nodes: int,
    polled: Polled | None = None,
) -> list[UsageDay]:
    """Returns days in a row after housekeeping at a time, which gives runs of a later day their outcome at the end."""
    found, ended = list(days), Counter[EndedTime]()
    for number, day in enumerate(days):
        if day.settled < HOURS and now > day.day * DAY:
            found[number], of_day = rolled_up(day, jobs, now, nodes, polled)
            ended.update({one: units for one, units in of_day.items() if one.hour // HOURS != day.day})
    return [with_ended(day, ended) for day in found]


def held(day: UsageDay, *jobs: str) -> dict[str, int]:
    """Returns the milliseconds that jobs held by outcome; all jobs where none is named."""
    found = Counter[str]()
    for job in jobs or day.jobs:
        for key, units in day.jobs[job].units.items() if job in day.jobs else ():
            found[key.outcome] += units
    return dict(+found)


def by_outcome(day: UsageDay) -> dict[str, float]:
    """Returns the hours that jobs held by outcome, which are those of their pool."""
    of_jobs, classes = held(day), day.pools["p"].units[KIND]
    assert {name: classes.get(name, 0) for name in of_jobs} == of_jobs
    assert not any(units < 0 for units in classes.values())
    return {name: units / HOUR for name, units in of_jobs.items()}
