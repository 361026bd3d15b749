"""A condition: a finding that holds over time, with its state and key."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.findings.finding import Finding

type ConditionState = Literal["pending", "firing", "resolved"]
type OpenCounts = Mapping[tuple[str, str], int]
"""Numbers of open conditions by rule and state, zeros included."""


class ConditionKey(NamedTuple):
    """What a condition is about: the same key is the same condition. `pool` is that of a node, else empty.

    `at` is the time of an event in milliseconds since 1970, 0 for what lasts.
    """

    rule: str
    kind: str
    pool: str
    id: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class Condition:
    """A finding `since` it began to hold; `gone_since` is when it was first found not to hold any more.

    `unknown` is why it can't be judged at present, None while it can. `is_old` is true where it already held when the
    account was first evaluated: then it is no news.
    """

    key: ConditionKey
    finding: Finding
    state: ConditionState
    since: datetime
    gone_since: datetime | None = None
    fired_at: datetime | None = None
    resolved_at: datetime | None = None
    unknown: str | None = None
    is_old: bool = False


def key_of_finding(finding: Finding, at: int = 0) -> ConditionKey:
    """Returns the key of a finding, whose ids are case-insensitive."""
    scope = finding.scope
    return ConditionKey(finding.rule, scope.kind, key_of(scope.pool) if scope.pool else "", key_of(scope.id), at)
