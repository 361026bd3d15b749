"""What a job says of how its tasks may run.

It can change without the job changing its state: lists of jobs whose state changed don't tell, full ones do.
"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class JobRules:
    """`max_parallel_tasks` and `max_wall_clock_time` are None where there is no bound, the latter also for months."""

    max_parallel_tasks: int | None = None
    max_wall_clock_time: timedelta | None = None
    uses_task_dependencies: bool = False
