from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.jobs.snapshots import Agreement, Confirmation
from shared.domain.polling.rounds import MESSAGE_LASTS, WHOLE, Mark, Round, RoundResult, mark_until

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def confirmation(seconds: int, generation: str = "g") -> Confirmation:
    return Confirmation(generation, T0 + seconds * SECOND, Agreement())


LAST = Round(
    T0,
    finished_at=T0 + SECOND,
    whole_round_at=T0,
    as_of=T0,
    jobs_as_of=T0,
    full_list_at=T0,
    confirmations={"a": confirmation(0), "b": confirmation(0), "sealed": confirmation(0)},
    failures={"a": "old", "b": "old", "sealed": "old"},
    etag="e1",
)
THIS = Round(T0 + MINUTE, finished_at=T0 + MINUTE + SECOND)
FOUND = RoundResult(
    date=T0 + MINUTE,
    was_full=False,
    live=frozenset("abc"),
    polled=frozenset("ac"),
    confirmations={"a": confirmation(60)},
    failures={"c": "new"},
)


@pytest.mark.parametrize(("seconds", "due"), [(53, False), (54, True), (60, True)])
def test_a_round_is_due_after_its_interval_less_a_tenth(seconds: int, *, due: bool) -> None:
    assert LAST.is_due(T0 + seconds * SECOND, MINUTE) is due


def test_polls_of_some_jobs_do_not_put_off_the_round_of_all() -> None:
    on_demand = replace(LAST, started_at=T0 + 50 * SECOND)
    assert on_demand.is_due(T0 + 60 * SECOND, MINUTE)
    assert replace(on_demand, whole_round_at=None).is_due(T0 + 51 * SECOND, MINUTE)


@pytest.mark.parametrize(("failed", "minutes"), [(0, 1), (1, 1), (2, 2), (3, 4), (4, 5), (99, 5)])
def test_from_the_second_failure_in_a_row_on_rounds_are_put_off(failed: int, minutes: int) -> None:
    failing = replace(LAST, reason="closed", failed_rounds=failed)
    assert failing.due_at(MINUTE) == T0 + 0.9 * minutes * MINUTE


def test_failures_put_a_slow_account_off_by_no_more_than_its_interval_and_a_fast_one_eightfold() -> None:
    failing = replace(LAST, reason="closed", failed_rounds=99)
    assert failing.due_at(60 * MINUTE) == T0 + 54 * MINUTE
    assert failing.due_at(10 * SECOND) == T0 + 72 * SECOND


def test_failed_rounds_are_counted_until_one_succeeds() -> None:
    failed = RoundResult(None, was_full=False, live=None, polled=frozenset(), confirmations={}, failures={})
    first = replace(THIS, reason="closed").after(LAST, failed)
    second = replace(THIS, reason="closed").after(first, failed)
    assert (first.failed_rounds, second.failed_rounds) == (1, 2)
    assert THIS.after(second, FOUND).failed_rounds == 0


def test_no_round_is_due_before_the_service_may_be_asked_again() -> None:
    waiting = replace(LAST, backoff_until=T0 + 5 * MINUTE)
    assert not waiting.is_due(T0 + 5 * MINUTE - SECOND, MINUTE)
    assert waiting.is_due(T0 + 5 * MINUTE, MINUTE)


def test_a_full_list_is_due_after_its_interval_and_where_there_was_none() -> None:
    assert not LAST.full_list_is_due(T0 + 15 * MINUTE - SECOND, 15 * MINUTE)
    assert LAST.full_list_is_due(T0 + 15 * MINUTE, 15 * MINUTE)
    assert replace(LAST, full_list_at=None).full_list_is_due(T0, 15 * MINUTE)
    assert replace(LAST, jobs_as_of=None).full_list_is_due(T0, 15 * MINUTE)


def test_a_round_keeps_the_last_rounds_notes_on_jobs_it_did_not_reach() -> None:
    after = THIS.after(LAST, FOUND)
    assert after.confirmations == {"a": confirmation(60), "b": confirmation(0)}
    assert after.failures == {"b": "old", "c": "new"}


def test_a_round_drops_jobs_that_need_no_polls_any_more() -> None:
    after = THIS.after(LAST, FOUND)
    assert "sealed" not in after.confirmations
    assert "sealed" not in after.failures


