"""The rules alone notice planted breakages: here a quarter, and all that take two of something to show.

`dev.py prove infra` plants all of them.
"""

from pathlib import Path

import pytest

from local.dev.system.checkout import HERE
from tests.infra.breakages.breakages import BREAKAGES
from tests.infra.breakages.of_names import TWO_OF_EACH
from tests.infra.breakages.planting import Breakage, copy_parts
from tests.infra.rules.rules import first_fault


def test_without_a_breakage_there_is_no_fault(tmp_path: Path) -> None:
    copy_parts(HERE.root, tmp_path)
    assert first_fault(tmp_path) is None


def test_every_breakage_can_be_planted(tmp_path: Path) -> None:
    copy_parts(HERE.root, tmp_path)
    for breakage in BREAKAGES:
        before = (tmp_path / breakage.file).read_bytes()
        breakage.plant(tmp_path)
        (tmp_path / breakage.file).write_bytes(before)
    assert len({breakage.name for breakage in BREAKAGES}) == len(BREAKAGES)


@pytest.mark.parametrize("breakage", dict.fromkeys((*BREAKAGES[::4], *TWO_OF_EACH)), ids=lambda breakage: breakage.name)
def test_a_planted_breakage_is_noticed(breakage: Breakage, tmp_path: Path) -> None:
    copy_parts(HERE.root, tmp_path)
    breakage.plant(tmp_path)
    assert first_fault(tmp_path)
