"""What shows of a pool's nodes when runs were over: since when nodes were idle."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from shared.domain.core.keys import key_of
from shared.domain.nodes.nodes import Node

_IDLE = "idle"


@dataclass(frozen=True, slots=True)
class KnownNodes:
    """The stored nodes of a pool by key, and the slots of each, 0 where unknown."""

    slots_per_node: int
    nodes: Mapping[str, Node]

    def idle_since(self, node_id: str) -> Iterator[int]:
        """Yields times since which a node was seen idle, in milliseconds since 1970."""
        if node := self.nodes.get(key_of(node_id)):
            states = chain(((node.state, node.transition),), node.record.past)
            yield from (since for state, since in states if state == _IDLE and since)