def test_a_round_whose_list_failed_drops_nothing_and_does_not_advance() -> None:
    failed = RoundResult(None, was_full=False, live=None, polled=frozenset(), confirmations={}, failures={})
    after = replace(THIS, reason="closed").after(LAST, failed)
    assert (after.confirmations, after.failures) == (LAST.confirmations, LAST.failures)
    assert (after.as_of, after.jobs_as_of, after.full_list_at) == (None, T0, T0)
    assert not after.succeeded


def test_a_round_advances_to_the_date_of_its_list() -> None:
    after = THIS.after(LAST, FOUND)
    assert (after.as_of, after.jobs_as_of, after.full_list_at) == (T0 + MINUTE, T0 + MINUTE, T0)
    assert (after.jobs_polled, after.jobs_failed, after.etag) == (2, 1, "e1")


def test_a_full_list_is_noted_with_the_end_of_its_round() -> None:
    assert THIS.after(LAST, replace(FOUND, was_full=True)).full_list_at == THIS.finished_at


def test_the_first_round_needs_no_other() -> None:
    after = THIS.after(None, FOUND)
    assert after.failures == {"c": "new"}
    assert after.etag is None


def test_of_two_rounds_at_once_the_later_word_on_every_job_stays() -> None:
    stored = replace(
        LAST, confirmations={"a": confirmation(50), "b": confirmation(70), "d": confirmation(1)}, etag="e2"
    )
    this = replace(THIS, confirmations={"a": confirmation(60), "b": confirmation(60), "c": confirmation(60)})
    merged = this.merged(stored)
    assert merged.confirmations == {
        "a": confirmation(60),
        "b": confirmation(70),
        "c": confirmation(60),
        "d": confirmation(1),
    }
    assert merged.etag == "e2"


def test_of_two_rounds_at_once_the_longer_wait_for_the_service_stays() -> None:
    throttled = replace(LAST, backoff_until=T0 + 5 * MINUTE)
    assert THIS.merged(throttled).backoff_until == T0 + 5 * MINUTE
    assert throttled.merged(THIS).backoff_until == T0 + 5 * MINUTE
    assert THIS.merged(LAST).backoff_until is None


def test_a_failure_of_a_job_goes_before_that_of_a_round_that_did_not_reach_it() -> None:
    ended = replace(LAST, reason="throttled", failures={"a": "closed"})
    assert ended.failure_of("a", T0) == "closed"
    assert ended.failure_of("b", T0) is None
    assert ended.failure_of("b", T0 - SECOND) == "throttled"
    assert ended.failure_of("b", None) == "throttled"
    assert replace(ended, as_of=None).failure_of("b", T0) == "throttled"


def test_a_job_left_to_the_queue_is_left_alone_until_its_message_is_taken_for_lost() -> None:
    queued = THIS.after(LAST, replace(FOUND, queued={"b": T0 + 10 * MINUTE}))
    assert queued.is_queued("b", T0 + 10 * MINUTE - SECOND)
    assert not queued.is_queued("b", T0 + 10 * MINUTE)
    assert not queued.is_queued("a", T0)


def test_marks_of_the_queue_outlast_rounds_and_are_forgotten_when_no_message_of_theirs_can_come() -> None:
    late, over = Mark(THIS.finished_at - SECOND), Mark(THIS.finished_at - MESSAGE_LASTS)
    queued = replace(LAST, queued={"a": Mark(T0 + 10 * MINUTE), "b": late, "c": over})
    after = THIS.after(queued, FOUND)
    assert after.queued == {"a": Mark(T0 + 10 * MINUTE), "b": late}
    assert not after.is_queued("b", THIS.finished_at)


def test_a_message_is_sent_again_for_longer_though_rounds_failed_since_its_first_mark_ended() -> None:
    first = replace(LAST, queued={"a": Mark(T0)})
    after = THIS.after(first, FOUND)
    now = THIS.finished_at
    assert mark_until(after.queued["a"], now) == now + MESSAGE_LASTS


