"""Startup records of when the kernel started, and whether by EFI."""

from __future__ import annotations

import time
from collections.abc import Iterable

from agent.machine.machine import Machine
from agent.records.record import Record
from agent.startup.once import once

_BILLION = 1_000_000_000
_MAX_DIGITS = 11  # of seconds
_MAX_DIFFERENCE = 2 * _BILLION  # of the kernel's two figures; btime has whole seconds, and clocks are set


def boot_time(machine: Machine, now: int) -> int | None:
    """Returns when the kernel started, in nanoseconds since 1970 by today's clock; None where it isn't known.

    It follows from the clock and /proc/uptime, which has hundredths of a second. Where that doesn't agree with `btime`
    of /proc/stat, as in containers with an uptime of their own, the time is that of `btime`, in whole seconds.
    """
    rough, uptime = _btime(machine), seconds_up(machine)
    fine = None if uptime is None else now - int(uptime * _BILLION)
    if rough is None or fine is None:
        return rough if fine is None else fine
    return fine if abs(fine - rough) <= _MAX_DIFFERENCE else rough


def seconds_up(machine: Machine) -> float | None:
    """Returns seconds since the kernel's start, from /proc/uptime; None where it can't be read."""
    try:
        uptime = float(machine.optional_text("/proc/uptime").split()[0])
    except (ValueError, IndexError):
        return None
    return uptime if 0 <= uptime < _BILLION else None


def boot_records(machine: Machine, now: int) -> Iterable[Record]:
    """Yields `linux_boot` where the time is known, and `batch_vm_info`; times are ISO 8601 with nanoseconds."""
    booted = boot_time(machine, now)
    if booted is not None:
        yield once("linux_boot", {"iso_boot_timestamp": iso(booted), "collection_iso_timestamp": iso(now)})
    yield once("batch_vm_info", {"vm_has_system_efi": str(machine.exists("/sys/firmware/efi")).lower()})


def iso(moment: int) -> str:
    """Returns a moment in nanoseconds since 1970 in ISO 8601, in UTC; it must lie before the year 10000."""
    seconds, fraction = divmod(moment, _BILLION)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{fraction:09d}Z"


def _btime(machine: Machine) -> int | None:
    for line in machine.optional_text("/proc/stat").splitlines():
        name, _, value = line.partition(" ")
        if name == "btime":
            return int(value) * _BILLION if value.isdecimal() and len(value) <= _MAX_DIGITS else None
    return None
