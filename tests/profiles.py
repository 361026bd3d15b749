"""The search effort of property tests, set by `HYPOTHESIS_PROFILE`, which tests/conftest.py loads for all tests.

It is `quick` (the default, the same examples every time), `fast` (fewer of them, for `dev.py test --fast`), `nightly`
(random examples, all cases of the grids that `share_of` thins, and the searches marked with `nightly`, for `dev.py test
--nightly`) or `long`.
"""

import os
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import engine

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
NIGHTLY = PROFILE in {"nightly", "long"}
MAX_SHRINKING_SECONDS = 10
"""The time for shrinking a failure, which Hypothesis has no setting for; it is five minutes by default."""

nightly = pytest.mark.skipif(not NIGHTLY, reason="a search of the nightly lane: dev.py test --nightly")
"""Marks searches that check nothing that other tests of each run don't check with chosen examples."""


def share_of[T](cases: Sequence[T], every: int) -> Sequence[T]:
    """Returns each `every`-th case, always the same ones; all of them in the nightly lane.

    For grids of inputs that differ in little, in which a fault shows in many cases.
    """
    return cases if NIGHTLY else cases[::every]


def deep_examples() -> int:
    """Returns the examples of the app's core: histories of the delta algorithm, of counters, and of uploads."""
    return max(settings().max_examples, 100)


def half_as_many() -> settings:
    """Returns settings with half of the profile's examples.

    For properties of lists of rows whose tests share code and strategy, so that a fault in it shows in several.
    """
    return settings(max_examples=max(settings().max_examples // 2, 1))


def load_profile() -> None:
    patience = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    for name, examples in (("fast", 20), ("quick", 40)):
        settings.register_profile(
            name, max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=patience
        )
    for name, examples in (("nightly", 500), ("long", 5000)):
        settings.register_profile(
            name, max_examples=examples, deadline=None, print_blob=True, suppress_health_check=patience
        )
    settings.load_profile(PROFILE)
    engine.MAX_SHRINKING_SECONDS = MAX_SHRINKING_SECONDS
