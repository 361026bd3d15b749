"""A pool's nodes as rules see them. What follows from all of them, perhaps thousands, is derived once for all rules."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from shared.domain.nodes.nodes import START_TASK_FAILED, Node


class PoolNodes:
    """The nodes of a pool, in their order, which several evaluations of rules may share."""

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        self._nodes = tuple(nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    @cached_property
    def standings(self) -> list[str]:
        """The effective state of each node."""
        return list(map(standing_of, self._nodes))

    @cached_property
    def states(self) -> Counter[str]:
        """The number of nodes by effective state."""
        return Counter(self.standings)

    @cached_property
    def able(self) -> tuple[Node, ...]:
        """The nodes that may get tasks."""
        return tuple(node for node in self if node.is_able)

    @cached_property
    def roomiest(self) -> Node | None:
        """The one with the most free slots of those that may get tasks."""
        return roomiest(self.able)

    def keyed(self, keys: Collection[str]) -> tuple[Node, ...]:
        """Returns the nodes with these keys."""
        return tuple(node for node in self if node.key in keys) if keys else ()


NO_NODES = PoolNodes()


def roomiest(nodes: tuple[Node, ...]) -> Node | None:
    """Returns the node with the most free slots."""
    return min(nodes, key=lambda node: node.slots, default=None)


def standing_of(node: Node) -> str:
    """Returns a node's effective state, mostly its state.

    A node that may get no tasks is `offline`, whichever it still runs. One whose start task failed and is retried isn't
    starting but failed.
    """
    if node.state in {"idle", "running"} and not node.is_able:
        return "offline"
    return START_TASK_FAILED if node.is_retried else node.state
