"""The contents of a Batch account, as lists show them now. Times are ticks, specifications are the clients' JSON.

These classes decide nothing: the state transitions in `simulation` change them, and requests read them.
"""

from local.batch_emulator.entities.account import Account
from local.batch_emulator.entities.jobs import Job, Json, PreparationStatus, Schedule
from local.batch_emulator.entities.pools import USABLE_STATES, Lease, Node, Pool
from local.batch_emulator.entities.tasks import Failure, Run, SatisfiedDependency, StartTask, Task

__all__ = [
    "USABLE_STATES",
    "Account",
    "Failure",
    "Job",
    "Json",
    "Lease",
    "Node",
    "Pool",
    "PreparationStatus",
    "Run",
    "SatisfiedDependency",
    "Schedule",
    "StartTask",
    "Task",
]
