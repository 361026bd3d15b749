"""Times between changes of a pool's settings, so that tasks before and after a change are groups."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from shared.domain.tasks.tasks import Task


class PoolChange(NamedTuple):
    """Settings of a pool that changed at a time, in milliseconds since 1970, in words."""

    at: int
    text: str


class SettingEra(NamedTuple):
    """The time from a change of a pool's settings to the next one; ordered by `number`, the changes before it.

    `since` and `until` are milliseconds, 0 in the first and the last era in which tasks started. `begun` and `ended`
    are the changes in words: all of them, where no task started between several.
    """

    number: int
    since: int = 0
    begun: str = ""
    until: int = 0
    ended: str = ""
    pool: str = ""


def era_columns(
    tasks: Sequence[Task], changes: Mapping[str, Sequence[PoolChange]]
) -> Iterator[list[SettingEra | None]]:
    """Yields the era in which each task started, for each pool; tasks that didn't run on it have none.

    `changes` are by pool id, the earliest first.
    """
    for pool, made in changes.items():
        times = [change.at for change in made]
        numbers = [bisect_right(times, task.start) if task.start and task.node[0] == pool else None for task in tasks]
        eras = _eras(pool, sorted({number for number in numbers if number is not None}), made)
        yield [None if number is None else eras[number] for number in numbers]


def _eras(pool: str, numbers: Sequence[int], changes: Sequence[PoolChange]) -> dict[int, SettingEra]:
    found = {number: SettingEra(number, pool=pool) for number in numbers}
    for before, after in pairwise(numbers):
        between = changes[before:after]
        text = "; ".join(change.text for change in between)
        found[before] = found[before]._replace(until=between[0].at, ended=text)
        found[after] = found[after]._replace(since=between[-1].at, begun=text)
    return found
