"""A job's settings that limit how its tasks may run, and whether others may take their slots.

They can change without a change of state, so only full lists of jobs show them, not lists of changed states.
"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class JobRules:
    """`max_parallel_tasks` and `max_wall_clock_time` are None where unlimited, the latter also where set in months.

    `allows_preemption` means that jobs of a higher priority may requeue its running tasks (allowTaskPreemption).
    """

    max_parallel_tasks: int | None = None
    max_wall_clock_time: timedelta | None = None
    uses_task_dependencies: bool = False
    allows_preemption: bool = False
