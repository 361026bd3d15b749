"""What a round over pools has found so far, and what its row is told of it at the end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.nodes.nodes import NodeCounts
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.pools.pools import Pool
from shared.errors import BatchAnswerError, BatchscopeError, BatchThrottledError
from shared.stores.pools.nodes import NodesWrite
from shared.stores.pools.pools import KnownPools


@dataclass(slots=True)
class PoolsUnderWay:
    """Keys are pool keys. `goes_on` is asked before each pool: False when time is up, or the service throttles.

    `deadline` is when time will be up, in loop time, where that is known.
    `pools` are those there are, as they are known now, `told` those of them that the list showed, or a GET; `nonsense`
    says of others why what the list told of them makes no sense; `stored` is what storage holds of pools for sure;
    `reached` are those whose poll ended, well or not, `overtaken` those that another process wrote first; `writes` are
    what is to be written of nodes; `date` is that of the list of pools; `counts` are the service's node counts, and
    `all_counted` says that pools which aren't among them have none.
    """

    started: datetime
    known: KnownPools
    goes_on: Callable[[], bool]
    deadline: float | None = None
    date: datetime | None = None
    counts: dict[str, NodeCounts] = field(default_factory=dict)
    all_counted: bool = True
    pools: dict[str, Pool] = field(init=False)
    stored: dict[str, Pool] = field(init=False)
    told: set[str] = field(default_factory=set)
    nonsense: Mapping[str, str] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    failures: dict[str, str] = field(default_factory=dict)
    writes: dict[str, NodesWrite] = field(default_factory=dict)
    overtaken: set[str] = field(default_factory=set)
    throttled: BatchThrottledError | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        self.pools, self.stored = dict(self.known.pools), dict(self.known.pools)

    def t0(self) -> datetime:
        """The date of the list of pools, which every read after it is as of. Raises BatchAnswerError before that."""
        if self.date is None:
            raise BatchAnswerError("The pools weren't listed.")
        return self.date

    def there(self) -> list[Pool]:
        """Those that are there for sure, as they are known now."""
        return [pool for key, pool in self.pools.items() if key in self.told]

    def counts_of(self, pool: Pool) -> NodeCounts | None:
        """The service's node counts of a pool, None where they aren't known."""
        return self.counts.get(pool.key, () if self.all_counted else None)

    def may_go_on(self) -> bool:
        return self.throttled is None and self.goes_on()

    def is_stored(self, pool: Pool) -> bool:
        """True where a pool's row says all that is known of it, but for as of when."""
        before = self.known.pools.get(pool.key)
        return before is not None and before.etag == pool.etag and before.told == pool.told

    def has_changed(self, key: str) -> bool:
        return key in self.pools and not self.is_stored(self.pools[key])

    def is_older(self, last: PoolRound | None, key: str) -> bool:
        """True where `last`, stored meanwhile, knows a pool as of later than this round's own list.

        A pool that is new to this round and isn't confirmed there may be deleted by now.
        """
        if last is None or self.date is None:
            return False
        if key not in self.known.pools.keys() | self.known.unreadable.keys():
            return last.as_of is not None and last.as_of > self.date
        confirmation = last.confirmations.get(key)
        return confirmation is not None and confirmation.as_of > self.date

    def forget(self, key: str) -> None:
        """After a pool turned out to be gone."""
        self.pools.pop(key, None)
        self.stored.pop(key, None)

    def fail(self, error: BatchscopeError) -> None:
        """After something failed that concerns all pools that haven't been reached."""
        self.reason = str(error)
        self.throttled = error if isinstance(error, BatchThrottledError) else self.throttled

    def as_round(self, calls: int) -> PoolRound:
        """As its row is to hold it: of a pool that it didn't reach, what the last one said of that stays."""
        last = self.known.last
        told = {key: pool.confirmation() for key, pool in self.stored.items()}
        there = self.pools.keys() | self.known.unreadable.keys() | self.nonsense.keys()
        before = {key: why for key, why in (last.failures if last else {}).items() if key not in self.reached}
        return PoolRound(
            started_at=self.started,
            as_of=self.date,
            reason=self.reason,
            batch_calls=calls,
            confirmations={key: confirmation for key, confirmation in told.items() if confirmation},
            failures={key: why for key, why in {**before, **self.failures, **self.nonsense}.items() if key in there},
            etag=last.etag if last else None,
        )
