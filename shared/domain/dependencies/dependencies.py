"""Dependencies of waiting tasks: which tasks hold them, and whether these can still satisfy them.

Source: the reference of TaskDependencies and ExitOptions. A task waits until all its dependencies completed and satisfy
it. Succeeded tasks do; failed ones do only if their exit conditions say so. Other failed tasks never satisfy a
dependency unless they are run again. Tasks of a cycle wait for each other: none of them ever starts, nor any task that
waits for one of them.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

from shared.domain.core.keys import key_of

MAX_KEYS = 1000
_MAX_SHOWN = 5

type Standing = Literal["satisfied", "waiting", "running", "failed", "missing", "unknown"]
type _Fate = Standing | Literal["circular"]
_FOR_GOOD: tuple[_Fate, ...] = ("failed", "missing", "circular")
_RANKS: dict[Standing, int] = {"failed": 0, "missing": 1, "running": 1, "waiting": 2}


class WaitingTask(NamedTuple):
    """A waiting task and its dependencies: ids, and inclusive ranges of integers that are ids."""

    id: str
    ids: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class BlockingTask:
    """A task that `holds` this many of the examined waiting tasks."""

    id: str
    standing: Standing
    holds: int

    @property
    def key(self) -> str:
        return key_of(self.id)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Results for `looked` waiting tasks, `whole` where these are all: `held` wait for others.

    Some of the held tasks never start: `lost` wait for one that failed and satisfies nothing, `astray` for one that the
    job doesn't have, and `circular` for one that waits for itself, each directly or through other waiting tasks.
    `unsure` may or may not be held. `blockers` hold the most: failed ones first, waiting ones last. `cycle` are ids,
    from a task back to itself.
    """

    looked: int
    whole: bool
    held: int = 0
    lost: int = 0
    astray: int = 0
    unsure: int = 0
    blockers: tuple[BlockingTask, ...] = ()
    circular: int = 0
    cycle: tuple[str, ...] = ()

    @property
    def endless(self) -> int:
        """The number of tasks that wait forever unless something is changed."""
        return self.lost + self.astray + self.circular

    @property
    def all_held(self) -> bool:
        return self.whole and 0 < self.looked == self.held

    @property
    def seem_all_held(self) -> bool:
        """True where some are held and none is known not to be, though some are unsure or weren't examined.

        False where all of their blockers are waiting, because a task that holds those may be able to run.
        """
        has_root = self.circular > 0 or any(blocker.standing != "waiting" for blocker in self.blockers)
        return has_root and 0 < self.held == self.looked - self.unsure and not self.all_held


def wanted_keys(tasks: Iterable[WaitingTask]) -> dict[str, str]:
    """Returns the first MAX_KEYS tasks that others depend on, their ids by key.

    With so many there may be more, which `is_depended_on` recognizes.
    """
    found: dict[str, str] = {}
    for task in tasks:
        in_ranges = (str(number) for first, last in task.ranges for number in range(first, last + 1))
        for name in chain(task.ids, in_ranges):
            if len(found) == MAX_KEYS:
                return found
            found.setdefault(key_of(name), name)
    return found


def is_depended_on(key: str, tasks: Iterable[WaitingTask]) -> bool:
    """Returns whether a task is within a range of one of `tasks`."""
    if not _is_number(key):
        return False
    return any(first <= int(key) <= last for task in tasks for first, last in task.ranges)


def dependencies_of(tasks: Sequence[WaitingTask], standings: Mapping[str, Standing], *, whole: bool) -> Dependencies:
    """Returns the results for these tasks; `standings` are by key, and a missing one counts as unknown."""
    numbers = _open_numbers(standings)
    closed = {key_of(task.id): _closed(task, standings, numbers) for task in tasks}
    holds = Counter(key for found in closed.values() for key, (_, standing) in found.items() if standing != "unknown")
    names = {key: name for found in closed.values() for key, (name, _) in found.items()}
    fates = _fates({key: {on: standing for on, (_, standing) in found.items()} for key, found in closed.items()})
    decided = Counter(fates.values())
    shown = sorted(holds, key=lambda key: (_RANKS[standings[key]], -holds[key], key))[:_MAX_SHOWN]
    left = _endless(_edges(closed))
    return Dependencies(
        looked=len(tasks),
        whole=whole,
        held=sum(decided[standing] for standing in ("waiting", "running", "failed", "missing", "circular")),
        lost=decided["failed"],
        astray=decided["missing"],
        unsure=decided["unknown"],
        blockers=tuple(BlockingTask(names[key], standings[key], holds[key]) for key in shown),
        circular=decided["circular"],
        cycle=tuple(names[key] for key in _cycle_in(left)),
    )


