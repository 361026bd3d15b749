"""Groups of failed tasks whose outputs say the same.

Merging is commutative and associative, also where groups exceed their bound: hosts may add up parts in any order. To
that end the groups and nodes that are kept follow from their ids alone. Those of strong statements come first, because
outputs that say nothing may all differ. What isn't kept is counted. Parts must not share tasks.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

from shared.domain.outputs.excerpts import ErrorExcerpt
from shared.domain.outputs.known_errors import KnownError, known_error_of
from shared.domain.outputs.line_strengths import Strength, strength_of
from shared.domain.outputs.log_prefixes import LogMessage

MAX_GROUPS, MAX_NODES, MAX_TASKS = 200, 100, 100
type Node = tuple[str, str]


@dataclass(frozen=True, slots=True, order=True)
class OutputExample:
    """A failed task, its node (pool id, node id; both empty where it had none), its end, and its excerpt."""

    ended: datetime
    job: str
    task: str
    node: Node
    excerpt: ErrorExcerpt
    known: str = ""
    """The id of the known error that it shows."""


@dataclass(frozen=True, slots=True)
class OutputGroup:
    """Tasks of one signature.

    `nodes` has the tasks by node; `elsewhere` counts those on nodes beyond MAX_NODES. `ends` are the first MAX_TASKS of
    them that ended, each with its end.
    """

    count: int
    first: OutputExample
    newest: OutputExample
    nodes: tuple[tuple[Node, int], ...] = ()
    elsewhere: int = 0
    ends: tuple[tuple[datetime, str], ...] = ()

    @classmethod
    def of(cls, example: OutputExample) -> "OutputGroup":
        nodes = ((example.node, 1),) if example.node != ("", "") else ()
        return cls(1, example, example, nodes, ends=((example.ended, example.task),))

    @property
    def id(self) -> str:
        return self.first.excerpt.id

    @property
    def signature(self) -> str:
        return self.first.excerpt.signature

    @property
    def title(self) -> str:
        return self.first.excerpt.title

    @property
    def known(self) -> KnownError | None:
        """The known error that the first example shows, with sentence and advice."""
        return known_error_of(self.first.known)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The ids of its tasks, those that ended first, at most MAX_TASKS."""
        return tuple(task for _, task in self.ends)

    @property
    def node_count(self) -> int:
        """How many nodes are known; there are more where `elsewhere` isn't 0."""
        return len(self.nodes)

    @property
    def rank(self) -> tuple[int, str]:
        """The sort key of groups for people, the largest first."""
        return -self.count, self.id


@dataclass(frozen=True, slots=True)
class OutputGroups:
    """Groups by id, at most MAX_GROUPS, and the number of tasks in groups that weren't kept."""

    groups: tuple[OutputGroup, ...] = ()
    ungrouped: int = 0

    @property
    def count(self) -> int:
        return self.ungrouped + sum(group.count for group in self.groups)

    @classmethod
    def of(cls, examples: Iterable[OutputExample]) -> "OutputGroups":
        return cls.merged([cls((OutputGroup.of(example),)) for example in examples])

    @classmethod
    def merged(cls, parts: "Sequence[OutputGroups]", *, most: int = MAX_GROUPS) -> "OutputGroups":
        """Returns the sum of parts that share no tasks; the same in any order, and however they are added up."""
        found: dict[str, list[OutputGroup]] = {}
        for group in (group for part in parts for group in part.groups):
            found.setdefault(group.signature, []).append(group)
        kept = sorted(found, key=_keeping)[:most]
        groups = sorted((_merged(found[signature]) for signature in kept), key=lambda group: group.id)
        total = sum(part.count for part in parts)
        return cls(tuple(groups), total - sum(group.count for group in groups))

    def largest(self, most: int) -> tuple[OutputGroup, ...]:
        return tuple(sorted(self.groups, key=lambda group: group.rank)[:most])


def _merged(groups: Sequence[OutputGroup]) -> OutputGroup:
    nodes = Counter[Node]()
    for group in groups:
        for node, number in group.nodes:
            nodes[node] += number
    kept = sorted(nodes, key=_hash)[:MAX_NODES]
    return OutputGroup(
        sum(group.count for group in groups),
        min(group.first for group in groups),
        max(group.newest for group in groups),
        tuple((node, nodes[node]) for node in sorted(kept)),
        sum(group.elsewhere for group in groups) + sum(nodes.values()) - sum(nodes[node] for node in kept),
        tuple(sorted(end for group in groups for end in group.ends)[:MAX_TASKS]),
    )


def _keeping(signature: str) -> tuple[int, bytes]:
    """Returns the order in which groups are kept; it depends on nothing but the signature."""
    strength = strength_of(signature, LogMessage(signature))
    return (0 if strength >= Strength.ERROR else 1), _hash(signature)


def _hash(value: object) -> bytes:
    return blake2b(repr(value).encode("utf-8", "backslashreplace"), digest_size=8).digest()
