"""Lines from standard input to the uploader, as the program behind Telegraf's `outputs.execd`.

The lines are line protocol, or OTLP in JSON as the file exporter of the OpenTelemetry Collector writes it.

Telegraf waits while nobody reads its output, so that reading never waits for the uploader: lines that find no room
are dropped and counted. Telegraf closes standard input when it ends and kills the program five seconds later.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterable

from agent.machine.clock import Clock
from agent.records.line_protocol import line_of
from agent.records.record import Record
from agent.telegraf.delivery import Delivery
from agent.telegraf.lines import LineAssembler

MAX_BATCH = 1 << 20
"""Bytes of lines that are flushed early."""
DRAIN_GRACE = 2.0
"""Seconds of reading on after a signal: one for a whole process group comes before Telegraf's own last lines."""
CLOSE_GRACE = 2.5
"""Seconds that the last lines may take; with DRAIN_GRACE less than the five until Telegraf kills."""
MEASUREMENT = "batchscope_append"
_CHUNK = 1 << 16


class Append:
    """Reads lines from the descriptor `source` until it ends or `stop`, another descriptor, becomes readable.

    `flush` is in seconds: the longest time that a line waits before it is handed to `delivery`.
    """

    def __init__(
        self,
        source: int,
        stop: int,
        delivery: Delivery,
        clock: Clock,
        *,
        flush: float,
        max_batch: int = MAX_BATCH,
        log: Callable[[str], None],
    ) -> None:
        self._source = source
        self._stop = stop
        self._delivery = delivery
        self._clock = clock
        self._flush = flush
        self._max_batch = max_batch
        self._log = log
        self._lines = LineAssembler()
        self._batch: list[bytes] = []
        self._size = 0
        self._flush_due = clock.monotonic() + flush
        self._end_due: float | None = None

    def run(self, first: Iterable[Record] = ()) -> None:
        """Reads until the end and hands everything on; `first` are records of the agent's own, a session's startup."""
        self._take("".join(line_of(record, self._clock.now()) for record in first).encode("utf-8", "replace"))
        while not self._is_over() and self._read():
            if self._clock.monotonic() >= self._flush_due or self._size >= self._max_batch:
                self.flush()
        self._lines.finish()
        self.flush()
        if not self._delivery.close(CLOSE_GRACE):
            self._log("The last lines took too long to be kept for upload and are lost.")

    def flush(self) -> None:
        """Delivers the lines, with the counts of lines as the last record."""
        self._flush_due = self._clock.monotonic() + self._flush
        if not self._batch:
            return
        self._take(line_of(self._counts(), self._clock.now()).encode())
        lines, self._batch, self._size = b"".join(self._batch), [], 0
        self._delivery.offer(lines, lines.count(b"\n"))

    def _read(self) -> bool:
        """Waits for input until the next flush and takes it; returns False at its end."""
        due = self._flush_due if self._end_due is None else min(self._flush_due, self._end_due)
        watched = [self._source, self._stop] if self._end_due is None else [self._source]
        ready, _, _ = select.select(watched, (), (), max(due - self._clock.monotonic(), 0.0))
        if self._stop in ready:
            self._end_due = self._clock.monotonic() + DRAIN_GRACE
        if self._source not in ready:
            return True
        chunk = os.read(self._source, _CHUNK)
        self._take(self._lines.feed(chunk))
        return bool(chunk)

    def _is_over(self) -> bool:
        return self._end_due is not None and self._clock.monotonic() >= self._end_due

    def _take(self, lines: bytes) -> None:
        if lines:
            self._batch.append(lines)
            self._size += len(lines)

    def _counts(self) -> Record:
        counts = self._lines.counts
        return Record(
            MEASUREMENT,
            {
                "lines": counts.whole,
                "too_long": counts.too_long,
                "cut_off": counts.cut_off,
                "invalid_utf8": counts.invalid_utf8,
                "dropped": self._delivery.dropped,
                "failed": self._delivery.failed,
            },
        )
