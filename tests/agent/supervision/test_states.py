"""Decisions of the supervisor, on times of the test's own."""

import signal

from hypothesis import given
from hypothesis import strategies as some

from agent.supervision.states import FLUSH_GRACE, Pass, Start, Supervision


def test_the_child_starts_at_once() -> None:
    assert Supervision(0.0).passed(0.0) == [Start()]


def test_a_dead_child_is_started_again_after_a_second() -> None:
    state = Supervision(0.0)
    state.passed(0.0)
    state.died(100.0)
    assert state.wake() == 101.0
    assert (state.passed(100.9), state.passed(101.0)) == ([], [Start()])


def test_two_deaths_within_half_a_minute_cost_five_minutes() -> None:
    state = Supervision(0.0)
    state.passed(0.0)
    state.died(100.0)
    state.passed(101.0)
    state.died(130.0)
    assert state.wake() == 430.0


def test_after_the_long_delay_a_death_counts_as_the_first_again() -> None:
    state = Supervision(0.0)
    for at in (0.0, 10.0):
        state.passed(at)
        state.died(at + 1.0)
    state.passed(311.0)
    state.died(312.0)
    assert state.wake() == 313.0


def test_a_request_to_end_is_passed_on_and_the_child_is_killed_if_it_stays() -> None:
    state = Supervision(0.0)
    state.passed(0.0)
    assert state.asked(signal.SIGHUP, 10.0) == [Pass(signal.SIGHUP)]
    assert state.passed(34.9) == []
    assert state.passed(35.0) == [Pass(signal.SIGKILL)]
    state.died(35.1)
    assert state.is_over


def test_quit_leaves_three_seconds_and_writes_no_core() -> None:
    state = Supervision(0.0)
    state.passed(0.0)
    assert state.asked(signal.SIGQUIT, 10.0) == [Pass(signal.SIGTERM)]
    assert state.wake() == 13.0


def test_a_request_between_two_starts_ends_at_once() -> None:
    state = Supervision(0.0)
    state.passed(0.0)
    state.died(5.0)
    assert state.asked(signal.SIGTERM, 5.5) == []
    assert state.is_over
    assert state.passed(1000.0) == []


EVENTS = some.lists(some.tuples(some.floats(0.0, 400.0), some.sampled_from(["die", "tick"])), max_size=40)


@given(EVENTS)
def test_restarts_keep_their_distance_and_there_is_one_child_at_most(events: list[tuple[float, str]]) -> None:
    state, now, deaths, running = Supervision(0.0), 0.0, list[float](), False
    for seconds, event in events:
        now += seconds
        if event == "die" and running:
            state.died(now)
            deaths.append(now)
            running = False
        elif state.passed(now):
            assert not running
            quick = len(deaths) > 1 and deaths[-1] - deaths[-2] <= 30.0
            assert not deaths or now - deaths[-1] >= (300.0 if quick else 1.0)
            running = True
        assert (state.started is not None) == running


@given(some.lists(some.tuples(some.floats(0.0, 10.0), some.sampled_from([2, 15, 1, 3])), min_size=1, max_size=30))
def test_no_number_of_requests_prolongs_the_end(requests: list[tuple[float, int]]) -> None:
    state, now = Supervision(0.0), 0.0
    state.passed(0.0)
    first = requests[0][0]
    for seconds, number in requests:
        now += seconds
        state.asked(signal.Signals(number), now)
    due = state.wake()
    assert due is not None
    assert due <= first + FLUSH_GRACE
