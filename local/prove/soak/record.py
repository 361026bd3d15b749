"""The observations of a soak as a file, so that a run of two hours can be judged again without repeating it."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from local.prove.soak.judging import Finding, judge_failures, judge_memory, judge_rates, judge_tables
from local.prove.soak.watching import Observations


class Record(msgspec.Struct, kw_only=True):
    """A finished soak of `minutes`, at requested rates of `blobs` per minute and `queries` per second.

    `version` and `command` identify the run; `notes` are figures without a verdict.
    """

    began: datetime
    version: str
    command: str
    minutes: float
    blobs: float
    queries: float
    seen: Observations
    written: int
    asked: int
    failed: int
    defects: int
    notes: Sequence[tuple[str, str]]

    def save(self, path: Path) -> None:
        path.write_bytes(msgspec.json.encode(self))


def load_record(path: Path) -> Record:
    """Reads a record. Raises OSError, or msgspec.DecodeError if the file isn't one."""
    return msgspec.json.decode(path.read_bytes(), type=Record)


def findings_of(record: Record) -> list[Finding]:
    """Returns all verdicts on a soak."""
    return [
        *(finding for host, series in record.seen.memory.items() for finding in judge_memory(host, series)),
        *judge_tables(record.seen.looks),
        *judge_failures(record.failed, record.asked, record.defects),
        judge_rates("blobs written", record.written, record.blobs * record.minutes),
        judge_rates("questions answered", record.asked, record.queries * record.minutes * 60),
    ]
