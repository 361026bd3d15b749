"""Samples of a pool's numbers.

A sample comes from one round, which found both the pool and its nodes. It never combines sizes of a later list of pools
with nodes of an earlier round. Interruptions are counters that only grow. So a step's number is the difference of two,
even if samples in between weren't kept.
"""

from typing import NamedTuple

import msgspec

from shared.domain.history.samples import Sample, SampleKind
from shared.domain.nodes.nodes import NodeCounts


class PoolNumbers(NamedTuple):
    """The numbers in a pool's history.

    `dedicated` and `spot` are current and target sizes. `cores` are all and busy ones, None while those of any machine
    are unknown. `interruptions` are all since `counted_since`, in milliseconds since 1970. `resize_errors` counts
    current ones.
    """

    counts: NodeCounts
    slots: int
    used: int
    free: int
    tasks: int
    dedicated: tuple[int, int | None]
    spot: tuple[int, int | None]
    cores: tuple[int, float] | None
    resize_errors: int
    interruptions: int
    counted_since: int


PoolSample = Sample[PoolNumbers]


def _interruptions_since(numbers: PoolNumbers, begun: int, earlier: PoolNumbers | None) -> int | None:
    """Returns the interruptions since `begun`; a counter that began later contains them all."""
    if numbers.counted_since > begun:
        return numbers.interruptions
    if earlier is None or earlier.counted_since != numbers.counted_since:
        return None
    return numbers.interruptions - earlier.interruptions


POOL_SAMPLES = SampleKind("pool", msgspec.json.Decoder(PoolSample).decode, _interruptions_since)
