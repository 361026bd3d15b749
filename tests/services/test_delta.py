from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.services.delta_machine import DeltaMachine


def test_what_is_claimed_after_every_poll_was_true_as_of_its_time() -> None:
    run_state_machine_as_test(DeltaMachine, settings=settings(stateful_step_count=30))
