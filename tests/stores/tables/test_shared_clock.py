"""The common time of all hosts, by the dates of storage's answers."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.clock import SharedClock
from shared.stores.tables.tables import Tables

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Host:
    """A host and the true time; its own clock is `ahead`."""

    def __init__(self, ahead: timedelta) -> None:
        self.time, self.ahead = T0, ahead
        self.clock = SharedClock(lambda: self.time + self.ahead)

    def ask(self, *, there: timedelta = timedelta(), back: timedelta = timedelta()) -> None:
        """Sends a request to storage with these travel times of request and answer."""
        answered = self.clock.asking()
        self.time += there
        date = self.time.replace(microsecond=0)
        self.time += back
        answered(date)

    def error(self) -> timedelta:
        return asyncio.run(self.clock.now()) - self.time


@pytest.mark.parametrize("ahead", [0, 3600, -3600, 600.25, -7.5])
def test_a_clock_is_right_to_a_second_after_an_answer_however_wrong_its_host_is(ahead: float) -> None:
    host = Host(ahead * SECOND)
    for _ in range(3):
        host.ask(there=0.1 * SECOND, back=0.1 * SECOND)
        assert abs(host.error()) <= 1.2 * SECOND


def test_a_clock_that_is_right_is_left_alone() -> None:
    host = Host(timedelta())
    for number in range(100):
        host.ask(there=number % 7 * 0.3 * SECOND, back=number % 5 * 0.4 * SECOND)
        assert host.error() == timedelta()


@pytest.mark.parametrize(("there", "back"), [(30, 0), (0, 30)])
def test_an_answer_that_took_long_makes_no_clock_wrong(there: int, back: int) -> None:
    host = Host(timedelta())
    host.ask(there=there * SECOND, back=back * SECOND)
    assert host.error() == timedelta()


def test_a_clock_whose_host_is_set_follows_with_the_next_answer() -> None:
    host = Host(3600 * SECOND)
    host.ask()
    host.ahead = timedelta()
    host.ask()
    assert abs(host.error()) <= SECOND


async def test_storage_sends_its_time_with_each_answer_even_a_refusal(azurite: Any, prefix: str) -> None:
    dates: list[datetime] = []
    tables = Tables.connect(
        connection_string=azurite.connection_string,
        endpoint=None,
        credential=None,
        prefix=prefix,
        asking=lambda: dates.append,
    )
    for _ in range(2):
        before = len(dates)
        await tables.create()
        assert len(dates) > before
    before = len(dates)
    await tables["jobs"].submit_transaction([("create", {"PartitionKey": "a", "RowKey": "b"})])
    assert len(dates) == before + 1
    await tables.close()
    clock = SharedClock()
    assert abs(dates[-1] - await clock.now()) < timedelta(minutes=1)