def test_the_result_of_a_message_leaves_other_jobs_alone() -> None:
    queued = replace(LAST, queued={"a": Mark(T0 + MINUTE, T0), "b": Mark(T0 + MINUTE)})
    ended = queued.with_outcome("a", failure=None, queued_until=None)
    assert (ended.queued, ended.failures) == ({"b": Mark(T0 + MINUTE)}, {"b": "old", "sealed": "old"})
    failed = queued.with_outcome("a", failure="closed", queued_until=T0 + 2 * MINUTE)
    assert (failed.queued["a"], failed.failures["a"]) == (Mark(T0 + 2 * MINUTE, T0), "closed")


def test_of_two_rounds_at_once_each_keeps_its_notes_on_jobs_it_reached() -> None:
    ours = replace(
        THIS,
        reached=frozenset("a"),
        left=frozenset("a"),
        failures={"a": "new", "b": "old"},
        queued={"a": Mark(T0 + 9 * MINUTE), "b": Mark(T0)},
    )
    stored = replace(
        LAST, failures={"a": "old", "b": "newer"}, queued={"a": Mark(T0, T0), "b": Mark(T0 + 5 * MINUTE, T0)}
    )
    merged = ours.merged(stored)
    assert merged.failures == {"a": "new", "b": "newer"}
    assert merged.queued == {"a": Mark(T0 + 9 * MINUTE), "b": Mark(T0 + 5 * MINUTE, T0)}


def test_a_round_that_polled_a_job_leaves_it_to_the_queue_to_say_that_its_message_was_worked_on() -> None:
    ours = replace(THIS, reached=frozenset("a"), queued={"a": Mark(T0 + 9 * MINUTE)})
    assert ours.merged(replace(LAST, queued={})).queued == {}


def test_a_message_is_worked_on_unless_another_one_is() -> None:
    sent, first, second = T0 + 10 * MINUTE, T0 + 10 * MINUTE, T0 + 20 * MINUTE
    queued = replace(LAST, queued={"a": Mark(sent)})
    begun = queued.claimed("a", second, T0 + MINUTE, T0 + 11 * MINUTE)
    assert begun
    assert begun.queued == {"a": Mark(T0 + 11 * MINUTE, second)}
    assert begun.claimed("a", first, T0 + 2 * MINUTE, T0 + 12 * MINUTE) is None
    assert begun.claimed("a", None, T0 + 2 * MINUTE, T0 + 12 * MINUTE) is None
    again = begun.claimed("a", second, T0 + 2 * MINUTE, T0 + 12 * MINUTE)
    assert again
    assert again.queued == {"a": Mark(T0 + 12 * MINUTE, second)}
    late = begun.claimed("a", first, T0 + 11 * MINUTE, T0 + 21 * MINUTE)
    assert late
    assert late.queued == {"a": Mark(T0 + 21 * MINUTE, first)}


def test_a_job_left_to_the_queue_again_is_open_to_any_message() -> None:
    claimed = replace(LAST, queued={"b": Mark(T0 + 2 * MINUTE, T0)})
    assert THIS.after(claimed, FOUND).queued == {"b": Mark(T0 + 2 * MINUTE, T0)}
    left = THIS.after(claimed, replace(FOUND, queued={"b": T0 + 11 * MINUTE}))
    assert left.queued == {"b": Mark(T0 + 11 * MINUTE)}


def test_an_account_is_left_to_the_queue_only_where_its_round_is_due_and_no_message_on_its_way() -> None:
    now, until = T0 + MINUTE, T0 + 3 * MINUTE
    left = LAST.left_to_queue(now, until, MINUTE)
    assert left
    assert left.is_queued(WHOLE, now)
    assert left.left_to_queue(now + SECOND, until, MINUTE) is None
    assert LAST.left_to_queue(T0 + SECOND, until, MINUTE) is None


def test_a_row_of_marks_alone_is_no_round() -> None:
    assert not Round(T0, finished_at=T0, queued={WHOLE: Mark(T0 + MINUTE)}).was_run
    assert replace(THIS, reason="closed").was_run
    assert LAST.was_run


def test_lists_of_a_slower_round_do_not_take_those_of_a_faster_one_back() -> None:
    slower = replace(LAST, as_of=T0, jobs_as_of=T0, full_list_at=None)
    faster = replace(LAST, as_of=T0 + MINUTE, jobs_as_of=T0 + MINUTE, full_list_at=T0 + MINUTE)
    for merged in (slower.merged(faster), faster.merged(slower)):
        assert (merged.as_of, merged.jobs_as_of, merged.full_list_at) == (T0 + MINUTE,) * 3
