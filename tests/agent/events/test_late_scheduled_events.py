"""Scheduled Events where the metadata service doesn't answer at the agent's start."""

from agent.events.late_scheduled_events import PAUSE, LateScheduledEvents
from agent.events.scheduled_events import ScheduledEvents
from agent.records.record import Record
from tests.agent.fake_node import SteppedClock

NOTICE = {"EventId": "e1", "EventType": "Preempt", "EventStatus": "Scheduled"}
NOW = 1_795_000_000_000_000_000


def test_a_metadata_service_that_answers_late_still_announces_events() -> None:
    clock, tries = SteppedClock(), list[float]()
    begin = clock.passed

    def build() -> ScheduledEvents:
        tries.append(clock.passed - begin)
        if len(tries) < 3:
            raise OSError
        return ScheduledEvents(lambda: {"Events": [NOTICE]}, clock, is_spot=True)

    late = LateScheduledEvents(build, clock)
    found: list[Record] = []
    for _ in range(120):
        found += list(late.collect(NOW))
        clock.sleep(10.0)
    assert [record.tags["kind"] for record in found] == ["spot_preemption"]
    assert tries == [PAUSE, 2 * PAUSE, 3 * PAUSE]


def test_a_node_that_turns_out_to_be_no_spot_node_is_asked_no_more() -> None:
    clock, tries = SteppedClock(), list[int]()

    def build() -> ScheduledEvents:
        tries.append(1)
        return ScheduledEvents(dict, clock, is_spot=False)

    late = LateScheduledEvents(build, clock)
    for _ in range(100):
        assert list(late.collect(NOW)) == []
        clock.sleep(10.0)
    assert len(tries) == 1
