"""Startup record of the times that Batch's own node agent notes in its debug log, where it can be read.

The log's form isn't documented and may change; then the record only says that the log is there. Its lines also contain
signatures, so nothing but digits is taken from them. Pool and node are left out: Batch's variables name them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.machine.machine import Machine
from agent.records.record import Record
from agent.startup.boot import iso
from agent.startup.once import once

_PATHS = ("/mnt/batch/sys/logs/agent-debug.log", "/mnt/resource/batch/sys/logs/agent-debug.log")
_TIMES = {"batch_allocation_time": b"TVMAllocationTime", "batch_boot_time": b"TVMBootTime"}
_TICKS, _TICK = 116_444_736_000_000_000, 100  # Win32's time: ticks from 1601 to 1970, and nanoseconds per tick
_DIGITS = 18  # of ticks between 1917 and 4769


def batch_agent_records(machine: Machine) -> Iterable[Record]:
    """Yields `batch_agent_data` with the node's times of allocation and start; nothing without a readable log.

    The log's beginning is read, which has them.
    """
    for path in _PATHS:
        try:
            log = machine.content(path)
        except OSError:
            continue
        times = {field: _moment(log, name) for field, name in _TIMES.items()}
        yield once("batch_agent_data", {"batch_log_found": "true", **times})
        return


def _moment(log: bytes, name: bytes) -> str | None:
    """Returns the first time of a name in ISO 8601, from a JSON text or a Python literal."""
    found = re.search(rb"[\"']" + name + rb"[\"']: ?[\"']?(\d{%d})(?!\d)" % _DIGITS, log)
    return iso((int(found[1]) - _TICKS) * _TICK) if found else None
