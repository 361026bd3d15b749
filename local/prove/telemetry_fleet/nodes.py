"""The nodes of the proof: what each writes and when, and which minutes follow from it."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from azure.storage.blob.aio import ContainerClient

DISKS, INTERVAL = 13, 5
"""Disks of a node, each measured every so many seconds: 312 lines in two minutes."""
FLUSH = 120
"""Seconds of measurements in a flush."""
_WRITERS = 16
type Minutes = Mapping[tuple[str, int], tuple[int, float, float, float]]
"""Count, minimum, maximum and sum by path of a disk and minute since 1970."""


def blob_of(node: int) -> str:
    return f"accounts/demo/pools/fleet/nodes/{name_of(node)}/disks.0.lines"


def name_of(node: int) -> str:
    return f"tvm-{node:05}"


@dataclass(slots=True)
class Nodes:
    """Nodes that flush in turn, evenly over an interval; their measurements begin at `begin`, a whole minute."""

    container: ContainerClient
    number: int
    begin: int
    written: list[list[tuple[float, int]]] = field(init=False)
    """For each node its flushes: when it was appended, in monotonic seconds, and where it ends in the blob."""
    slowest: float = 0.0

    def __post_init__(self) -> None:
        self.written = [[] for _ in range(self.number)]

    async def create(self) -> None:
        await self._each(self._create)

    async def flush(self, seconds: float) -> None:
        """Appends a flush of each node, spread over `seconds`; takes longer if storage does."""
        began = time.monotonic()

        async def append(node: int) -> None:
            await asyncio.sleep(max(began + seconds * node / self.number - time.monotonic(), 0))
            content = flush_of(node, self.begin, len(self.written[node]))
            end = (self.written[node][-1][1] if self.written[node] else 0) + len(content)
            await self.container.get_blob_client(blob_of(node)).append_block(content)
            self.written[node].append((time.monotonic(), end))

        await self._each(append)
        await asyncio.sleep(max(began + seconds - time.monotonic(), 0))
        self.slowest = max(self.slowest, time.monotonic() - began)

    def lag(self, read: Mapping[str, int], now: float) -> float:
        """Returns the age of the oldest flush that isn't stored, by the bytes read of each blob; 0 without one."""
        unread = [
            at for node, flushes in enumerate(self.written) for at, end in flushes if end > read.get(blob_of(node), 0)
        ]
        return now - min(unread, default=now)

    async def _create(self, node: int) -> None:
        await self.container.get_blob_client(blob_of(node)).create_append_blob()

    async def _each(self, work: object) -> None:
        nodes = iter(range(self.number))

        async def some() -> None:
            for node in nodes:
                await work(node)  # type: ignore[operator]

        await asyncio.gather(*(some() for _ in range(_WRITERS)))


def flush_of(node: int, begin: int, flush: int) -> bytes:
    """Returns two minutes of line protocol."""
    first = flush * FLUSH
    return "".join(
        f"disk,path=/m{disk} used={_value(node, disk, second)}i {begin + second}000000000\n"
        for second in range(first, first + FLUSH, INTERVAL)
        for disk in range(DISKS)
    ).encode()


def minutes_of(node: int, begin: int, flushes: int) -> Minutes:
    """Returns the minutes of all series that a node's flushes make."""
    values: dict[tuple[str, int], list[float]] = defaultdict(list)
    for second in range(0, flushes * FLUSH, INTERVAL):
        for disk in range(DISKS):
            values[f"/m{disk}", (begin + second) // 60].append(float(_value(node, disk, second)))
    return {key: summary(some) for key, some in values.items()}


def summary(values: Sequence[float]) -> tuple[int, float, float, float]:
    return len(values), min(values), max(values), sum(values)


def _value(node: int, disk: int, second: int) -> int:
    return (node * 7919 + disk * 104_729 + second * 31) % 1_000_003
