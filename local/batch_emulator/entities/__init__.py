"""The contents of a Batch account, as lists show them now. Times are ticks, specifications are the clients' JSON.

These classes decide nothing: the state transitions in `simulation` change them, and requests read them.
"""

from local.batch_emulator.entities.account import Account
from local.batch_emulator.entities.auto_scale import SAMPLE_PERIOD_SECONDS, AutoScaleState, SampleHistory
from local.batch_emulator.entities.jobs import Job, Json, PreparationStatus, Schedule
from local.batch_emulator.entities.pools import USABLE_STATES, Lease, Node, Pool
from local.batch_emulator.entities.tasks import Failure, Run, SatisfiedDependency, StartTask, Task

__all__ = [
    "SAMPLE_PERIOD_SECONDS",
    "USABLE_STATES",
    "Account",
    "AutoScaleState",
    "Failure",
    "Job",
    "Json",
    "Lease",
    "Node",
    "Pool",
    "PreparationStatus",
    "Run",
    "SampleHistory",
    "SatisfiedDependency",
    "Schedule",
    "StartTask",
    "Task",
]
