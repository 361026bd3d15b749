"""Which sessions of which blobs hold a node's telemetry, by the index, as the blobs themselves confirm it."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from shared.domain.keys import key_of, partition_of
from shared.domain.telemetry.chunks import HOURS_A_DAY
from shared.domain.telemetry.labels import Identity
from shared.domain.telemetry.node_facts import NodeFacts
from shared.stores.node_index import Held, NodeIndex
from shared.stores.telemetry import TelemetryStore

_AT_ONCE = 16  # requests


@dataclass(frozen=True, slots=True)
class NodeSession:
    """A session that holds something of a day, whose it is, and what it told of its node."""

    held: Held
    whose: Identity
    facts: NodeFacts


class NodeSessions:
    def __init__(self, telemetry: TelemetryStore, index: NodeIndex) -> None:
        self._telemetry = telemetry
        self._index = index

    async def find(
        self, account_key: str, pool: str, node: str, hours: tuple[int, int]
    ) -> dict[str, Collection[NodeSession]]:
        """Those of hours since 1970, from the first to the last, by partition. Raises StorageError."""
        first, last = hours
        held = await self._index.load(account_key, node, first // HOURS_A_DAY, last // HOURS_A_DAY)
        by_incarnation: dict[str, list[Held]] = {}
        for one in held:
            by_incarnation.setdefault(one.incarnation, []).append(one)
        partitions = {partition_of(account_key, name): some for name, some in sorted(by_incarnation.items())}
        told = await some_at_once(self._telemetry.load_told, partitions)
        found = {partition: _sessions(some, told[partition], pool, node) for partition, some in partitions.items()}
        return {partition: sessions for partition, sessions in found.items() if sessions}


async def some_at_once[T](load: Callable[[str], Awaitable[T]], partitions: Collection[str]) -> dict[str, T]:
    """What is loaded of each partition, in their order."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def loaded(partition: str) -> T:
        async with gate:
            return await load(partition)

    return dict(zip(partitions, await asyncio.gather(*map(loaded, partitions)), strict=True))


def _sessions(
    held: Collection[Held], told: Mapping[int, tuple[Identity, NodeFacts]], pool: str, node: str
) -> Collection[NodeSession]:
    """Those of a blob that are the node's, as they tell it themselves."""
    known = [(one, *told[one.session]) for one in held if one.session in told]
    return [NodeSession(one, whose, facts) for one, whose, facts in known if _is_of(whose, pool, node)]


def _is_of(whose: Identity, pool: str, node: str) -> bool:
    """A session that doesn't tell its pool may be of any."""
    return key_of(whose.node) == key_of(node) and (not whose.pool or key_of(whose.pool) == key_of(pool))
