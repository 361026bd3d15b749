"""Changes of conditions as events: the history of conditions."""

from shared.domain.conditions.condition import Condition
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.condition_events import FIRING, RESOLVED, SENTENCE, TITLE, condition_event


def events_of(change: Condition) -> list[BatchEvent]:
    """Returns the events of a change: that of firing, of being resolved, or both of a condition that is an event."""
    found = []
    if change.fired_at and (change.state == "firing" or change.key.at):
        found.append(_event(change, FIRING))
    if change.resolved_at and not change.key.at:
        found.append(_event(change, RESOLVED))
    return found


def _event(change: Condition, kind: str) -> BatchEvent:
    finding, at = change.finding, (change.fired_at if kind == FIRING else change.resolved_at) or change.since
    properties = {
        "rule": finding.rule,
        "severity": finding.severity,
        "since": change.since.isoformat(),
        TITLE: finding.title,
        SENTENCE: finding.sentence,
        "advice": finding.advice,
    }
    scope = finding.scope
    return condition_event(kind, at, (scope.kind, scope.pool, scope.id), list(change.key), properties)
