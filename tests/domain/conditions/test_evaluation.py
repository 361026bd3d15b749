"""Conditions over time: each fires once and is resolved once, and time in which nobody could judge doesn't count."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conditions.condition import Condition, ConditionKey
from shared.domain.conditions.evaluation import MAX_OF_RULE, OVERDUE, RETRY, AccountConditions, evaluated
from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import ConditionRule, Outcome
from shared.domain.findings.finding import Finding, Scope
from shared.domain.findings.thresholds import EVENT_IS_NEWS

T0 = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
FOR, KEEP = 5 * MINUTE, 3 * MINUTE


def _none(_: AccountEvidence) -> Iterator[Outcome]:
    return iter(())


SLOW = ConditionRule("jobStuck", "jobs", _none, FOR, KEEP)
NOW = ConditionRule("resizeFailed", "pools", _none)
EVENT = ConditionRule("jobFinished", "jobs", _none, is_event=True)


def finding(rule: ConditionRule, name: str = "a", sentence: str = "s") -> Finding:
    return Finding(rule.name, Scope("job", name), "limiting", "t", sentence, "a")


def known(_: ConditionRule, __: ConditionKey) -> None:
    return None


def run(
    rule: ConditionRule, holds: Sequence[bool | None], step: timedelta = MINUTE, *, begun: bool = True
) -> list[AccountConditions]:
    """Evaluates at each step whether a finding holds; None: that can't be judged."""
    before = evaluated(None, [(rule, [])], known, T0 - step) if begun else None
    found = list[AccountConditions]()
    for at, is_held in enumerate(holds):
        outcomes = [Outcome(finding(rule))] if is_held else []
        unknown = (lambda *_: "stale") if is_held is None else known
        before = evaluated(before, [(rule, outcomes)], unknown, T0 + at * step)
        found.append(before)
    return found


def changes(evaluations: Sequence[AccountConditions]) -> list[tuple[int, str]]:
    return [(at, one.state) for at, each in enumerate(evaluations) for one in each.changes]


def test_a_finding_fires_once_it_has_held_for_its_time_and_is_resolved_after_its_own() -> None:
    found = run(SLOW, [*[True] * 7, *[False] * 5])
    assert changes(found) == [(5, "firing"), (10, "resolved")]
    (fired,), (ended,) = found[5].changes, found[10].changes
    assert (fired.since, fired.fired_at, fired.resolved_at) == (T0, T0 + 5 * MINUTE, None)
    assert (ended.since, ended.gone_since, ended.resolved_at) == (T0, T0 + 7 * MINUTE, T0 + 10 * MINUTE)
    assert found[-1].conditions == {}


def test_a_rule_without_times_fires_and_is_resolved_at_once() -> None:
    assert changes(run(NOW, [False, True, True, False, True])) == [(1, "firing"), (3, "resolved"), (4, "firing")]


def test_a_pending_condition_that_ends_is_never_mentioned() -> None:
    assert changes(run(SLOW, [True, True, False, True, True, True, True, False])) == []


def test_a_flapping_finding_fires_once() -> None:
    assert changes(run(SLOW, [*[True] * 6, False, False, True, False, True, False, False])) == [(5, "firing")]


def test_time_that_cannot_be_judged_counts_for_nothing() -> None:
    found = run(SLOW, [True, True, *[None] * 10, True, True, True, True])
    assert changes(found) == [(15, "firing")]
    (unknown,) = found[5].conditions.values()
    assert (unknown.state, unknown.unknown) == ("pending", "stale")
    ended = run(SLOW, [*[True] * 6, *[None] * 10, False, False, False, False])
    assert changes(ended) == [(5, "firing"), (19, "resolved")]
    (firing,) = ended[10].conditions.values()
    assert (firing.state, firing.unknown, ended[10].due) == ("firing", "stale", ended[10].at + RETRY)


def test_time_after_an_evaluation_was_due_counts_for_nothing() -> None:
    soon, late = Outcome(None, T0 + MINUTE), T0 + MINUTE + OVERDUE + 60 * MINUTE
    before = evaluated(None, [(SLOW, [])], known, T0 - MINUTE)
    before = evaluated(before, [(SLOW, [Outcome(finding(SLOW)), soon])], known, T0)
    after = evaluated(before, [(SLOW, [Outcome(finding(SLOW))])], known, late)
    (one,) = after.conditions.values()
    assert (before.due, one.state, after.due) == (T0 + MINUTE, "pending", late + FOR - MINUTE)


