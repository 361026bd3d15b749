"""The results of a running round over pools, and its final row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.nodes.nodes import NodeCounts
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.pools.pools import Pool
from shared.errors import BatchAnswerError
from shared.services.pools.pool_usage import PoolUsage
from shared.services.pools.start_up_records import SeenNodes
from shared.services.round.resource_state import ResourceRoundState
from shared.stores.pools.nodes import NodesTransaction
from shared.stores.pools.pools import KnownPools


@dataclass(slots=True)
class PoolsRoundState(ResourceRoundState):
    """The state of a running round over pools; keys are pool keys.

    `has_time` is called before each pool and returns False when time is up or the service throttles. `deadline` is
    that time, in loop time, if known. `usage` moves usage ledgers on. `pools` are the known pools, `shown` those of
    them that the list or a GET showed; `nonsense` explains invalid list entries of others. `stored` is the certain
    content of storage; `reached` are pools whose poll ended, even with an error, `overtaken` those that another process
    wrote first. `writes` are pending writes of nodes, `start_ups` what their lists moved on; `date` is the pool list's.
    `counts` are the service's node counts, and with `all_counted` pools without counts have no nodes.
    """

    started: datetime
    known: KnownPools
    usage: PoolUsage
    has_time: Callable[[], bool]
    deadline: float | None = None
    date: datetime | None = None
    counts: dict[str, NodeCounts] = field(default_factory=dict)
    all_counted: bool = True
    pools: dict[str, Pool] = field(init=False)
    stored: dict[str, Pool] = field(init=False)
    shown: set[str] = field(default_factory=set)
    nonsense: Mapping[str, str] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    writes: dict[str, NodesTransaction] = field(default_factory=dict)
    start_ups: dict[str, SeenNodes] = field(default_factory=dict)
    overtaken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.pools, self.stored = dict(self.known.resources), dict(self.known.resources)

    def t0(self) -> datetime:
        """Returns the date of the pool list, as of which all later reads are.

        Raises BatchAnswerError before the list.
        """
        if self.date is None:
            raise BatchAnswerError("The pools weren't listed.")
        return self.date

    def existing(self) -> list[Pool]:
        """Returns the pools that certainly exist."""
        return [pool for key, pool in self.pools.items() if key in self.shown]

    def counts_of(self, pool: Pool) -> NodeCounts | None:
        """Returns the service's node counts of a pool, None if they are unknown."""
        return self.counts.get(pool.key, () if self.all_counted else None)

    def may_continue(self) -> bool:
        return self.throttled is None and self.has_time()

    def is_stored(self, pool: Pool) -> bool:
        """Returns whether a pool's row holds its known state, except for the date."""
        before = self.known.resources.get(pool.key)
        return before is not None and before.etag == pool.etag and before.content == pool.content

    def has_changed(self, key: str) -> bool:
        return key in self.pools and not self.is_stored(self.pools[key])

    def is_older(self, last: PoolRound | None, key: str) -> bool:
        """Returns whether `last`, stored meanwhile, has a later date for a pool than this round's own list.

        A pool that is new to this round and unconfirmed there may be deleted by now.
        """
        if last is None or self.date is None:
            return False
        if key not in self.known.resources.keys() | self.known.unreadable.keys():
            return last.as_of is not None and last.as_of > self.date
        confirmation = last.confirmations.get(key)
        return confirmation is not None and confirmation.as_of > self.date

    def forget(self, key: str) -> None:
        """Removes a deleted pool."""
        self.pools.pop(key, None)
        self.stored.pop(key, None)

    def as_round(self, calls: int) -> PoolRound:
        """Returns the round's row, which keeps the last round's failures of pools that this one didn't reach."""
        last = self.known.last
        found = {key: pool.confirmation() for key, pool in self.stored.items()}
        stored = self.pools.keys() | self.known.unreadable.keys() | self.nonsense.keys()
        before = {key: why for key, why in (last.failures if last else {}).items() if key not in self.reached}
        return PoolRound(
            started_at=self.started,
            as_of=self.date,
            reason=self.reason,
            batch_calls=calls,
            confirmations={key: confirmation for key, confirmation in found.items() if confirmation},
            failures={key: why for key, why in {**before, **self.failures, **self.nonsense}.items() if key in stored},
            etag=last.etag if last else None,
        )
