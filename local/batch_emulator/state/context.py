"""The context of a simulation: time, events, random source, settings, and nodes' reports to the service.

Actions of the service have its own time. Reports of nodes have the node's clock, ahead or behind. They become visible
`late_seconds` later, but with the stamp of the event.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from local.batch_emulator.core.clock import Clock
from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.core.stamps import ticks, to_node_precision
from local.batch_emulator.entities import Node, Pool, Run
from local.batch_emulator.state.change_log import ChangeLog, NumberedEntity
from local.batch_emulator.state.event_log import EventLog
from local.batch_emulator.state.event_queue import EventQueue
from local.batch_emulator.state.start_up_log import StartUpLog
from local.batch_emulator.state.usage_log import Outcome, UsageLog


@dataclass(frozen=True, slots=True)
class NodeMoment:
    """The moment at which a node's files are read, in ticks by its clock, with the seed and the speed of their content.

    `active` is the same, but the start of a pause throughout it.
    """

    now: int
    active: int
    seed: str
    speed: float


@dataclass(slots=True)
class SimulationContext:
    clock: Clock
    event_queue: EventQueue
    settings: EmulatorSettings
    change_log: ChangeLog
    rng: random.Random
    log: EventLog
    usage: UsageLog
    late_seconds: Callable[[], float] = field(default=lambda: 0.0)
    start_ups: StartUpLog = field(default_factory=StartUpLog)
    seed: str = ""

    @property
    def now(self) -> int:
        return self.clock.now

    @property
    def lag(self) -> int:
        """The delay of Get Task Counts, in ticks."""
        return ticks(self.settings.countLagSeconds)

    @property
    def node_lag(self) -> int:
        """The delay of node counts, in ticks."""
        return ticks(self.settings.nodeCountLagSeconds)

    def record_node_counts(self, pool: Pool) -> None:
        """Stores the counts; called before a node is added, removed or changes its state."""
        pool.lagged_node_counts.record(pool.node_counts, now=self.now, lag=self.node_lag)

    def change_node_state(self, node: Node, state: str, *, reported: int | None = None) -> None:
        """Moves a node to a state: now, or at the moment of the node's clock that it `reported`."""
        now = self.now
        self.record_node_counts(node.pool)
        moment = max(node.entered, now if reported is None else self._service_time(node, reported))
        self.usage.end_state(node, moment)
        node.state, node.entered, node.changed = state, moment, now if reported is None else reported
        self.mark_changed(node, node.pool)

    def end_run(self, run: Run, outcome: Outcome, *, reported: int | None = None) -> None:
        """Ends a run in the usage log: now, or at the moment of its node's clock that the node `reported`."""
        moment = self.now if reported is None else self._service_time(run.node, reported)
        self.usage.end_run(run, outcome, max(run.assigned, run.begun, moment))

    def mark_changed(self, entity: NumberedEntity, owner: NumberedEntity) -> None:
        """Marks a new or changed entity with its owner."""
        self.change_log.mark_changed(entity, owner)

    def node_now(self, node: Node) -> int:
        return self._node_time(node, self.clock.now)

    def moment_of(self, node: Node) -> NodeMoment:
        """Returns the moment at which a node's files are read now."""
        active = self._node_time(node, self.clock.latest_active)
        return NodeMoment(self.node_now(node), active, self.seed, self.event_queue.speed)

    def same_moment(self, node: Node, reporter: Node, moment: int) -> int:
        """Returns a moment of one node's clock by another's."""
        return moment if node is reporter else self._node_time(node, self._service_time(reporter, moment))

    def _node_time(self, node: Node, moment: int) -> int:
        return to_node_precision(moment + ticks(node.bias * self.settings.nodeClockSkewSeconds))

    def _service_time(self, node: Node, moment: int) -> int:
        """Returns a moment of a node's clock by the service's; nodes' stamps have a lower precision."""
        if moment == self.node_now(node):
            return self.now
        return min(moment - ticks(node.bias * self.settings.nodeClockSkewSeconds), self.now)

    def between(self, span: tuple[float, float], event: Callable[[], None]) -> None:
        """Plans an event at a seeded moment of a span, in seconds before the speed shortens them."""
        self.event_queue.after(self.rng.uniform(*span), event)

    def report(self, node: Node, show: Callable[[int], None]) -> None:
        """Reports a node's event; `show` makes it visible, with its stamp."""
        moment, late = self.node_now(node), self.late_seconds()
        if late:
            self.event_queue.after_exactly(late, partial(show, moment))
        else:
            show(moment)
