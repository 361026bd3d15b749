"""Billing classes: what a second of a node counts as, by the node's state.

A virtual machine costs from its creation until it is gone, in any state, except for preempted and
deallocated nodes, which have none (docs of Azure Virtual Machines, "States and billing"; of Batch, "Plan to manage
costs"). What Batch calls a state in a future version counts as `unknown`.
"""

from collections.abc import Mapping
from typing import Literal

type BillingClass = Literal[
    "running", "idle", "ready", "starting", "startTask", "startTaskFailed", "unusable", "unknown", "offline",
    "rebooting", "leaving", "unwatched", "preempted", "deallocated",
]  # fmt: skip

CLASSES: Mapping[BillingClass, str] = {
    "running": "At least one task runs on the node.",
    "idle": "The node could run tasks and runs none.",
    "ready": "The node was running or idle; which of the two, no poll shows.",
    "starting": "The node is created, or starts and prepares, before its start task.",
    "startTask": "The start task runs, and tasks wait for it.",
    "startTaskFailed": "The start task failed, so the node gets no tasks.",
    "unusable": "Batch can't use the node.",
    "unknown": "Batch has lost contact with the node, or names a state that is new.",
    "offline": "Scheduling is switched off on the node.",
    "rebooting": "The node reboots, is reimaged, or its operating system is upgraded.",
    "leaving": "The node is being removed from the pool.",
    "unwatched": "The node was there, and neither polls nor its stamps show in which state.",
    "preempted": "Azure took the spot node back: no machine.",
    "deallocated": "The node is deallocated, or being so: no machine.",
}
"""All billing classes, in the order of answers."""
UNBILLED: frozenset[BillingClass] = frozenset(("preempted", "deallocated"))
BILLED: tuple[BillingClass, ...] = tuple(one for one in CLASSES if one not in UNBILLED and one != "unwatched")
"""The classes whose seconds certainly cost."""
READY: frozenset[BillingClass] = frozenset(("running", "idle", "ready"))
_BY_STATE: Mapping[str, BillingClass] = {
    "running": "running",
    "idle": "idle",
    "creating": "starting",
    "starting": "starting",
    "waitingforstarttask": "startTask",
    "starttaskfailed": "startTaskFailed",
    "unusable": "unusable",
    "offline": "offline",
    "rebooting": "rebooting",
    "reimaging": "rebooting",
    "upgradingos": "rebooting",
    "leavingpool": "leaving",
    "preempted": "preempted",
    "deallocating": "deallocated",
    "deallocated": "deallocated",
}


def class_of(state: str) -> BillingClass:
    """Returns the billing class of a node's state, in lower case."""
    return _BY_STATE.get(state, "unknown")
