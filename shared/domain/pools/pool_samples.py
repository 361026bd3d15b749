"""Samples of a pool's numbers, which are kept and stand where those of jobs do (shared/domain/history/samples.py).

A sample is of one round, which found both the pool and its nodes: sizes of a later list of pools aren't mixed with
nodes of an earlier round.
"""

from datetime import datetime
from typing import NamedTuple

import msgspec

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import NodeCounts

_UNSEEN = 180_000  # milliseconds between two looks in which the same numbers are taken to have held


class PoolNumbers(NamedTuple):
    """What a history tells of a pool.

    `dedicated` and `spot` are current and target sizes; `cores` are all and busy ones, None where the VM size isn't
    known; `interruptions` are all since `counted_since`, in milliseconds since 1970; `resize_errors` are current ones.
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

    `at` is the T0 of the round that found them, `through` that of the last one that found them so; `exact` is how they
    were found.
    """

    at: int
    through: int
    exact: bool
    numbers: PoolNumbers

    def text(self) -> str:
        """As it is stored."""
        return _ENCODER.encode(self).decode()

    def held(self, as_of: datetime) -> "PoolSample":
        """As a later round found it."""
        return self._replace(through=max(self.through, to_milliseconds(as_of)))

    def goes_on(self, later: "PoolSample", *, rested: bool) -> bool:
        """True where a later one says the same of all the time since: it isn't much later, or the pool `rested`.

        That is where neither the pool nor any of its nodes is told otherwise: numbers may change and change back.
        """
        is_near = later.at - self.through <= _UNSEEN
        return (is_near or rested) and (self.exact, self.numbers) == (later.exact, later.numbers)


_ENCODER, _DECODER = msgspec.json.Encoder(), msgspec.json.Decoder(PoolSample)


def pool_sample_of(text: str) -> PoolSample:
    """The sample that `PoolSample.text` wrote."""
    return _DECODER.decode(text)
