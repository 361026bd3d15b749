"""Measurements of `bench delta` beside bare deltas: the app's own overlap, and the app's process."""

import asyncio

import pytest

from bench.delta import _overlapping, _stage
from bench.measured.host_memory import host_peak
from bench.parts.delta_parts import Stack

pytestmark = pytest.mark.usefixtures("azurite_folder")


def test_with_the_default_overlap_a_poll_a_minute_reads_half_as_much_again() -> None:
    """The scenario itself compares the tasks of every poll with that, and the counts with the truth."""
    with _stage(stepped=True) as stage:
        found = stage.run("overlapping", "task", 5000)
    assert found["contiguous"]["bytes"] > 0
    others = {"all": 100.0, "models": 1000.0, "modelsBytes": 1e9}
    rows = list(_overlapping(found, found, others, others))
    assert [one["bar"] for one in rows] == [5, 0.8, 1.3, 0.002, 0.025, None]


def test_the_memory_measured_is_that_of_a_host_that_counts_right() -> None:
    with _stage() as stage:
        stack = Stack(stage.emulator, stage.controls, stage.storage, "guid", 5000)
        assert 50 < asyncio.run(host_peak(stack, unordered=True)) < 400
