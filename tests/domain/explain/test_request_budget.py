"""The budget of requests for explanations: a share of what rounds send, after a burst."""

from datetime import UTC, datetime, timedelta

from shared.domain.explain.request_budget import FULL, SHARE, RequestBudget

NOW, MINUTE = datetime(2026, 11, 29, 6, tzinfo=UTC), timedelta(minutes=1)


def test_over_hours_no_more_than_the_share_of_rounds_is_spent_beyond_the_burst() -> None:
    budget, spent, calls = RequestBudget(), 0, 8
    for minute in range(600):
        budget = budget.refilled(NOW + minute * MINUTE, calls=calls, interval=MINUTE)
        if budget.has_room:
            budget, spent = budget.spent(4), spent + 4
    assert SHARE * 600 * calls <= spent <= FULL + SHARE * 600 * calls + 4


def test_an_explanation_that_took_more_than_there_was_is_made_up_for() -> None:
    budget = RequestBudget().refilled(NOW, calls=10, interval=MINUTE).spent(round(FULL) + 5)
    assert not budget.refilled(NOW + 5 * MINUTE, calls=10, interval=MINUTE).has_room
    assert budget.refilled(NOW + 6 * MINUTE, calls=10, interval=MINUTE).has_room


def test_no_more_than_the_burst_is_saved_up_and_a_clock_set_back_adds_nothing() -> None:
    budget = RequestBudget().refilled(NOW, calls=1000, interval=MINUTE)
    later = budget.refilled(NOW + 600 * MINUTE, calls=1000, interval=MINUTE)
    assert later.left == FULL
    assert later.spent(10).refilled(NOW, calls=1000, interval=MINUTE).left == FULL - 10


def test_rounds_that_come_rarely_allow_as_little_an_hour() -> None:
    budget = RequestBudget().refilled(NOW, calls=10, interval=60 * MINUTE).spent(round(FULL))
    assert budget.refilled(NOW + 60 * MINUTE, calls=10, interval=60 * MINUTE).left == SHARE * 10
