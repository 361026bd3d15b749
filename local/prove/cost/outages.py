"""How many seconds of nodes nothing shows after an outage, by what the service listed after it.

A node that is in the same state since before an outage is watched, as its stamp says so. One that changed its state
without a boot is unwatched from the last sight to the stamp. Of all others only bounds are known here.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from local.prove.cost.day import NodeSight, Outage
from local.prove.cost.rig import Rig
from local.prove.cost.shown import Shown
from local.prove.cost.truth import Truth, hours_of
from local.prove.cost.usage import usage

_LONGEST = 180.0  # seconds between two sights that count as watched: three poll intervals
_CALM = frozenset(("ready", "offline"))
_STEADY = frozenset(("idle", "running", "offline"))
_CLOCK = 1.0  # seconds that the clock of a node is off at most


@dataclass(frozen=True, slots=True)
class Unseen:
    """Seconds of a pool's nodes in an outage: what must be unwatched at least and at most, and what is `shown`.

    `slack` are the errors of nodes' clocks. It `is_exact` where no node of the pool came, went or booted in the hours
    of the outage: elsewhere these hours may have other unwatched time, too.
    """

    pool: str
    since: datetime
    until: datetime
    least: float
    most: float
    slack: float
    shown: float
    is_exact: bool

    @property
    def is_right(self) -> bool:
        return self.least - self.slack <= self.shown and (not self.is_exact or self.shown <= self.most + self.slack)


def unseen(rig: Rig, outage: Outage, name: str, shown: Shown, truth: Truth) -> Iterator[Unseen]:
    """Yields the pools that had nodes in an outage, as an app of that name saw it."""
    since, until = outage.last[name], outage.first[name]
    after, states = outage.nodes[until], defaultdict[tuple[str, str], dict[str, float]](dict)
    for row in usage(rig, since, until)["nodes"]:
        states[row["pool"], row["node"]][row["state"]] = row["seconds"]
    hours = hours_of(since, until)
    restless = {line.pool for hour in hours for line in truth.nodes[hour] if line.billing_class not in _CALM}
    for pool in sorted({pool for pool, _ in states}):
        bounds = [_bounds(found, after.get(key), since, until) for key, found in states.items() if key[0] == pool]
        yield Unseen(
            pool,
            since,
            until,
            sum(low for low, _ in bounds),
            sum(high for _, high in bounds),
            _CLOCK * sum(high > 0 for _, high in bounds),
            shown.unwatched(pool, hours),
            is_exact=pool not in restless,
        )


def _bounds(states: dict[str, float], after: NodeSight | None, since: datetime, until: datetime) -> tuple[float, float]:
    """Returns the least and the most seconds of a node that nothing shows."""
    there, length = sum(states.values()), (until - since).total_seconds()
    if len(states) == 1 and there >= length - _CLOCK:
        return 0.0, 0.0
    if after is None or there < length - _CLOCK or not states.keys() <= _STEADY or (after.booted or since) > since:
        return 0.0, there
    unknown = (min(max(after.changed, since), until) - since).total_seconds()
    return (unknown, unknown) if unknown > _LONGEST else (0.0, 0.0)
