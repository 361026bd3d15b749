"""That no answer comes of the tests of scripts is not taken for a fault of the scripts."""

from pathlib import Path

import pytest

from tests.infra.rules.rules import faults_of
from tests.infra.rules.scenarios import Infrastructure
from tests.infra.rules.scripts import RunnerError, run_tests, runner


def test_a_runner_that_dies_or_takes_too_long_is_no_fault_and_another_is_started(tmp_path: Path) -> None:
    (tmp_path / "infra").mkdir()
    first = runner()
    with pytest.raises(RunnerError):
        run_tests(["nowhere", "tests/infra/scripts/test_scripts.py"], seconds=0.01)
    assert first.wait(timeout=60)
    runner().kill()
    with pytest.raises(RunnerError):
        faults_of("scripts_that_work", Infrastructure(tmp_path))
