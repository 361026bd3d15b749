"""The kernel's clock discipline, by the C library's adjtimex, which only reads it here."""

from __future__ import annotations

import ctypes
import os
from typing import Any, NamedTuple

_UNSYNCHRONIZED, _NANOSECONDS = 0x40, 0x2000  # STA_UNSYNC, STA_NANO
_ERROR = 5  # TIME_ERROR
_PPM = 65536.0


class Timex(ctypes.Structure):
    """`struct timex` of 64-bit Linux; `modes` of 0 changes nothing."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("frequency", ctypes.c_long),
        ("max_error", ctypes.c_long),
        ("estimated_error", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    )


class ClockState(NamedTuple):
    """How wrong the kernel takes its clock for, in seconds; `frequency` is its correction in parts per million."""

    offset: float
    max_error: float
    estimated_error: float
    frequency: float
    is_synchronized: bool


class KernelClock:
    """Reads the state of the kernel's clock; `library` is the C library."""

    def __init__(self, library: Any = None) -> None:
        self._library = ctypes.CDLL(None, use_errno=True) if library is None else library

    def state(self) -> ClockState:
        """Returns the state. Raises OSError where the system forbids it or the C library lacks it."""
        found = Timex()
        try:
            result = self._library.adjtimex(ctypes.byref(found))
        except AttributeError:
            raise OSError("The C library has no adjtimex.") from None
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        unit = 1e-9 if found.status & _NANOSECONDS else 1e-6
        return ClockState(
            offset=found.offset * unit,
            max_error=found.max_error * 1e-6,
            estimated_error=found.estimated_error * 1e-6,
            frequency=found.frequency / _PPM,
            is_synchronized=result != _ERROR and not found.status & _UNSYNCHRONIZED,
        )
