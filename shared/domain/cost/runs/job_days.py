"""A job's usage of a day while it is rolled up again and again, as tasks, jobs and their events come and go."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from shared.domain.cost.busy_nodes import RunSum
from shared.domain.cost.day_rollups import DayTasks
from shared.domain.cost.usage_days import DAY, JobDay, JobUsageKey, UsageDay, ends_summed


def kept_jobs(
    before: UsageDay,
    tasks: DayTasks,
    names: Mapping[str, str],
    gone: Mapping[str, str] | None = None,
    created: Mapping[str, int] | None = None,
) -> dict[str, JobDay]:
    """Returns the jobs of a day, with their settled hours as before; `names` are the ids of stored jobs, by key.

    `gone` are the ids of jobs that aren't stored, but have events. For their open hours, what is more counts: that of
    before or what events show. `created` are the seconds (since 1970) in which stored jobs were created: runs that
    ended are those of the latest job with an id.
    """
    found = {key: job if key not in names else replace(job, open={}, open_ends={}) for key, job in before.jobs.items()}
    for key in {*tasks.settled, *tasks.open, *tasks.settled_ends, *tasks.open_ends}:
        name = names.get(key) or (gone or {})[key]
        old = found.get(key, JobDay(name))
        since = (created or {}).get(key, old.created)
        if since is not None and not has_runs_of(old, since, before.day):
            old = replace(old, settled_ends={}, open_ends={}, has_earlier=old.has_earlier or bool(old.settled))
        new = JobDay(
            name,
            tasks.settled.get(key, {}),
            tasks.open.get(key, {}),
            tasks.settled_ends.get(key, {}),
            tasks.open_ends.get(key, {}),
            since,
            old.has_earlier or key in tasks.earlier,
        )
        if sum(new.units.values()) >= sum(old.open.values()):
            settled, ends = Counter(old.settled) + Counter(new.settled), ends_summed(old.settled_ends, new.settled_ends)
            found[key] = replace(new, settled=settled, settled_ends=ends)
    return {key: job for key, job in found.items() if job.settled or job.open or _took_time(job.ends)}


def has_runs_of(job: JobDay, created: int, day: int) -> bool:
    """Returns whether a day's runs that ended are those of the job that was created in a second since 1970.

    Where no stored job had the id, only events showed its runs. On the day of the creation these count as an earlier
    job's, as nothing shows whether they began before.
    """
    if job.created is None:
        return not job.ends or created * 1000 <= day * DAY
    return job.created == created


def _took_time(ends: Mapping[JobUsageKey, RunSum]) -> bool:
    return any(one.units for one in ends.values())
