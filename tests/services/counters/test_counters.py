"""Counters of tasks are exact at rest and never decrease, however polls, hosts, jobs and rows come and go."""

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.profiles import deep_examples
from tests.services.counters.counter_machine import CounterMachine


def test_counters_never_decrease_and_are_those_of_a_witness_at_rest() -> None:
    examples = deep_examples() // 4  # an example rests, and so polls, many times
    run_state_machine_as_test(CounterMachine, settings=settings(max_examples=examples, stateful_step_count=20))
