"""An account with all its contents."""

from dataclasses import dataclass, field

from local.batch_emulator.entities.jobs import Job, Schedule
from local.batch_emulator.entities.pools import Lease, Pool


@dataclass(slots=True, eq=False)
class Account:
    name: str
    number: int
    jobs: dict[str, Job] = field(default_factory=dict)
    pools: dict[str, Pool] = field(default_factory=dict)
    schedules: dict[str, Schedule] = field(default_factory=dict)
    leases: list[Lease] = field(default_factory=list)
