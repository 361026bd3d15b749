"""What shows of a pool's nodes when runs were over: since when nodes were idle, and how many there were."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from shared.domain.core.keys import key_of
from shared.domain.nodes.nodes import Node
from shared.domain.usage.billing_classes import READY
from shared.domain.usage.usage_ledger import HOUR, UsageHours

_IDLE = "idle"
_ABLE = frozenset((*READY, "unwatched"))
_UNKNOWN = 1 << 31
_ROUNDED = HOUR // 50  # of a node's hour, which clocks and moments between two polls may take


@dataclass(frozen=True, slots=True)
class KnownNodes:
    """The stored nodes of a pool by key, and the time of all of its nodes by hours since 1970."""

    slots_per_node: int
    nodes: Mapping[str, Node]
    hours: UsageHours

    def idle_since(self, node_id: str) -> Iterator[int]:
        """Yields times since which a node was seen idle, in milliseconds since 1970."""
        if node := self.nodes.get(key_of(node_id)):
            states = chain(((node.state, node.transition),), node.record.past)
            yield from (since for state, since in states if state == _IDLE and since)

    def most_nodes(self, at: int) -> int:
        """Returns how many nodes could run tasks around a time, in milliseconds since 1970, at the most."""
        found = [self._able(hour) for hour in range(at // HOUR - 1, at // HOUR + 2)]
        is_open = at // HOUR + 1 >= max(self.hours, default=0)
        return max(*found, len(self.nodes) if is_open else 0) or _UNKNOWN

    def _able(self, hour: int) -> int:
        """Returns how many nodes could run tasks in the mean of an hour, rounded up."""
        time = sum(amount for kind, amount in self.hours.get(hour, {}).items() if kind.billing_class in _ABLE)
        return -(-max(time - _ROUNDED, 0) // HOUR)
