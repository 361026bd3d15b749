import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.profiles import deep_examples
from tests.services.mutants.delta_machine import DeltaMachine
from tests.services.mutants.uncompared import UncomparedMachine, compare_nothing


def test_claims_after_every_poll_were_true_as_of_their_time() -> None:
    run_state_machine_as_test(DeltaMachine, settings=settings(max_examples=deep_examples(), stateful_step_count=30))


def test_claims_are_true_even_without_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_nothing(monkeypatch)
    examples = deep_examples() // 3
    run_state_machine_as_test(UncomparedMachine, settings=settings(max_examples=examples, stateful_step_count=30))
