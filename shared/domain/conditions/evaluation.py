"""Evaluates rules: which conditions are pending, fire, or are resolved, and when that may change without news.

Without news of its account a finding holds on. Time in which nobody could judge counts neither towards firing nor
towards being resolved: while a condition is unknown, as its subject is stale, and while an evaluation is overdue. So a
gap in polling, a restart or a pause raises and ends nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.domain.conditions.condition import Condition, ConditionKey, key_of_finding
from shared.domain.conditions.rule import ConditionRule, Outcome
from shared.domain.core.stamps import to_milliseconds
from shared.domain.findings.thresholds import EVENT_IS_NEWS

OVERDUE = timedelta(minutes=3)
"""How late an evaluation may be; beyond that, nobody judged since it was due."""
RETRY = timedelta(minutes=1)
"""After which an unknown condition is evaluated again."""
MAX_OF_RULE = 100
"""Conditions of one rule and account."""


@dataclass(frozen=True, slots=True)
class AccountConditions:
    """The open conditions of an account by key, and events of the last hour, after an evaluation `at` a time.

    `changes` are conditions that began to fire or were resolved with it, events included. `left_out` has numbers of
    findings by rule that were too many. `due` is when the next evaluation may differ without news, None for never.
    """

    at: datetime
    conditions: Mapping[ConditionKey, Condition] = field(default_factory=dict)
    events: Mapping[ConditionKey, datetime] = field(default_factory=dict)
    changes: Sequence[Condition] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    due: datetime | None = None


type Unknown = Callable[[ConditionRule, ConditionKey], str | None]
"""Returns why a rule can't judge what a key is about, None where it can."""


def evaluated(
    before: AccountConditions | None, outcomes: Iterable[tuple[ConditionRule, Sequence[Outcome]]], unknown: Unknown,
    now: datetime,
) -> AccountConditions:  # fmt: skip
    """Returns the evaluation after one before it, None for the first of an account."""
    conditions, events, changes = dict[ConditionKey, Condition](), dict[ConditionKey, datetime](), list[Condition]()
    left_out, dues = dict[str, int](), list[datetime]()
    for rule, found in outcomes:
        dues += [outcome.due for outcome in found if outcome.due]
        if rule.is_event:
            fresh = _events(before, found, now)
            events |= {one.key: one.since for one in fresh}
            changes += [one for one in fresh if not one.is_old and before and one.key not in before.events]
            continue
        some = _kept(before, found)
        left_out |= {rule.name: dropped} if (dropped := sum(1 for one in found if one.finding) - len(some)) else {}
        for one in _conditions(before, rule, some, unknown, now):
            if one.state != "resolved":
                conditions[one.key] = one
            dues += [due] if (due := _due(rule, one, now)) else []
            changes += _changes(before, one)
    return AccountConditions(now, conditions, events, tuple(changes), left_out, min(dues, default=None))


def _kept(before: AccountConditions | None, found: Sequence[Outcome]) -> dict[ConditionKey, Outcome]:
    """Returns the outcomes with findings by key: all that are known, and others up to the bound in their order."""
    known = before.conditions if before else {}
    keyed = {key_of_finding(one.finding): one for one in found if one.finding}
    first = sorted(keyed, key=lambda key: key not in known)[:MAX_OF_RULE]
    return {key: keyed[key] for key in first}


def _conditions(
    before: AccountConditions | None, rule: ConditionRule, found: Mapping[ConditionKey, Outcome], unknown: Unknown,
    now: datetime,
) -> Iterator[Condition]:  # fmt: skip
    known = {key: one for key, one in before.conditions.items() if key.rule == rule.name} if before else {}
    for key in dict.fromkeys((*known, *found)):
        one, outcome, why = known.get(key), found.get(key), unknown(rule, key)
        if before and one:
            one = _delayed(one, _unjudged(before, one, now))
        if why:
            if one:
                yield replace(one, unknown=why)
        elif outcome and outcome.finding:
            began = one or Condition(key, outcome.finding, "pending", now, is_old=before is None)
            yield _held(rule, replace(began, finding=outcome.finding, gone_since=None, unknown=None), now)
        elif one:
            yield _gone(rule, replace(one, gone_since=one.gone_since or now, unknown=None), now)


def _unjudged(before: AccountConditions, one: Condition, now: datetime) -> timedelta:
    """Returns how long before now a condition couldn't be judged."""
    if one.unknown:
        return now - before.at
    return now - before.due if before.due and now > before.due + OVERDUE else timedelta()


def _delayed(one: Condition, time: timedelta) -> Condition:
    """Returns a condition for which a time doesn't count."""
    since = one.since + time if one.state == "pending" else one.since
    return replace(one, since=since, gone_since=one.gone_since and one.gone_since + time) if time else one


def _held(rule: ConditionRule, one: Condition, now: datetime) -> Condition:
    if one.state == "pending" and (one.is_old or now - one.since >= rule.pending_for):
        return replace(one, state="firing", fired_at=now)
    return one


def _gone(rule: ConditionRule, one: Condition, now: datetime) -> Condition:
    """Returns a condition whose finding doesn't hold any more; a pending one is dropped as resolved."""
    gone = one.gone_since or now
    if one.state == "pending" or now - gone >= rule.keep_firing_for:
        return replace(one, state="resolved", resolved_at=now)
    return one


def _due(rule: ConditionRule, one: Condition, now: datetime) -> datetime | None:
    """Returns when a condition changes if its finding goes on as it is, None for never."""
    if one.unknown:
        return now + RETRY
    if one.state == "pending":
        return one.since + rule.pending_for
    return one.gone_since + rule.keep_firing_for if one.state == "firing" and one.gone_since else None


def _changes(before: AccountConditions | None, one: Condition) -> list[Condition]:
    """Returns the condition if it began to fire, or was resolved after it had fired, and is no old one."""
    known = before.conditions.get(one.key) if before else None
    was_firing = known is not None and known.state == "firing"
    is_news = one.state == "firing" and not was_firing and not one.is_old
    return [one] if is_news or (one.state == "resolved" and was_firing) else []


def _events(before: AccountConditions | None, found: Sequence[Outcome], now: datetime) -> list[Condition]:
    """Returns events of the last hour as resolved conditions; `is_old` before the first evaluation."""
    events = list[Condition]()
    for one in found:
        if one.finding and one.at and timedelta() <= now - one.at < EVENT_IS_NEWS:
            key = key_of_finding(one.finding, to_milliseconds(one.at))
            events.append(Condition(key, one.finding, "resolved", one.at, one.at, one.at, one.at, is_old=not before))
    return events
