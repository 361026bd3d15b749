"""How the minutes of blobs change the blocks of pools."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from shared.domain.telemetry.pools.blocks import MINUTES, BlockChange, PackedPart, PoolBlock
from shared.domain.telemetry.pools.node_minutes import Minutes
from shared.domain.telemetry.pools.node_totals import NodeMinute

type BlockKey = tuple[str, int]
"""A pool's key and the number of a block."""
type Parts = Mapping[int, PackedPart]
"""The parts of a block, by number."""

_EMPTY = PackedPart(b"", {}, {})


def changes_of(blob: str, values: Minutes, pools: Collection[str]) -> Iterator[tuple[BlockKey, BlockChange]]:
    """Yields the changes by which a blob's minutes replace those before, in the blocks of its `pools` and nodes."""
    by_block: dict[int, dict[int, Mapping[tuple[str, str], NodeMinute]]] = defaultdict(dict)
    for minute, nodes in values.items():
        by_block[minute // MINUTES][minute] = nodes
    for number, minutes in by_block.items():
        for pool in {*pools, *(pool for nodes in minutes.values() for pool, _ in nodes)}:
            found: dict[str, dict[int, NodeMinute]] = defaultdict(dict)
            for minute, nodes in minutes.items():
                for (own, node), one in nodes.items():
                    if own == pool:
                        found[node][minute] = one
            yield (pool, number), BlockChange(blob, minutes.keys(), found)


def changed(
    blocks: Mapping[BlockKey, Parts], changes: Mapping[BlockKey, Sequence[BlockChange]]
) -> dict[BlockKey, dict[int, PackedPart]]:
    """Returns blocks after their changes: parts with values, and those that have none any more."""
    found = {}
    for key, some in changes.items():
        before = blocks.get(key, {})
        block = PoolBlock.unpacked(key[1], before.values())
        for change in some:
            block.replace(change)
        found[key] = {**dict.fromkeys(before, _EMPTY), **block.packed()}
    return found


def latest_of(blocks: Mapping[BlockKey, Parts], most: int) -> dict[BlockKey, Parts]:
    """Returns the last blocks of each pool."""
    by_pool: dict[str, list[int]] = defaultdict(list)
    for pool, number in blocks:
        by_pool[pool].append(number)
    kept = {(pool, number) for pool, numbers in by_pool.items() for number in sorted(numbers)[-most:]}
    return {key: parts for key, parts in blocks.items() if key in kept}
