"""A rule of conditions: a pure function over an account's evidence, and how long its findings must hold."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.findings.finding import Finding

type Subject = Literal["account", "jobs", "pools", "schedules", "usage"]
"""What a rule reads of an account: where that is stale, its conditions are unknown. The account's own never are."""


class Outcome(NamedTuple):
    """What a rule concludes of one resource: a finding or none, and from when on that may change without news.

    `at` is the time of an event, None for what lasts.
    """

    finding: Finding | None
    due: datetime | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ConditionRule:
    """A rule; its findings are pending for a time before they fire, and fire on for a time after they were last seen.

    Both times are named as in Prometheus' alerting rules, `for` and `keep_firing_for`. An event fires and is resolved
    at once.
    """

    name: str
    subject: Subject
    outcomes: Callable[[AccountEvidence], Iterator[Outcome]]
    pending_for: timedelta = timedelta()
    keep_firing_for: timedelta = timedelta()
    is_event: bool = False
