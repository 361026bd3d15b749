"""The agent's loop on a clock of the test's own."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from agent.collectors.collector import Collector
from agent.events.event import event
from agent.machine.clock import Clock
from agent.records.record import Record, Value
from agent.sampling import EVENT_PAUSE, MAX_TEXT, Sampler


class SteppedClock(Clock):
    """A clock that stands still until it is told to go on; the wall clock may jump."""

    def __init__(self) -> None:
        self.passed = 1000.0
        self.wall = 1_795_000_000_000_000_000

    def now(self) -> int:
        return self.wall

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds
        self.wall += int(seconds * 1e9)


@dataclass
class Counted:
    """A collector that yields how often it was called."""

    name: str
    interval: float
    calls: list[int] = field(default_factory=list)

    def collect(self, now: int) -> Iterable[Record]:
        self.calls.append(now)
        return [Record(self.name, {"calls": len(self.calls)})]


@dataclass
class Broken:
    name: str = "broken"
    interval: float = 10.0

    def collect(self, now: int) -> Iterable[Record]:
        yield Record(self.name, {"before": now})
        raise ValueError("no number")


@dataclass
class Kept:
    """A sink that keeps flushes."""

    flushes: list[str] = field(default_factory=list)
    records: list[int] = field(default_factory=list)

    def put(self, lines: bytes, records: int) -> None:
        self.flushes.append(lines.decode())
        self.records.append(records)

    def fields(self) -> Mapping[str, Value]:
        return {"spooled": 3}


def sampler(
    clock: Clock, sink: Kept, *collectors: Collector, phase: float = 1.0, log: list[str] | None = None
) -> Sampler:
    messages = [] if log is None else log
    return Sampler(collectors, sink, clock, flush=120.0, phase=phase, log=messages.append)


def run(one: Sampler, clock: SteppedClock, seconds: float) -> None:
    until = clock.passed + seconds
    while clock.passed < until:
        clock.sleep(min(one.step(), until - clock.passed) or 0.001)


def test_each_collector_is_called_at_its_interval() -> None:
    clock, often, rarely = SteppedClock(), Counted("often", 10.0), Counted("rarely", 60.0)
    run(sampler(clock, Kept(), often, rarely), clock, 119.0)
    assert (len(often.calls), len(rarely.calls)) == (12, 2)


def test_a_flush_hands_over_whole_lines_and_the_state_of_the_agent() -> None:
    clock, sink = SteppedClock(), Kept()
    run(sampler(clock, sink, Counted("cpu", 60.0)), clock, 121.0)
    (flushed,) = sink.flushes
    lines = flushed.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["cpu", "cpu", "cpu", "batchscope_agent"]
    assert flushed.endswith("\n")
    assert "spooled=3i" in lines[-1]
    assert sink.records == [4]


def test_the_phase_spreads_the_first_flush_over_the_interval() -> None:
    early, late = SteppedClock(), SteppedClock()
    soon, later = Kept(), Kept()
    run(sampler(early, soon, Counted("x", 10.0), phase=0.0), early, 13.0)
    run(sampler(late, later, Counted("x", 10.0), phase=1.0), late, 13.0)
    assert (len(soon.flushes), len(later.flushes)) == (1, 0)


def test_a_failing_collector_costs_only_its_own_records_and_is_counted() -> None:
    clock, sink, log = SteppedClock(), Kept(), list[str]()
    run(sampler(clock, sink, Broken(), Counted("cpu", 10.0), log=log), clock, 121.0)
    assert sink.flushes[0].count("cpu calls=") == 13
    assert "collect_errors=13i" in sink.flushes[0]
    assert log == ["The collector broken: ValueError: no number"]


def test_a_wall_clock_that_is_set_back_changes_times_not_turns() -> None:
    clock, one = SteppedClock(), Counted("x", 10.0)
    step = sampler(clock, Kept(), one)
    run(step, clock, 29.0)
    clock.wall -= 3_600_000_000_000
    run(step, clock, 30.0)
    assert len(one.calls) == 6
    assert one.calls[3] < one.calls[2]


def test_turns_that_were_missed_are_left_out() -> None:
    clock, one = SteppedClock(), Counted("x", 10.0)
    step = sampler(clock, Kept(), one)
    step.step()
    clock.sleep(95.0)
    assert step.step() == 5.0
    assert len(one.calls) == 2


def test_much_text_is_flushed_before_its_time() -> None:
    clock, sink = SteppedClock(), Kept()
    step = sampler(clock, sink)
    step.add(Record("log", {"text": "x" * 4000}) for _ in range(MAX_TEXT // 4000 + 1))
    step.step()
    assert len(sink.flushes) == 1


def test_an_event_is_flushed_at_once_but_only_one_a_minute_before_its_time() -> None:
    clock, sink = SteppedClock(), Kept()
    step = sampler(clock, sink, Counted("cpu", 10.0))
    run(step, clock, 15.0)
    for _ in range(9):
        step.add([event("gpu_xid", "A GPU fails.")])
        run(step, clock, 10.0)
    assert [flushed.count("batchscope_event") for flushed in sink.flushes] == [1, 6]
    assert EVENT_PAUSE == 60.0
    run(step, clock, 20.0)
    assert [flushed.count("batchscope_event") for flushed in sink.flushes] == [1, 6, 2]
    assert "".join(sink.flushes).count("cpu calls=") == 13


def test_a_notice_that_the_node_goes_waits_for_no_pause_of_another_event() -> None:
    clock, sink = SteppedClock(), Kept()
    step = sampler(clock, sink, Counted("cpu", 10.0))
    for kind in ("gpu_xid", "spot_preemption", "maintenance", "gpu_xid"):
        run(step, clock, 1.0)
        step.add([event(kind, "It happened.")])
        step.step()
    kinds = [("gpu_xid" in flushed, "spot_preemption" in flushed, "maintenance" in flushed) for flushed in sink.flushes]
    assert kinds == [(True, False, False), (False, True, False), (False, False, True)]


def test_records_count_as_flushed_once_the_sink_has_taken_them() -> None:
    clock, taken = SteppedClock(), list[str]()

    @dataclass
    class Full(Kept):
        def put(self, lines: bytes, records: int) -> None:
            super().put(lines, records)
            raise OSError(28, "No space left on device")

    for sink in (Kept(), Full()):
        one = Sampler([], sink, clock, flush=120.0, phase=1.0, log=print, flushed=lambda: taken.append("flushed"))
        with suppress(OSError):
            one.flush()
    assert taken == ["flushed"]
