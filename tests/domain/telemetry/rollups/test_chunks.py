"""Rollups are the same after storage, in any number of chunks and with any numbers in records."""

import pytest

from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.rollups import chunks
from shared.domain.telemetry.rollups.chunks import add_column, chunks_of
from shared.domain.telemetry.rollups.rollups import MINUTE, Rollup, Rollups
from tests.domain.telemetry.support.nodes import at, taken

BEGIN = 29_766_960
SERIES = [Series("system.cpu.time", (("cpu", str(number)),)) for number in range(7)] + [Series("system.memory.usage")]


@pytest.mark.parametrize("most", [1, 60, 10_000])
def test_packed_rollups_come_back_hour_by_hour(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_CELLS", most)
    minutes = range(BEGIN - 5, BEGIN + 70, 3)
    rollups: Rollups = {
        series: {minute: Rollup(2, -0.5, 1e30, minute / 7, place, minute * MINUTE + place) for minute in minutes}
        for place, series in enumerate(SERIES)
    }
    found: Rollups = {}
    kept, read = chunks_of(3, rollups), 0
    for chunk in kept:
        assert chunk.session == 3
        for name, packed in chunk.columns.items():
            read += add_column(found, name, chunk.block, packed)
    assert found == rollups
    assert read == sum(map(len, rollups.values())) == len(SERIES) * len(minutes)
    hours = {minute // 60 for minute in minutes}
    assert {chunk.block for chunk in kept} == hours
    assert (len(kept) == len(hours)) == (most == 10_000)


def test_hours_are_packed_by_the_day() -> None:
    hours = range(BEGIN // 60 - 5, BEGIN // 60 + 30)
    rollups: Rollups = {SERIES[0]: {hour: Rollup(2, -0.5, 1e30, hour / 7, 3, hour * 60 * MINUTE + 5) for hour in hours}}
    kept = chunks_of(3, rollups, chunks.HOURS)
    assert [chunk.block for chunk in kept] == sorted({hour // 24 for hour in hours})
    found: Rollups = {}
    for chunk in kept:
        for name, packed in chunk.columns.items():
            add_column(found, name, chunk.block, packed, chunks.HOURS)
    assert found == rollups


def test_a_sum_of_absurdly_many_values_is_no_number() -> None:
    fields = "usage_idle_min=1,usage_idle_max=2,usage_idle_mean=1.5"
    found = taken(at(0, f"agg.cpu,cpu=cpu0 usage_idle_count=1e25,{fields}"))
    assert (found.dropped.no_numbers, chunks_of(0, found.rollups.get(0, {}))) == (1, [])
