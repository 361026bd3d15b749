"""An account with all its contents."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from local.batch_emulator.entities.jobs import Job, Schedule
from local.batch_emulator.entities.pools import Lease, Pool


@dataclass(slots=True, eq=False)
class Account:
    """An account; `task_counters` are of all tasks since the emulator started, by their jobs' pools in lower case."""

    name: str
    number: int
    jobs: dict[str, Job] = field(default_factory=dict)
    pools: dict[str, Pool] = field(default_factory=dict)
    schedules: dict[str, Schedule] = field(default_factory=dict)
    leases: list[Lease] = field(default_factory=list)
    task_counters: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
