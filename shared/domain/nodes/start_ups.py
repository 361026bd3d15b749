"""A node's start-up: its milestones from the wish for it to its first task, as lists of nodes show them.

A list shows only a node's present, so milestones are collected over polls, and the first known value stays. A start-up
is identified by node and allocation time: whoever sees it once more writes it once more, and nothing is counted twice.
Restarts aren't start-ups: `allocationTime` never changes.
"""

from collections.abc import Mapping
from datetime import timedelta
from hashlib import blake2b
from typing import Literal, NamedTuple

from shared.domain.nodes.nodes import RUNNING, SUCCESS, Node

type StartTaskKind = Literal["none", "awaited", "beside"]
"""Whether a node has a start task, and whether tasks wait for its success."""
type Phase = Literal["allocation", "boot", "setup", "startTask", "wait", "preparation", "overhead", "total"]
type Reason = Literal[
    "resizeNotSeen", "notSoFar", "noTaskSoFar", "noStartTask", "startTaskNotAwaited", "startTaskRetried",
    "startTaskFailed", "restarted", "idleNotSeen", "preparationNotSeen", "pollsMissed",
]  # fmt: skip

PHASES: tuple[Phase, ...] = (
    "allocation", "boot", "setup", "startTask", "wait", "preparation", "overhead", "total",
)  # fmt: skip
"""In the order of time. The total is from the wish to the first task, the overhead that without the wait."""
REASONS: Mapping[Reason, str] = {
    "resizeNotSeen": "No poll saw the pool being resized when the node was allocated, so the wish has no time.",
    "notSoFar": "The node hasn't come that far.",
    "noTaskSoFar": "The node has run no task so far.",
    "noStartTask": "The pool has no start task.",
    "startTaskNotAwaited": "Tasks don't wait for the start task, so it takes no part of the start-up.",
    "startTaskRetried": "The start task was retried, and Batch reports only the last run: setup isn't apart from it.",
    "startTaskFailed": "The start task failed.",
    "restarted": "The node restarted before its first task.",
    "idleNotSeen": "No poll saw the node idle before its first task, so its setup and its wait aren't apart.",
    "preparationNotSeen": "Preparation and first task began between two polls, so they aren't apart.",
    "pollsMissed": "Polls were missing when the node began to work.",
}
MAX_UNSEEN = timedelta(minutes=30)
"""Nodes first seen longer after their allocation are left out; so is what happened between polls that far apart."""
_MAX_UNSEEN = MAX_UNSEEN // timedelta(milliseconds=1)
_IDLE = ("idle", "offline")
_DAY = timedelta(days=1) // timedelta(milliseconds=1)


class StartUp(NamedTuple):
    """The milestones of one node in milliseconds since 1970, 0 where unknown.

    `node` is the identity. `wished` is the start of the resize. `started` and `ended` are those of the start task,
    `ended` of a successful run. `busy` is since when the node works: its first task was assigned, or its job is being
    prepared there. `first` is the first task's start where it could be seen apart from that. `worked`: a task has run.
    `ending` is why later milestones stay unknown, empty where none is.
    """

    node: str
    allocated: int
    vm_size: str
    image: str
    start_task: StartTaskKind = "none"
    wished: int = 0
    booted: int = 0
    started: int = 0
    ended: int = 0
    ready: int = 0
    busy: int = 0
    first: int = 0
    worked: bool = False
    retried: bool = False
    ending: Reason | Literal[""] = ""

    @property
    def is_over(self) -> bool:
        """True where no later list changes it."""
        return self.worked or bool(self.ending)

    @property
    def day(self) -> int:
        """The day of the allocation in UTC, in days since 1970."""
        return self.allocated // _DAY


class Interval(NamedTuple):
    """The times in milliseconds since 1970 of the previous list of a pool's nodes and of this one."""

    known_as_of: int
    at: int


class Sighting(NamedTuple):
    """A node that a list shows as new or changed, before its first task as far as was known, and its identity."""

    before: Node | None
    now: Node
    identity: str


def sighting_of(before: Node | None, now: Node) -> Sighting:
    identity = blake2b(f"{now.key}/{now.allocated}".encode(), digest_size=9).hexdigest()
    return Sighting(before, now, identity)


def sightings(before: Mapping[str, Node], after: Mapping[str, Node], at: int) -> tuple[Sighting, ...]:
    """Returns the nodes of a pool whose start-up a list as of `at` may have moved on."""
    found = ((before.get(key), node) for key, node in after.items() if before.get(key) is not node)
    return tuple(
        sighting_of(old, node)
        for old, node in found
        if node.allocated and (not _has_worked(old) if old else at - node.allocated <= _MAX_UNSEEN)
    )