def test_without_news_a_finding_holds_on_however_long_nothing_is_evaluated() -> None:
    firing, later = run(SLOW, [True] * 6)[-1], T0 + 600 * MINUTE
    assert firing.due is None
    ending = evaluated(firing, [(SLOW, [])], known, later)
    assert [(one.state, one.gone_since) for one in ending.conditions.values()] == [("firing", later)]
    assert ending.due == later + KEEP


def test_what_held_before_the_first_evaluation_is_shown_but_no_news() -> None:
    found = run(SLOW, [True, True, False, False, False, False], begun=False)
    (one,) = found[0].conditions.values()
    assert (one.state, one.is_old, found[0].changes) == ("firing", True, ())
    assert changes(found) == [(5, "resolved")]


def test_the_finding_of_a_condition_is_the_latest_one() -> None:
    before = run(NOW, [True])[-1]
    after = evaluated(before, [(NOW, [Outcome(finding(NOW, "A", "later"))])], known, T0 + MINUTE)
    (one,) = after.conditions.values()
    assert (one.finding.sentence, one.since, after.changes) == ("later", T0, ())


def test_the_next_evaluation_is_due_when_something_may_change_without_news() -> None:
    found = run(SLOW, [True, *[True] * 5, False])
    assert [one.due for one in (found[0], found[5], found[6])] == [T0 + FOR, None, T0 + 6 * MINUTE + KEEP]
    soon = evaluated(None, [(SLOW, [Outcome(None, T0 + MINUTE), Outcome(None, T0 + 2 * MINUTE)])], known, T0)
    assert soon.due == T0 + MINUTE


def test_of_too_many_findings_those_that_were_known_are_kept_and_others_counted() -> None:
    first = [Outcome(finding(NOW, f"j{number}")) for number in range(MAX_OF_RULE)]
    before = evaluated(None, [(NOW, first)], known, T0)
    after = evaluated(before, [(NOW, [Outcome(finding(NOW, "more")), *first])], known, T0 + MINUTE)
    assert after.conditions.keys() == before.conditions.keys()
    assert (after.left_out, after.changes) == ({NOW.name: 1}, ())


def test_an_event_is_news_once_and_not_if_it_is_old_or_from_before_the_first_evaluation() -> None:
    outcomes = [Outcome(finding(EVENT, "early"), at=T0 - MINUTE), Outcome(finding(EVENT, "old"), at=T0 - EVENT_IS_NEWS)]
    first = evaluated(None, [(EVENT, outcomes)], known, T0)
    outcomes.append(Outcome(finding(EVENT, "new"), at=T0))
    second = evaluated(first, [(EVENT, outcomes)], known, T0 + MINUTE)
    third = evaluated(second, [(EVENT, outcomes)], known, T0 + 2 * MINUTE)
    assert first.changes == third.changes == ()
    (one,) = second.changes
    assert (one.finding.scope.id, one.state, one.since, one.resolved_at) == ("new", "resolved", T0, T0)
    assert evaluated(third, [(EVENT, outcomes)], known, T0 + EVENT_IS_NEWS + MINUTE).events == {}


@given(
    st.lists(st.sampled_from([True, False, None]), max_size=40),
    st.sampled_from([SLOW, NOW]),
    st.sampled_from([MINUTE, 2 * MINUTE, 20 * MINUTE]),
)
def test_every_condition_fires_before_it_is_resolved_and_alternates(
    holds: list[bool | None], rule: ConditionRule, step: timedelta
) -> None:
    found = run(rule, holds, step)
    states = [state for _, state in changes(found)]
    assert states == ["firing", "resolved"] * (len(states) // 2) + ["firing"] * (len(states) % 2)
    for is_held, each in zip(holds, found, strict=True):
        firing = [one for one in each.conditions.values() if one.state == "firing"]
        if is_held and not rule.pending_for:
            assert firing
        if each.changes:
            assert is_held is not None
        assert all(_is_sound(one, each.at) for one in each.conditions.values())


def _is_sound(one: Condition, now: datetime) -> bool:
    return one.since <= now and (one.fired_at is None) == (one.state == "pending")


@pytest.mark.parametrize("step", [MINUTE, 4 * MINUTE])
def test_evaluating_again_at_the_same_time_changes_nothing(step: timedelta) -> None:
    for each in run(SLOW, [True] * 8, step):
        again = evaluated(each, [(SLOW, [Outcome(finding(SLOW))])], known, each.at)
        assert (again.conditions, again.changes, again.due) == (each.conditions, (), each.due)
