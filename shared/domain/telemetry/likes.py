"""What is told once of records that are alike, whichever blobs they stand in: nodes of a pool are much alike.

It is all of what they are like, so nothing of it is ever out of date.
"""

from dataclasses import dataclass

from shared.domain.telemetry.labels import Identity
from shared.domain.telemetry.metrics import Metric
from shared.domain.telemetry.once_records import identity_of_tags, is_once, named
from shared.domain.telemetry.plans import Plan, plan_of

MOST_LIKES = 4096
_LONGEST = 2048  # characters of tags that are worth remembering


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """The plan for records, the node or host that their tags name, and whether they are of those told once."""

    plan: Plan
    node: str
    identity: Identity
    is_once: bool


class Likes:
    """Remembers as many as a process may care to; shared by those who read blobs side by side."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Alike] = {}

    def of(self, like: tuple[object, ...], metric: Metric) -> Alike:
        """May be asked by several threads: at worst each of them tells the same."""
        known = self._known.get(like)
        if known is None:
            known = _told(metric)
            if is_worth_remembering(metric):
                if len(self._known) >= MOST_LIKES:
                    self._known.clear()
                self._known[like] = known
        return known


def is_worth_remembering(metric: Metric) -> bool:
    return sum(map(len, metric.tags.values())) <= _LONGEST


def _told(metric: Metric) -> Alike:
    tags = metric.tags
    identity = identity_of_tags(tags)
    return Alike(plan_of(metric), identity.node or named(tags.get("host", "")), identity, is_once(metric))
