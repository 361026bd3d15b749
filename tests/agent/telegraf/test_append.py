"""Line protocol through pipes: whole lines, flushes, ends, and a sink that stalls."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.machine.clock import Clock
from agent.records.record import Record
from agent.telegraf.append import Append
from agent.telegraf.delivery import Delivery
from agent.telegraf.lines import LineAssembler
from agent.telegraf.stop_signals import StopSignals


@dataclass
class Kept:
    """A sink that keeps lines, once `gate` is open."""

    gate: threading.Event = field(default_factory=threading.Event)
    lines: list[bytes] = field(default_factory=list)
    records: int = 0

    def put(self, lines: bytes, records: int) -> None:
        self.gate.wait(10)
        self.lines.append(lines)
        self.records += records

    def of(self, measurement: bytes) -> list[bytes]:
        return [line for line in b"".join(self.lines).splitlines() if line.startswith(measurement)]


@dataclass
class Broken:
    def put(self, lines: bytes, records: int) -> None:
        raise OSError(28, f"No space left for {records} records in {lines!r}")


@pytest.fixture
def pipes() -> Iterator[tuple[int, int, int, int]]:
    """Yields the ends of two pipes: input to read and write, stop to read and write."""
    ends = (*os.pipe(), *os.pipe())
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def opened() -> Kept:
    sink = Kept()
    sink.gate.set()
    return sink


def append(pipes: tuple[int, int, int, int], sink: Kept, flush: float = 60.0, batch: int = 1 << 20) -> Append:
    delivery = Delivery(sink, lambda _: None, max_wait=0.05)
    return Append(pipes[0], pipes[2], delivery, Clock(), flush=flush, max_batch=batch, log=lambda _: None)


@given(some.lists(some.binary(max_size=12).map(lambda part: part.replace(b"x", b"\n")), max_size=20))
def test_whole_lines_come_out_as_they_went_in(chunks: list[bytes]) -> None:
    lines, every = LineAssembler(), b"".join(chunks)
    found = b"".join(lines.feed(chunk) for chunk in chunks)
    assert found == b"".join(line.decode("utf-8", "replace").encode() + b"\n" for line in every.split(b"\n")[:-1])
    lines.finish()
    assert (lines.counts.whole, lines.counts.cut_off) == (
        every.count(b"\n"),
        int(not every.endswith(b"\n") and every != b""),
    )


@given(some.lists(some.integers(0, 30), max_size=20), some.integers(1, 40))
def test_lines_beyond_the_limit_are_dropped_wherever_they_are_cut(sizes: list[int], cut: int) -> None:
    every, lines = b"".join(b"a" * size + b"\n" for size in sizes), LineAssembler(max_line=16)
    found = b"".join(lines.feed(every[at : at + cut]) for at in range(0, len(every), cut))
    assert found == b"".join(b"a" * size + b"\n" for size in sizes if size < 16)
    assert lines.counts.too_long == sum(size >= 16 for size in sizes)


def test_all_lines_are_handed_on_at_the_end_of_input(pipes: tuple[int, int, int, int]) -> None:
    sink = opened()
    os.write(pipes[1], b"cpu usage_idle=99 1\nmem used=5i 2\ncpu usage_id")
    os.close(pipes[1])
    append(pipes, sink).run([Record("batchscope_start", {"version": "1"}, time=7)])
    assert sink.of(b"")[:3] == [b'batchscope_start version="1" 7', b"cpu usage_idle=99 1", b"mem used=5i 2"]
    (counts,) = sink.of(b"batchscope_append")
    assert counts.startswith(b"batchscope_append lines=2i,too_long=0i,cut_off=1i,invalid_utf8=0i,dropped=0i,failed=0i ")
    assert sink.records == 4


def test_lines_are_handed_on_in_time_while_input_goes_on(pipes: tuple[int, int, int, int]) -> None:
    sink = opened()
    thread = threading.Thread(target=append(pipes, sink, flush=0.1).run)
    thread.start()
    os.write(pipes[1], b"cpu usage_idle=99 1\n")
    until = time.monotonic() + 5.0
    while not sink.lines and time.monotonic() < until:
        time.sleep(0.02)
    assert sink.of(b"cpu") == [b"cpu usage_idle=99 1"]
    os.close(pipes[1])
    thread.join(5)


def test_much_input_is_handed_on_before_its_time(pipes: tuple[int, int, int, int]) -> None:
    sink = opened()
    thread = threading.Thread(target=append(pipes, sink, batch=100).run)
    thread.start()
    for number in range(20):
        os.write(pipes[1], b"cpu usage_idle=99,number=%di 1\n" % number)
        time.sleep(0.005)
    os.close(pipes[1])
    thread.join(5)
    assert len(sink.lines) > 1
    assert len(sink.of(b"cpu")) == 20


def test_after_a_signal_the_lines_that_still_come_are_read(pipes: tuple[int, int, int, int]) -> None:
    sink = opened()
    thread = threading.Thread(target=append(pipes, sink).run)
    thread.start()
    os.write(pipes[3], b"\x0f")
    time.sleep(0.2)
    os.write(pipes[1], b"cpu usage_idle=1 1\n")
    os.close(pipes[1])
    thread.join(5)
    assert sink.of(b"cpu") == [b"cpu usage_idle=1 1"]


def test_after_a_signal_it_ends_within_seconds_even_if_input_stays_open(pipes: tuple[int, int, int, int]) -> None:
    sink, begin = opened(), time.monotonic()
    os.write(pipes[1], b"cpu usage_idle=1 1\n")
    os.write(pipes[3], b"\x0f")
    append(pipes, sink).run()
    assert 1.9 < time.monotonic() - begin < 4.0
    assert sink.of(b"cpu") == [b"cpu usage_idle=1 1"]


def test_a_stalled_sink_blocks_once_and_costs_counted_lines() -> None:
    sink = Kept()
    delivery = Delivery(sink, lambda _: None, max_pending=100, max_wait=0.2)
    assert delivery.offer(b"a" * 90, 3)
    begin = time.monotonic()
    assert not delivery.offer(b"b" * 90, 5)
    assert not delivery.offer(b"c" * 90, 7)
    assert 0.2 <= time.monotonic() - begin < 0.39
    sink.gate.set()
    assert delivery.close(5)
    assert (delivery.dropped, sink.records) == (12, 3)


def test_a_sink_that_recovers_takes_lines_again() -> None:
    sink = Kept()
    delivery = Delivery(sink, lambda _: None, max_pending=10, max_wait=0.01)
    delivery.offer(b"a" * 9, 1)
    assert not delivery.offer(b"b" * 9, 1)
    sink.gate.set()
    until = time.monotonic() + 5.0
    while not delivery.offer(b"c", 1) and time.monotonic() < until:
        time.sleep(0.01)
    assert delivery.close(5)
    assert sink.lines == [b"a" * 9, b"c"]


def test_what_a_stalled_sink_holds_up_at_the_end_is_counted() -> None:
    sink = Kept()
    delivery = Delivery(sink, lambda _: None)
    delivery.offer(b"a", 1)
    time.sleep(0.05)
    delivery.offer(b"b", 4)
    assert not delivery.close(0.05)
    assert delivery.dropped == 4
    sink.gate.set()


def test_a_failing_sink_is_logged_once_and_counted() -> None:
    log = list[str]()
    delivery = Delivery(Broken(), log.append)
    delivery.offer(b"a", 1)
    delivery.offer(b"b", 2)
    assert delivery.close(5)
    assert delivery.failed == 3
    assert log == ["Lines can't be kept for upload: OSError: [Errno 28] No space left for 1 records in b'a'."]


@pytest.mark.parametrize("request_", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_makes_the_descriptor_readable(request_: signal.Signals) -> None:
    before = signal.getsignal(request_)
    with StopSignals() as stop:
        os.kill(os.getpid(), request_)
        assert os.read(stop, 8) == bytes([request_])
    assert signal.getsignal(request_) == before
