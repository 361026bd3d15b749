"""The nodes of a deleted pool in their last list, which don't show when they ended: an event may say it later."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from shared.domain.nodes.nodes import Node
from shared.domain.usage.node_spans import ListGap, Removal, UsageSpan, gone_spans

_CLOCK = 2_000  # milliseconds between the dates of lists and the times of events


class Deletion(NamedTuple):
    """When the deletion of a pool began and ended, in milliseconds since 1970."""

    began: int
    ended: int


class LastNodes(NamedTuple):
    """Numbers of nodes by state, `dedicated` and VM size, between their last list and the one that showed no pool."""

    gap: ListGap
    removal: Removal
    nodes: tuple[tuple[str, bool, str, int], ...]

    def spans(self) -> Iterator[tuple[Node, Sequence[UsageSpan]]]:
        """Yields the time of each node since its last list; nodes have no id."""
        for state, dedicated, vm_size, number in self.nodes:
            node = Node("", state, dedicated, vm_size=vm_size)
            spans = gone_spans(node, self.gap.known_as_of, self.gap, self.removal)
            for _ in range(number):
                yield node, spans

    def ended_by(self, deletions: Iterable[Deletion]) -> "LastNodes":
        """Returns them with the time of the deletion that removed them, or itself where it isn't among these.

        It is the first one after the last list: later ones are of pools that were created again in between.
        """
        for began, ended in sorted(deletions, key=lambda deletion: deletion.ended):
            if self.gap.known_as_of <= ended <= self.gap.at + _CLOCK:
                return self._replace(removal=Removal(began, ended, self.removal.before))
        return self


def last_nodes(nodes: Mapping[str, Node], gap: ListGap, removal: Removal) -> LastNodes:
    """Returns the stored nodes of a pool that a list of pools lacks."""
    counts = Counter((node.state, node.dedicated, node.vm_size) for node in nodes.values())
    return LastNodes(gap, removal, tuple((*kind, number) for kind, number in sorted(counts.items())))