def _closed(
    task: WaitingTask, standings: Mapping[str, Standing], numbers: Sequence[int]
) -> dict[str, tuple[str, Standing]]:
    """Returns the ids and standings of the tasks that hold a task, by key.

    A range may have millions of ids. It is enumerated up to the first unknown one; beyond that only `numbers` count.
    """
    in_ranges = (name for first, last in task.ranges for name in _known_names(first, last, standings, numbers))
    found: dict[str, tuple[str, Standing]] = {}
    for name in chain(task.ids, in_ranges):
        standing = standings.get(key := key_of(name), "unknown")
        if standing != "satisfied":
            found[key] = name, standing
    return found


def _known_names(first: int, last: int, standings: Mapping[str, Standing], numbers: Sequence[int]) -> Iterable[str]:
    """Yields the ids of a range up to and including the first unknown one, and then those in `numbers`."""
    for number in range(first, last + 1):
        yield str(number)
        if str(number) not in standings:
            yield from map(str, numbers[bisect_right(numbers, number) : bisect_right(numbers, last)])
            return


def _open_numbers(standings: Mapping[str, Standing]) -> list[int]:
    """Returns the numeric ids, in order, of tasks that hold others, which ranges may contain."""
    return sorted(int(key) for key, standing in standings.items() if standing in _RANKS and _is_number(key))


def _is_number(key: str) -> bool:
    return key.isdecimal() and key == str(int(key))


def _edges(closed: Mapping[str, Mapping[str, object]]) -> dict[str, set[str]]:
    """Returns the edges from waiting tasks to the waiting tasks that hold them."""
    return {key: found.keys() & closed.keys() for key, found in closed.items()}


def _fates(closed: Mapping[str, Mapping[str, Standing]]) -> dict[str, _Fate]:
    """Returns the deciding standing of each task: a failure holds it permanently, even through other waiting ones."""
    fates: dict[str, _Fate] = {key: _worst(found.values()) for key, found in closed.items()}
    edges = _edges(closed)
    behind, circular = _behind(edges), _endless(edges)
    for fate in _FOR_GOOD:
        begun = circular if fate == "circular" else [key for key, found in fates.items() if found == fate]
        reached = [key for key in begun if fates[key] == fate or fates[key] not in _FOR_GOOD]
        while reached:
            key = reached.pop()
            fates[key] = fate
            reached += [each for each in behind.get(key, ()) if fates[each] not in _FOR_GOOD]
    return fates


def _behind(edges: Mapping[str, AbstractSet[str]]) -> dict[str, list[str]]:
    """Returns the tasks that depend on each task."""
    behind: dict[str, list[str]] = {}
    for key, on in edges.items():
        for other in on:
            behind.setdefault(other, []).append(key)
    return behind


def _endless(edges: Mapping[str, AbstractSet[str]]) -> dict[str, AbstractSet[str]]:
    """Returns the tasks that depend on a cycle, or are part of one, each with those of them that it waits for.

    `edges` are from a waiting task to waiting tasks that it depends on, all by key. Tasks that wait for none of the
    others are removed repeatedly; the remaining ones are the result.
    """
    behind = _behind(edges)
    waits_for = {key: len(on & edges.keys()) for key, on in edges.items()}
    free = [key for key, number in waits_for.items() if not number]
    while free:
        for key in behind.get(free.pop(), ()):
            waits_for[key] -= 1
            if not waits_for[key]:
                free.append(key)
    left = {key for key, number in waits_for.items() if number}
    return {key: edges[key] & left for key in sorted(left)}


def _cycle_in(left: Mapping[str, AbstractSet[str]]) -> tuple[str, ...]:
    """Returns one cycle of these tasks, from a task to itself; empty without one."""
    if not left:
        return ()
    path = [min(left)]
    while (following := min(left[path[-1]])) not in path:
        path.append(following)
    return (*path[path.index(following) :], following)


def _worst(closed: Iterable[Standing]) -> _Fate:
    """Returns the deciding standing: one failure holds a task permanently, regardless of its other dependencies."""
    found = set(closed)
    order: tuple[Standing, ...] = ("failed", "missing", "waiting", "running", "unknown")
    return next((standing for standing in order if standing in found), "satisfied")
