"""Where things happen: time, plans, chance, knobs, and how nodes tell the service what they did.

What the service does bears its own time; what a node tells bears the node's clock, ahead or behind, and shows late
where `late_seconds` says so, though with the stamp of when it happened.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from local.batch_emulator.agenda import Agenda
from local.batch_emulator.clock import Clock
from local.batch_emulator.entities import Node, Pool
from local.batch_emulator.event_log import EventLog
from local.batch_emulator.ledger import Ledger, Numbered
from local.batch_emulator.settings import Knobs
from local.batch_emulator.stamps import as_node_tells, ticks


@dataclass(slots=True)
class Stage:
    clock: Clock
    agenda: Agenda
    knobs: Knobs
    ledger: Ledger
    chance: random.Random
    log: EventLog
    late_seconds: Callable[[], float] = field(default=lambda: 0.0)

    @property
    def now(self) -> int:
        return self.clock.now

    @property
    def lag(self) -> int:
        """How far Get Task Counts is behind, in ticks."""
        return ticks(self.knobs.countLagSeconds)

    @property
    def node_lag(self) -> int:
        """How far node counts are behind, in ticks."""
        return ticks(self.knobs.nodeCountLagSeconds)

    def recount(self, pool: Pool) -> None:
        """To be called before a node comes, goes or enters a state."""
        pool.counted.keep(pool.counts, now=self.now, lag=self.node_lag)

    def note(self, entity: Numbered, owner: Numbered) -> None:
        """To be called whenever an entity is new or was changed; `owner` is what it belongs to."""
        self.ledger.note(entity, owner)

    def node_now(self, node: Node) -> int:
        return as_node_tells(self.clock.now + ticks(node.bias * self.knobs.nodeClockSkewSeconds))

    def between(self, span: tuple[float, float], happening: Callable[[], None]) -> None:
        """Plans something for a seeded moment of a span, in seconds before the speed shortens them."""
        self.agenda.after(self.chance.uniform(*span), happening)

    def tell(self, node: Node, show: Callable[[int], None]) -> None:
        """A node reports what happens now; `show` makes it visible, with its stamp."""
        moment, late = self.node_now(node), self.late_seconds()
        if late:
            self.agenda.after_exactly(late, partial(show, moment))
        else:
            show(moment)
