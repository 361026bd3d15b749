"""Errors of NVIDIA GPUs in the kernel's log (Xid), with the meaning of those that matter to tasks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from agent.events.event import LOG_RECORD, event
from agent.events.kernel_log import KernelRecord
from agent.events.oom_kills import TaskOf
from agent.records.record import Record, Value

KIND = "gpu_xid"
MAX_EVENTS = 50
"""Events of one poll; a failing GPU may write thousands of lines."""
_XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?(?P<device>[0-9A-Fa-f:.]{4,20})(?: GPU-C?I:\d{1,3}){0,2}\)?[^:]*: (?P<xid>\d{1,4})\b"
)
_PID = re.compile(r"\bpid='?(\d{1,10})\b")
_MEANINGS = {
    13: "a graphics engine exception, mostly an error of the program",
    31: "a memory page fault, mostly an error of the program",
    43: "the program's channel was stopped",
    45: "the program's channels were removed",
    48: "a double-bit ECC error",
    61: "an internal microcontroller error",
    62: "an internal microcontroller halt",
    63: "a memory row or page was marked for remapping",
    64: "a memory row or page couldn't be remapped",
    74: "an NVLink error",
    79: "the GPU has fallen off the bus",
    92: "a high rate of corrected ECC errors",
    94: "a contained ECC error",
    95: "an uncontained ECC error",
    119: "the GPU's system processor doesn't answer",
    120: "an error of the GPU's system processor",
    140: "an unrecovered ECC error",
}


class Xid(NamedTuple):
    """An error of a GPU; `process` is 0 where the log names none."""

    device: str
    number: int
    process: int


def xid_of(record: KernelRecord) -> Xid | None:
    """Returns the error that a record reports, None for other records."""
    found = _XID.search(record.text)
    if found is None:
        return None
    process = _PID.search(record.text, found.end())
    return Xid(found["device"].strip("."), int(found["xid"]), int(process[1]) if process else 0)


def xid_events(found: Iterable[tuple[Xid, str, int]], task_of: TaskOf) -> Iterable[Record]:
    """Yields one event for equal errors of one poll, found with the log's record and its nanosecond since 1970.

    Fields: `xid`, `device` (PCI address), `count`, and `pid` where the log names a process.
    """
    first: dict[Xid, tuple[str, int]] = {}
    counts: dict[Xid, int] = {}
    for xid, record, time in found:
        first.setdefault(xid, (record, time))
        counts[xid] = counts.get(xid, 0) + 1
    for xid, (record, time) in list(first.items())[:MAX_EVENTS]:
        yield _event(xid, {"count": counts[xid], LOG_RECORD: record}, task_of, time)


def _event(xid: Xid, more: dict[str, Value], task_of: TaskOf, time: int) -> Record:
    fields: dict[str, Value] = {"xid": xid.number, "device": xid.device, **more}
    if xid.process:
        fields["pid"] = xid.process
    meaning = _MEANINGS.get(xid.number, "see NVIDIA's list of Xid errors")
    message = f"GPU {xid.device} reports Xid {xid.number}: {meaning}."
    return event(KIND, message, fields, task=task_of(xid.process) if xid.process else None, time=time)
