import gc
import logging
from collections.abc import Iterator
from functools import partial

import pytest

from shared.domain.jobs import reconciliation
from shared.domain.reads import id_ranges
from shared.services.reading import range_lists, read_state
from shared.services.reading.folding import fold
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.world import World

_OWN_THRESHOLDS = gc.get_threshold()


@pytest.fixture(scope="session", autouse=True)
def often_collected() -> None:
    """Collects garbage as often as Python does by itself, where tests of the app ran before in this process.

    The app's rare collections would cost more here, where worlds with thousands of rows live through them.
    """
    gc.set_threshold(*_OWN_THRESHOLDS)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Silences the warnings of thousands of polls that fail on purpose."""
    caplog.set_level(logging.ERROR)


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets leaves of four tasks, pages of two and passes of six, so that a few tasks fill several."""
    monkeypatch.setattr(read_state, "fold", partial(fold, leaf_rows=4))
    monkeypatch.setattr(reconciliation, "_PAGE", 2)
    monkeypatch.setattr(range_lists, "_PASS", 6)
    monkeypatch.setattr(id_ranges, "_MIN_PART", 1)


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    world.service.page_size = 1000
    yield world
    world.close()


@pytest.fixture
def pools() -> Iterator[PoolWorld]:
    world = PoolWorld()
    yield world
    world.close()
