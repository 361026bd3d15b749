"""A counter of a group of processes that only grows, loses nothing it has seen and counts nothing twice.

The kernel adds an ended child's use to its parent's reading when the parent waits for it, and drops it when nobody
in the group does: when init or a launcher outside waits, or when the parent ignores SIGCHLD. A sample doesn't show
which of the two happened. So the counter compares how much the readings of waiters grew with the use of the ended
processes at their last reading, and keeps the larger of both. The true value is never smaller than either.

The counter misses at most the use of processes after they were last read, in the interval in which they ended
without being waited for by a member. It is zero for all that members wait for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

NOBODY, UNKNOWN = 0, -1


class EndedProcess(NamedTuple):
    """A process of the group that ended since the last update.

    `waiter` is the pid of the living member that was its parent, NOBODY where its parent is no member, UNKNOWN where
    its parent ended, too. `at_least` is its use at the end, where that is known better than from its last reading.
    """

    pid: int
    waiter: int
    at_least: int = 0


class CumulativeCounter:
    """Sums one quantity over a group of processes; `rounding` is the largest rounding error of a reading."""

    def __init__(self, rounding: int = 0) -> None:
        self.total = 0
        self.is_uncertain = False
        """Whether, in the last update, a member's child ended for which nobody seems to have waited."""
        self._rounding = rounding
        self._retained = 0
        self._last: dict[int, tuple[int, int]] = {}
        self._claims: dict[int, int] = {}  # by waiter, the use that an ended one may have added after it was last read
        self._pool_claim = 0  # the same for waiters that are unknown

    def update(
        self, live: Mapping[int, tuple[int, int]], ended: Iterable[EndedProcess] = (), foreign: Mapping[int, int] = {}
    ) -> int:
        """Returns the new total.

        `live` are the readings of living members: all that a process used and its ended children added, and a part of
        it that includes all that they added. `foreign` is, by waiter, the last reading of ended children that don't
        belong to the group.
        """
        expected = self._taken(ended)
        pool, self.is_uncertain = expected.pop(UNKNOWN, 0), False
        self._retained += expected.pop(NOBODY, 0)
        pool_claim = self._orphaned_claims() + self._pool_claim
        spare = self._spare(live, expected, foreign)
        self._pool_claim = self._settled(spare - pool, pool_claim)[1]
        self._last = dict(live)
        self.total = max(self.total, self._retained + sum(total for total, _ in live.values()))
        return self.total

    def _taken(self, ended: Iterable[EndedProcess]) -> dict[int, int]:
        """Removes ended processes; returns by waiter how much its reading must have grown if it waited for them."""
        expected: dict[int, int] = defaultdict(int)
        for one in ended:
            expected[one.waiter] += max(self._last.pop(one.pid, (0, 0))[0], one.at_least)
        return expected

    def _orphaned_claims(self) -> int:
        """Removes and returns the claims on waiters that ended themselves."""
        return sum(self._claims.pop(pid) for pid in list(self._claims) if pid not in self._last)

    def _spare(
        self, live: Mapping[int, tuple[int, int]], expected: Mapping[int, int], foreign: Mapping[int, int]
    ) -> int:
        """Settles each waiter; returns by how much their readings grew beyond the use of their own children."""
        spare, claims = 0, {}
        for pid, (_, waited) in live.items():
            grown = max(waited - self._last.get(pid, (0, 0))[1], 0)
            if grown or pid in expected or pid in self._claims:
                strange = min(grown, foreign.get(pid, 0))
                self._retained -= strange
                rest, claim = self._settled(grown - strange - expected.get(pid, 0), self._claims.get(pid, 0))
                spare += rest
                if claim:
                    claims[pid] = claim
        self._claims = claims
        return spare

    def _settled(self, surplus: int, claim: int) -> tuple[int, int]:
        """Retains missing use, or gives back claimed use; returns the rest and the next claim.

        A claim lives for one update, as a pass over the processes may read a waiter before and its child after the
        child ended. Only rounding errors live longer.
        """
        if surplus >= 0:
            back = min(surplus, claim)
            self._retained -= back
            return surplus - back, min(claim - back, self._rounding)
        self._retained -= surplus
        self.is_uncertain = self.is_uncertain or -surplus > self._rounding
        return 0, min(claim, self._rounding) - surplus
