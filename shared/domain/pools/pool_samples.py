"""Samples of a pool's numbers, stored in slots like those of jobs (shared/domain/history/samples.py).

A sample comes from one round, which found both the pool and its nodes. It never combines sizes of a later list of pools
with nodes of an earlier round.
"""

from datetime import datetime
from typing import NamedTuple

import msgspec

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import NodeCounts

_UNSEEN = 180_000  # milliseconds between two polls within which equal numbers count as unchanged


class PoolNumbers(NamedTuple):
    """The numbers in a pool's history.

    `dedicated` and `spot` are current and target sizes. `cores` are all and busy ones, None where the VM size is
    unknown. `interruptions` are all since `counted_since`, in milliseconds since 1970. `resize_errors` counts current
    ones.
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


class PoolSample(NamedTuple):
    """Numbers that one round found and later ones confirmed; times are milliseconds since 1970.

    `at` is the T0 of the round that found them, `through` that of the last one that confirmed them. `exact` where the
    first round had no doubt about them.
    """

    at: int
    through: int
    exact: bool
    numbers: PoolNumbers

    def text(self) -> str:
        """Returns the stored form."""
        return _ENCODER.encode(self).decode()

    def held(self, as_of: datetime) -> "PoolSample":
        """Returns the sample after a later round confirmed it."""
        return self._replace(through=max(self.through, to_milliseconds(as_of)))

    def goes_on(self, later: "PoolSample", *, rested: bool) -> bool:
        """Returns whether a later sample only extends this one: it is equal, and near, or the pool `rested`.

        A pool rested where neither its facts nor any node changed, as numbers alone may change and change back.
        """
        is_near = later.at - self.through <= _UNSEEN
        return (is_near or rested) and (self.exact, self.numbers) == (later.exact, later.numbers)


_ENCODER, _DECODER = msgspec.json.Encoder(), msgspec.json.Decoder(PoolSample)


def pool_sample_of(text: str) -> PoolSample:
    """Returns the sample of a text by `PoolSample.text`."""
    return _DECODER.decode(text)
