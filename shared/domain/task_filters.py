"""Which tasks of a leaf a list asks for, told from the leaf's columns: no task is made that isn't shown.

Nothing here reads a leaf. What a leaf's counts, summary and keys rule out is told beforehand, so that it needn't be
read.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from shared.domain.failures import failure_group_id
from shared.domain.keys import KeyRange, key_of, keys_of_prefix
from shared.domain.leaf_summaries import remembered
from shared.domain.leaves import Leaf
from shared.domain.tasks import FAILURE, STATES, SUCCESS, TaskCounts


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """What tasks must be like; None and an empty prefix ask nothing.

    `state` and `result` index STATES and RESULTS; `node` and `pool` are ids and `prefix` begins an id, all without
    case; `failure_group` is a group's id, of which only tasks that failed are.
    """

    state: int | None = None
    result: int | None = None
    exit_code: int | None = None
    node: str | None = None
    pool: str | None = None
    failure_group: str | None = None
    prefix: str = ""

    @property
    def keys(self) -> KeyRange:
        """Where all that match stand among the tasks of a job."""
        return keys_of_prefix(self.prefix)

    def may_match(self, counts: TaskCounts, summary: bytes | None = None) -> bool:
        """False for a leaf that holds none of these tasks, as its counts say, or the causes in its stored summary."""
        return (
            (self.state is None or getattr(counts, STATES[self.state]) > 0)
            and (self.result != SUCCESS or counts.succeeded > 0)
            and (not self._of_failures or counts.failed > 0)
            and self._may_have_failed(summary)
        )

    def places(self, leaf: Leaf, keys: KeyRange) -> list[int]:
        """The places of the tasks that match, among those of a leaf whose keys are in a range."""
        places: Iterable[int] = keys.common(self.keys).places(leaf.keys)
        if self.state is not None:
            places = _equal(leaf, "state", self.state, places)
        if self.result is not None:
            places = _equal(leaf, "result", self.result, places)
        if self.exit_code is not None:
            places = _equal(leaf, "exit_code", self.exit_code, places)
        if self.node is not None or self.pool is not None:
            places = _passing(leaf.column("node"), self._is_there, places)
        if self.failure_group is not None:
            failed = _equal(leaf, "result", FAILURE, places)
            causes = list(zip(leaf.column("failure"), leaf.column("exit_code"), strict=True))
            places = _passing(causes, lambda cause: failure_group_id(*cause) == self.failure_group, failed)
        return list(places)

    @property
    def _of_failures(self) -> bool:
        return self.result == FAILURE or self.failure_group is not None

    def _may_have_failed(self, summary: bytes | None) -> bool:
        """False where a summary tells all causes that tasks failed for, and none of them is asked for."""
        if summary is None or not self._of_failures or (self.failure_group is None and self.exit_code is None):
            return True
        known = remembered(summary)
        if known is None or known.failures.ungrouped:
            return True
        return any(
            self.failure_group in {None, group.id} and self.exit_code in {None, group.exit_code}
            for group in known.failures.groups
        )

    def _is_there(self, node: tuple[str, str]) -> bool:
        pool_id, node_id = node
        return (self.node is None or key_of(node_id) == key_of(self.node)) and (
            self.pool is None or key_of(pool_id) == key_of(self.pool)
        )


def _equal(leaf: Leaf, name: str, wanted: int, places: Iterable[int]) -> list[int]:
    values = leaf.column(name)
    return [at for at in places if values[at] == wanted]


def _passing(values: list[Any], test: Callable[[Any], bool], places: Iterable[int]) -> list[int]:
    """The places whose values pass; of equal values, which are many, only one is tested."""
    passes = cache(test)
    return [at for at in places if passes(values[at])]
