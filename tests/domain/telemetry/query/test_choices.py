"""The selection of series by names and by attributes."""

import pytest

from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.query.series_selectors import selector_of
from shared.domain.telemetry.rollups.rollups import Rollup
from shared.errors import HistoryRangeError

ONE = {0: Rollup(1, 1, 1, 1, 1, 0)}
IDLE = Series("system.cpu.utilization", (("cpu.mode", "idle"),))
USER = Series("system.cpu.utilization", (("cpu.mode", "user"),))
CORE = Series("system.cpu.utilization", (("cpu.logical_number", "3"), ("cpu.mode", "idle")))
MEMORY = Series("system.memory.limit")


def test_names_are_whole_ones_or_their_first_parts_each_once() -> None:
    assert selector_of("system.memory.limit,system.paging,system.paging.usage", None).names == (
        "system.memory.limit",
        "system.paging.usage",
        "system.paging.utilization",
        "system.paging.faults",
        "system.paging.operations",
    )
    assert set(selector_of("hw,system", None).names) < set(selector_of(None, None).names)


@pytest.mark.parametrize(
    ("attributes", "chosen"),
    [
        (None, {IDLE, USER, CORE, MEMORY}),
        ("cpu.logical_number=", {IDLE, USER, MEMORY}),
        ("cpu.mode=idle", {IDLE, CORE}),
        ("cpu.logical_number=;cpu.mode=idle", {IDLE}),
        ("cpu.mode=id", set()),
        ("never.told=a=b", set()),
    ],
)
def test_series_have_the_attributes_that_are_asked_for_or_none(attributes: str | None, chosen: set[Series]) -> None:
    rollups = dict.fromkeys((IDLE, USER, CORE, MEMORY), ONE)
    assert selector_of(None, attributes).of(rollups) == dict.fromkeys(chosen, ONE)


@pytest.mark.parametrize("name", ["system.mem", "", "system,", "system.memory.limit, hw"])
def test_a_name_that_no_series_has_is_refused(name: str) -> None:
    with pytest.raises(HistoryRangeError, match="No series is named") as refused:
        selector_of(name, None)
    assert refused.value.target == "name"


@pytest.mark.parametrize("attributes", ["cpu.mode", "=idle", "cpu.mode=idle;", "cpu.mode=idle;cpu.mode=user"])
def test_attributes_that_are_none_are_refused(attributes: str) -> None:
    with pytest.raises(HistoryRangeError, match="write NAME=VALUE") as refused:
        selector_of(None, attributes)
    assert refused.value.target == "attributes"
