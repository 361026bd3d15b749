"""Which events are read for what resizes of a pool did to its runs."""

from datetime import timedelta

from shared.domain.autoscale.evaluation import Targets
from shared.domain.core.stamps import from_milliseconds
from shared.domain.efficiency.scaling.plans import unrecorded_falls
from shared.domain.efficiency.scaling.recorded_pool import NodePoint, RecordedPool
from shared.domain.events.event_lists import EventFilter, Position
from shared.services.efficiency.scaling_evidence import resizes
from shared.services.events.event_queries import EventPage

MINUTE = 60_000
BEGIN = 1_767_600_000_000


def pool(*numbers: int, options: tuple[tuple[int, str], ...] = ()) -> RecordedPool:
    nodes = [NodePoint(BEGIN + at * MINUTE, n, 0, 0, n, Targets(n, 0)) for at, n in enumerate(numbers)]
    return RecordedPool(BEGIN, [], nodes, options=options)


def falls(record: RecordedPool, minutes: int = 60) -> list[tuple[int, int]]:
    found = unrecorded_falls(record, BEGIN, BEGIN + minutes * MINUTE)
    return [((last - BEGIN) // MINUTE, (at - BEGIN) // MINUTE) for last, at in found]


def test_events_are_wanted_only_of_falls_without_an_option_until_targets_are_not_followed() -> None:
    assert falls(pool(1, 1, 2, 5)) == []
    assert falls(pool(3, 2, 2, 5, 1)) == [(0, 1), (3, 4)]
    assert falls(pool(3, 2, 2, 5, 1), minutes=4) == [(0, 1)]
    assert falls(pool(3, 2, 2, 5, 1, options=((BEGIN + 30_000, "requeue"),))) == [(3, 4)]


async def read(number: int, *, more: Position | None = None) -> tuple[list[EventFilter], bool]:
    asked = list[EventFilter]()

    async def page(wanted: EventFilter) -> EventPage:
        asked.append(wanted)
        return EventPage((), more)

    times = [(BEGIN + 2 * at * MINUTE, BEGIN + (2 * at + 1) * MINUTE) for at in range(number)]
    found, is_partly_read = await resizes(page, "pool", times)
    assert found == []
    return asked, is_partly_read


async def test_a_fall_takes_a_page_of_events_of_its_time_and_ten_are_looked_up() -> None:
    assert await read(0) == ([], False)
    (one,), is_partly_read = await read(1)
    begin = from_milliseconds(BEGIN)
    assert (one.since, one.until, is_partly_read) == (begin, begin + timedelta(seconds=61), False)
    many, is_partly_read = await read(30)
    assert (len(many), is_partly_read) == (10, True)
    assert many[0].since == begin + timedelta(minutes=58)
    assert await read(1, more=Position(0, b"")) == ([one], True)
