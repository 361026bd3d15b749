"""Which waiting tasks are held by which others: what a task depends on, and whether that lets it go on.

Source: the reference of TaskDependencies and ExitOptions. A task waits until all that it depends on completed and
satisfy it: those that succeeded do, those that failed only if their exit conditions say so. One that failed and doesn't
satisfies nobody any more, unless it is run again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from shared.domain.keys import key_of

MOST_KEYS = 300
_MOST_SHOWN = 5

type Standing = Literal["satisfied", "waiting", "running", "failed", "missing", "unknown"]
_RANKS: dict[Standing, int] = {"failed": 0, "missing": 1, "running": 1, "waiting": 2}


class WaitingTask(NamedTuple):
    """A waiting task and what it depends on: ids, and ranges of whole numbers that are ids, both ends included."""

    id: str
    ids: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Blocker:
    """A task that `holds` so many of the waiting tasks that were looked at."""

    id: str
    standing: Standing
    holds: int

    @property
    def key(self) -> str:
        return key_of(self.id)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Of `looked` waiting tasks, `whole` where these are all: `held` wait for others.

    Of those `lost` wait for one that failed and satisfies nobody, and `astray` for one that the job doesn't have.
    `unsure` may be held or not. `blockers` hold the most: those that failed first, those that wait themselves last.
    """

    looked: int
    whole: bool
    held: int = 0
    lost: int = 0
    astray: int = 0
    unsure: int = 0
    blockers: tuple[Blocker, ...] = ()

    @property
    def all_held(self) -> bool:
        return self.whole and 0 < self.looked == self.held

    @property
    def seem_all_held(self) -> bool:
        """True where some are held and none is known not to be, though some are unsure or weren't looked at.

        Not where all that they wait for waits itself: a task that keeps those may be one that could run.
        """
        has_root = any(blocker.standing != "waiting" for blocker in self.blockers)
        return has_root and 0 < self.held == self.looked - self.unsure and not self.all_held


def wanted_keys(tasks: Iterable[WaitingTask]) -> dict[str, str]:
    """The first MOST_KEYS tasks that others depend on, their ids by key."""
    found: dict[str, str] = {}
    for task in tasks:
        for name in _names(task):
            if len(found) == MOST_KEYS:
                return found
            found.setdefault(key_of(name), name)
    return found


def dependencies_of(tasks: Sequence[WaitingTask], standings: Mapping[str, Standing], *, whole: bool) -> Dependencies:
    """What holds these tasks; `standings` are by key, and what is in none of them is unknown."""
    held: Counter[str] = Counter()
    holds: Counter[str] = Counter()
    names: dict[str, str] = {}
    for task in tasks:
        closed = {}
        for name in _names(task):
            key = key_of(name)
            standing = standings.get(key, "unknown")
            if standing != "satisfied":
                closed[key] = standing
                names[key] = name
            if key not in standings:  # nor are those behind it, and a range may have millions of ids
                break
        holds.update(key for key, standing in closed.items() if standing != "unknown")
        held[_worst(closed.values())] += 1
    shown = sorted(holds, key=lambda key: (_RANKS[standings[key]], -holds[key], key))[:_MOST_SHOWN]
    return Dependencies(
        looked=len(tasks),
        whole=whole,
        held=sum(held[standing] for standing in ("waiting", "running", "failed", "missing")),
        lost=held["failed"],
        astray=held["missing"],
        unsure=held["unknown"],
        blockers=tuple(Blocker(names[key], standings[key], holds[key]) for key in shown),
    )


def _worst(closed: Iterable[Standing]) -> Standing:
    """What decides about a task: one failure holds it for good, whatever else it waits for."""
    found = set(closed)
    order: tuple[Standing, ...] = ("failed", "missing", "waiting", "running", "unknown")
    return next((standing for standing in order if standing in found), "satisfied")


def _names(task: WaitingTask) -> Iterable[str]:
    yield from task.ids
    for start, end in task.ranges:
        yield from map(str, range(start, end + 1))
