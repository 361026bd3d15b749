"""Counters of tasks: those that a host shows, that they never fall, and their comparison with the emulator's.

On the pool of the counted job they are equal at rest. On others, tasks come and go between two polls, so they have at
most the emulator's. Those of an account are the sum.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from local.prove.exact.counted_job import COUNTED_POOL
from local.prove.stack.api import Stack

NAMES = ("started", "completed", "failed", "retried")
type Counters = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ShownCounters:
    """The counters of an account, and of its pools by id."""

    account: Counters
    pools: Mapping[str, Counters]


def read_counters(stack: Stack) -> ShownCounters:
    """Returns a host's counters. Raises the errors of a call."""
    account = stack.get(f"/accounts/{stack.account}")["taskCounters"]
    return ShownCounters(account, {name: pool["taskCounters"] for name, pool in stack.pools().items()})


@dataclass(slots=True)
class HighestCounters:
    """The last counters of each host, which may repeat an answer for a second, and of accounts those of all hosts."""

    _seen: dict[tuple[str, str], Counters] = field(default_factory=dict)

    def falls(self, host: str, shown: ShownCounters) -> list[str]:
        """Returns a sentence for each counter of the account or the counted pool that is less than before."""
        found = []
        counted = {pool: counters for pool, counters in shown.pools.items() if pool == COUNTED_POOL}
        for name, counters in {"the account": shown.account, **counted}.items():
            before = self._seen.get((host, name), counters)
            found += [
                f"{one} of {name} was {before[one]}, and is {counters[one]}"
                for one in NAMES
                if counters[one] < before[one]
            ]
            self._seen[host, name] = counters
        return found


def counter_differences(shown: ShownCounters, truth: Mapping[str, Counters]) -> tuple[str, ...]:
    """Returns a sentence for each counter that isn't the emulator's at rest; `truth` is by pool, in lower case."""
    ours, theirs = shown.pools.get(COUNTED_POOL, {}), truth.get(COUNTED_POOL, {})
    found = [
        f"{name} of the pool {COUNTED_POOL} is {ours.get(name, 0)}, in truth {theirs.get(name, 0)}"
        for name in NAMES
        if ours.get(name, 0) != theirs.get(name, 0)
    ]
    sums = {name: sum(counters.get(name, 0) for counters in truth.values()) for name in NAMES}
    found += [
        f"{name} of the account is {shown.account[name]}, and in truth only {sums[name]}"
        for name in NAMES
        if shown.account[name] > sums[name]
    ]
    return tuple(found)
