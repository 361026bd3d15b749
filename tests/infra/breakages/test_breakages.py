"""The rules alone notice planted breakages: all unsafe ones, all that take two of something, and a twelfth of the rest.

The nightly lane and `dev.py prove infra` plant all of them.
"""

from pathlib import Path

import pytest

from local.dev.system.checkout import HERE
from tests.infra.breakages.breakages import BREAKAGES
from tests.infra.breakages.planting import Breakage, copy_parts
from tests.infra.rules.rules import TABLES, first_fault
from tests.profiles import share_of

_UNSAFE = [breakage for breakage in BREAKAGES if breakage.unsafe]
_OTHERS = [breakage for breakage in BREAKAGES if not breakage.unsafe]
_PLANTED = dict.fromkeys((*share_of(_OTHERS, 12), *(breakage for breakage in _OTHERS if breakage.always)))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    copy_parts(HERE.root, root)
    return root


def test_without_a_breakage_there_is_no_fault(copy: Path) -> None:
    assert first_fault(copy) is None


def test_every_breakage_can_be_planted(copy: Path) -> None:
    for breakage in BREAKAGES:
        with breakage.planted(copy):
            pass
    assert len({breakage.name for breakage in BREAKAGES}) == len(BREAKAGES)


@pytest.mark.parametrize("breakage", _PLANTED, ids=lambda breakage: breakage.name)
def test_a_planted_breakage_is_noticed(breakage: Breakage, copy: Path) -> None:
    with breakage.planted(copy):
        assert first_fault(copy)


@pytest.mark.parametrize("breakage", _UNSAFE, ids=lambda breakage: breakage.name)
def test_an_unsafe_breakage_is_noticed_without_tables(breakage: Breakage, copy: Path) -> None:
    with breakage.planted(copy):
        assert first_fault(copy, without=TABLES)
