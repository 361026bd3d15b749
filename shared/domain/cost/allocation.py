"""Allocates the time of nodes of one kind to tasks, idle slots, idle nodes and overhead, so that nothing is left.

The unit is the slot millisecond: a millisecond of a node is as many as the node has slots. So all parts are integers,
and their sum is exactly the billed time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from shared.domain.cost.busy_nodes import HOUR, Outcome

type Overhead = Literal[
    "starting", "startTask", "startTaskFailed", "unusable", "unknown", "offline", "rebooting", "leaving"
]
type CostClass = Literal["idleSlots", "idle", "unattributed", "unwatched"] | Outcome | Overhead

OUTCOMES: tuple[Outcome, ...] = ("succeeded", "failed", "retried", "interrupted", "running")


@dataclass(frozen=True, slots=True)
class NodeTime:
    """Milliseconds of nodes: seen running, seen idle, either of both between two polls, and in an unknown state."""

    running: int = 0
    idle: int = 0
    ready: int = 0
    unwatched: int = 0

    @property
    def able(self) -> int:
        return self.running + self.idle + self.ready


def allocated(
    nodes: NodeTime, overhead: Mapping[Overhead, int], tasks: Mapping[Outcome, int], *, busy: int, slots_per_node: int
) -> dict[CostClass, int]:
    """Returns slot milliseconds by class, without zeros; their sum is that of all node time times the slots.

    `tasks` are slot milliseconds that tasks held, `busy` the milliseconds in which nodes ran any of them. A node that
    was seen running without a known task is `unattributed`. Tasks that ran for longer than their nodes were seen take
    from unwatched time. Their stamps may exceed that too, as clocks differ: then they share all of it, in proportion.
    """
    run = min(busy, nodes.able + nodes.unwatched)
    held = _scaled(tasks, at_most=run * slots_per_node)
    unseen = max(run - nodes.able, 0)
    seen = max(run - unseen, nodes.running)
    parts: dict[CostClass, int] = {
        **held,
        "idleSlots": run * slots_per_node - sum(held.values()),
        "unattributed": (seen - run + unseen) * slots_per_node,
        "idle": (nodes.able - seen) * slots_per_node,
        "unwatched": (nodes.unwatched - unseen) * slots_per_node,
        **{name: time * slots_per_node for name, time in overhead.items()},
    }
    return {name: units for name, units in parts.items() if units}


def amount(units: int, *, slots_per_node: int, hourly: Decimal) -> Decimal:
    """Returns the cost of slot milliseconds at the price of a node for an hour."""
    return hourly * units / (slots_per_node * HOUR)


def _scaled(tasks: Mapping[Outcome, int], *, at_most: int) -> dict[CostClass, int]:
    """Returns the parts unchanged where their sum isn't more, else reduced in proportion to exactly that sum."""
    found: dict[CostClass, int] = {}
    rest = sum(tasks.values())
    left = min(rest, at_most)
    for name, units in tasks.items():
        found[name] = left * units // rest if rest else 0
        rest, left = rest - units, left - found[name]
    return found