def first_start_up(sighting: Sighting, *, image: str, start_task: StartTaskKind) -> StartUp | None:
    """Returns the start-up of a node that a list shows first, None for others."""
    node = sighting.now
    if sighting.before is not None:
        return None
    return StartUp(sighting.identity, node.allocated, node.vm_size, image, start_task)


def followed_start_up(found: StartUp, sighting: Sighting, seen: Interval, *, wished: int) -> StartUp:
    """Returns the start-up after a list showed the node; `wished` is the start of its resize, 0 where unknown."""
    if found.is_over:
        return found
    node = sighting.now
    if found.booted and node.booted > found.booted and not found.busy:
        return found._replace(ending="restarted")
    found = found._replace(wished=found.wished or wished, booted=found.booted or node.booted)
    return _worked(_ready(_with_start_task(found, node), node), sighting, seen)


def start_up_phase(found: StartUp, phase: Phase) -> int | Reason:
    """Returns the milliseconds of a phase, or why they aren't known. Skewed clocks give 0 at the least."""
    begin, end, why = _BOUNDS[phase](found)
    return max(end - begin, 0) if begin and end else why


def _with_start_task(found: StartUp, node: Node) -> StartUp:
    run = node.start
    if run is None or found.start_task == "none":
        return found
    if run.retries or found.retried:
        found = found._replace(retried=True, started=0, ended=0)
    else:
        ended = run.end if run.result == SUCCESS else 0
        found = found._replace(started=found.started or run.start, ended=found.ended or ended)
    if found.start_task == "awaited" and run.result == SUCCESS and run.end:
        return found._replace(ready=found.ready or run.end)
    has_failed = found.start_task == "awaited" and node.state == "starttaskfailed"
    return found._replace(ending="startTaskFailed") if has_failed else found


def _ready(found: StartUp, node: Node) -> StartUp:
    was_idle = found.start_task != "awaited" and node.state in _IDLE and not (found.busy or _has_worked(node))
    return found._replace(ready=found.ready or node.transition) if was_idle else found


def _worked(found: StartUp, sighting: Sighting, seen: Interval) -> StartUp:
    """Adds since when the node works: exactly, or where short tasks came and went between two lists, within these."""
    before, node = sighting.before, sighting.now
    last = max(seen.known_as_of, found.allocated)
    if not found.busy and node.state == RUNNING and not node.tasks_run:
        found = found._replace(busy=node.transition)
    if not _has_worked(node):
        return found
    if seen.at - last > _MAX_UNSEEN:
        return found if found.busy else found._replace(ending="pollsMissed")
    was_preparing = before is not None and before.state == RUNNING and bool(found.busy)
    first = (last + seen.at) // 2 if was_preparing else 0
    busy = found.busy or min(max(node.transition, last), seen.at)
    return found._replace(busy=busy, first=max(first, busy) if first else 0, worked=True)


def _has_worked(node: Node) -> bool:
    return bool(node.tasks_run or node.tasks)


type _Bounds = tuple[int, int, Reason]


def _allocation(found: StartUp) -> _Bounds:
    return found.wished, found.allocated, "resizeNotSeen"


def _boot(found: StartUp) -> _Bounds:
    return found.allocated, found.booted, found.ending or "notSoFar"


def _setup(found: StartUp) -> _Bounds:
    end = found.ready if found.start_task == "none" else found.started
    if found.retried:
        return 0, 0, "startTaskRetried"
    return found.booted, end, found.ending or ("idleNotSeen" if found.busy else "notSoFar")


def _start_task(found: StartUp) -> _Bounds:
    if found.start_task == "none":
        return 0, 0, "noStartTask"
    if found.start_task == "beside":
        return 0, 0, "startTaskNotAwaited"
    return found.started, found.ended, "startTaskRetried" if found.retried else found.ending or "notSoFar"


def _wait(found: StartUp) -> _Bounds:
    return found.ready, found.busy, found.ending or ("idleNotSeen" if found.busy else "noTaskSoFar")


def _preparation(found: StartUp) -> _Bounds:
    return found.busy, found.first, found.ending or ("preparationNotSeen" if found.worked else "noTaskSoFar")


def _total(found: StartUp) -> _Bounds:
    why: Reason = found.ending or ("resizeNotSeen" if found.worked else "noTaskSoFar")
    return found.wished, (found.first or found.busy) if found.worked else 0, why


def _overhead(found: StartUp) -> _Bounds:
    """A wait that isn't known apart is included: it is shorter than the time between two polls."""
    begin, end, why = _total(found)
    waited = max(found.busy - found.ready, 0) if found.ready else 0
    return begin, end - waited if end else 0, why


_BOUNDS = {
    "allocation": _allocation,
    "boot": _boot,
    "setup": _setup,
    "startTask": _start_task,
    "wait": _wait,
    "preparation": _preparation,
    "overhead": _overhead,
    "total": _total,
}
