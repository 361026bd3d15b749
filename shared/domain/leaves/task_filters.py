"""Filters of task lists, evaluated on a leaf's columns: only tasks that are shown are built.

This module reads no leaf. Counts, summary and keys rule out leaves before they are read.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from shared.domain.core.keys import KeyRange, key_of, keys_of_prefix
from shared.domain.leaves.leaf_summaries import remembered
from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.failures import failure_group_id
from shared.domain.tasks.tasks import FAILURE, STATES, SUCCESS, TaskCounts


class Between(NamedTuple):
    """Numbers from `low` to `high`, both included; None: no bound."""

    low: int | None = None
    high: int | None = None

    def holds(self, number: int) -> bool:
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)


ANY = Between()


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Conditions on tasks: one value of each set must match; empty sets and an empty prefix match all tasks.

    `states` and `results` index STATES and RESULTS. `nodes` and `pools` are ids and `prefix` begins an id, all without
    case. `failure_groups` are group ids, which only failed tasks match. `slots` are required ones, `started` is in
    milliseconds since 1970, `run_time` in milliseconds from start to end; tasks without a known value don't match.
    """

    states: frozenset[int] = frozenset()
    results: frozenset[int] = frozenset()
    exit_codes: frozenset[int] = frozenset()
    nodes: frozenset[str] = frozenset()
    pools: frozenset[str] = frozenset()
    failure_groups: frozenset[str] = frozenset()
    prefix: str = ""
    slots: frozenset[int] = frozenset()
    started: Between = ANY
    run_time: Between = ANY

    @property
    def keys(self) -> KeyRange:
        """The range of keys that contains all matching tasks of a job."""
        return keys_of_prefix(self.prefix)

    def may_match(self, counts: TaskCounts, summary: bytes | None = None) -> bool:
        """Returns False for a leaf that has no matching task, by its counts or the causes in its stored summary."""
        return (
            (not self.states or any(getattr(counts, STATES[state]) > 0 for state in self.states))
            and (self.results != {SUCCESS} or counts.succeeded > 0)
            and (not self._of_failures or counts.failed > 0)
            and self._may_have_failed(summary)
        )

    def count(self, counts: TaskCounts) -> int | None:
        """Returns how many tasks of a job match, None where its counts alone can't show it."""
        of_tasks = self.exit_codes or self.nodes or self.pools or self.failure_groups or self.prefix or self.slots
        if of_tasks or (self.started, self.run_time) != (ANY, ANY):
            return None
        if self.results:
            ended = not self.states or STATES.index("completed") in self.states
            by_result = {SUCCESS: counts.succeeded, FAILURE: counts.failed}
            return sum(by_result.get(result, 0) for result in self.results) if ended else 0
        return sum(getattr(counts, STATES[state]) for state in self.states) if self.states else counts.total

    def places(self, leaf: Leaf, keys: KeyRange) -> list[int]:
        """Returns the indexes of the matching tasks of a leaf within a range of keys."""
        places: Iterable[int] = keys.common(self.keys).places(leaf.keys)
        if self.states:
            places = _among(leaf, "state", self.states, places)
        if self.results:
            places = _among(leaf, "result", self.results, places)
        if self.exit_codes:
            places = _among(leaf, "exit_code", self.exit_codes, places)
        if self.slots:
            places = _among(leaf, "slots", self.slots, places)
        if (self.started, self.run_time) != (ANY, ANY):
            places = self._in_time(leaf, places)
        if self.nodes or self.pools:
            places = _passing(leaf.column("node"), self._on_them(), places)
        if self.failure_groups:
            failed = _among(leaf, "result", {FAILURE}, places)
            causes = list(zip(leaf.column("failure"), leaf.column("exit_code"), strict=True))
            places = _passing(causes, lambda cause: failure_group_id(*cause) in self.failure_groups, failed)
        return list(places)

    def _in_time(self, leaf: Leaf, places: Iterable[int]) -> Iterator[int]:
        """Yields the indexes of tasks that started, and ran, as long as wanted."""
        starts, ends = leaf.column("start"), leaf.column("end")
        for at in places:
            start, end = starts[at], ends[at]
            ran = self.run_time == ANY or (end >= start and self.run_time.holds(end - start))
            if start and ran and self.started.holds(start):
                yield at

    @property
    def _of_failures(self) -> bool:
        return self.results == {FAILURE} or bool(self.failure_groups)

    def _may_have_failed(self, summary: bytes | None) -> bool:
        """Returns False where a summary has all causes of failures, and the filter matches none."""
        if summary is None or not self._of_failures or not (self.failure_groups or self.exit_codes):
            return True
        known = remembered(summary)
        if known is None or known.failures.ungrouped:
            return True
        return any(
            (not self.failure_groups or group.id in self.failure_groups)
            and (not self.exit_codes or group.exit_code in self.exit_codes)
            for group in known.failures.groups
        )

    def _on_them(self) -> Callable[[tuple[str, str]], bool]:
        """Returns a test of (pool id, node id) against the filter's pools and nodes."""
        pools, nodes = set(map(key_of, self.pools)), set(map(key_of, self.nodes))
        return lambda at: (not pools or key_of(at[0]) in pools) and (not nodes or key_of(at[1]) in nodes)


def _among(leaf: Leaf, name: str, wanted: Collection[int], places: Iterable[int]) -> list[int]:
    values = leaf.column(name)
    if len(wanted) == 1:
        (only,) = wanted
        return [at for at in places if values[at] == only]
    return [at for at in places if values[at] in wanted]


def _passing(values: list[Any], test: Callable[[Any], bool], places: Iterable[int]) -> list[int]:
    """Returns the indexes whose values pass; many values are equal, so results are cached."""
    passes = cache(test)
    return [at for at in places if passes(values[at])]
