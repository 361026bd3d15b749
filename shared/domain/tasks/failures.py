"""Failed tasks by cause: Batch's category and code, and the exit code. Messages are no part of the cause.

Groups, nodes and examples are capped, because ids and codes are external input. Tasks beyond a cap are still counted,
so the numbers always add up to that of the failed tasks.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import msgspec

from shared.domain.core.keys import key_of

GROUPS, NODES, EXAMPLES = 100, 10, 5
type Cause = tuple[tuple[str, str], int | None]
type Node = tuple[str, str]
type _PlainGroup = tuple[str, str, int | None, int, int, int, list[tuple[str, str, int]], int, list[str]]


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Tasks that failed for one cause: (category, code) and exit code.

    `first` and `last` are the earliest and latest end of such a task (milliseconds, 0 where unknown). `nodes` are the
    (pool id, node id) on which most of them ran, with numbers; `elsewhere` counts those that ran on others, or on none.
    `examples` are the ids that sort first.
    """

    failure: tuple[str, str]
    exit_code: int | None
    count: int
    first: int
    last: int
    nodes: tuple[tuple[Node, int], ...] = ()
    elsewhere: int = 0
    examples: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return failure_group_id(self.failure, self.exit_code)

    @property
    def rank(self) -> tuple[Any, ...]:
        """The sort key of groups, the largest first."""
        return -self.count, self.failure, self.exit_code is not None, self.exit_code or 0

    def capped(self, nodes: int) -> "FailureGroup":
        ranked = sorted(self.nodes, key=lambda node: (-node[1], node[0]))
        rest = sum(number for _, number in ranked[nodes:])
        return replace(self, nodes=tuple(ranked[:nodes]), elsewhere=self.elsewhere + rest)


@dataclass(frozen=True, slots=True)
class Failures:
    """Groups, the largest first, and the number of failed tasks in no group."""

    groups: tuple[FailureGroup, ...] = ()
    ungrouped: int = 0

    @property
    def count(self) -> int:
        return self.ungrouped + sum(group.count for group in self.groups)

    @classmethod
    def summed(cls, many: "Sequence[Failures]") -> "Failures":
        """Returns the uncapped sum. It is exact, in any order of summing, where no part was capped before."""
        sums: dict[Cause, _Sum] = {}
        for failures in many:
            for group in failures.groups:
                sums.setdefault((group.failure, group.exit_code), _Sum()).add(group)
        groups = (summed.group(cause) for cause, summed in sums.items())
        ranked = tuple(sorted(groups, key=lambda group: group.rank))
        return cls(ranked, sum(failures.ungrouped for failures in many))

    def capped(self, *, groups: int = GROUPS, nodes: int = NODES) -> "Failures":
        """Returns the largest groups, each with the nodes on which most of its tasks ran."""
        rest = sum(group.count for group in self.groups[groups:])
        return Failures(tuple(group.capped(nodes) for group in self.groups[:groups]), self.ungrouped + rest)

    def fitting(self, fits: "Callable[[Failures], bool]") -> "Failures":
        """Returns these failures, their groups halved until `fits` accepts them for storage."""
        failures = self
        while failures.groups and not fits(failures):
            failures = failures.capped(groups=len(failures.groups) // 2, nodes=NODES)
        return failures

    def plain(self) -> list[Any]:
        """Returns lists of texts and numbers, for storage."""
        groups = [
            [*group.failure, group.exit_code, group.count, group.first, group.last,
             [[*node, number] for node, number in group.nodes], group.elsewhere, group.examples]
            for group in self.groups
        ]  # fmt: skip
        return [self.ungrouped, *groups]

    @classmethod
    def of_plain(cls, stored: list[Any]) -> "Failures":
        """Returns the inverse of `plain`. Raises ValueError."""
        ungrouped, groups = msgspec.convert((stored[:1], stored[1:]), tuple[tuple[int], list[_PlainGroup]])
        return cls(tuple(_group(*group) for group in groups), *ungrouped)


def failure_group_id(failure: tuple[str, str], exit_code: int | None) -> str:
    """Returns a short opaque key of a cause: (category, code) and exit code."""
    return blake2b(repr((*failure, exit_code)).encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()


@dataclass(slots=True)
class _Sum:
    count: int = 0
    elsewhere: int = 0
    times: list[int] = field(default_factory=list)
    nodes: Counter[Node] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, group: FailureGroup) -> None:
        self.count += group.count
        self.elsewhere += group.elsewhere
        self.times += [time for time in (group.first, group.last) if time]
        for node, number in group.nodes:
            self.nodes[node] += number
        self.examples += group.examples

    def group(self, cause: Cause) -> FailureGroup:
        first, last = (min(self.times), max(self.times)) if self.times else (0, 0)
        nodes = tuple(sorted(self.nodes.items(), key=lambda node: (-node[1], node[0])))
        examples = tuple(sorted(self.examples, key=key_of)[:EXAMPLES])
        return FailureGroup(*cause, self.count, first, last, nodes, self.elsewhere, examples)


def _group(category: str, code: str, exit_code: int | None, *rest: Any) -> FailureGroup:
    count, first, last, nodes, elsewhere, examples = rest
    placed = tuple(((pool, node), number) for pool, node, number in nodes)
    return FailureGroup((category, code), exit_code, count, first, last, placed, elsewhere, tuple(examples))
