"""Structures of NVML in C's layout (the same on x64 and arm64), and its numbers for fields and kinds."""

from __future__ import annotations

import ctypes
from typing import Tuple

ALL_LINKS = 0xFFFFFFFF
"""The scope that sums an NVLink field over all links."""
NOT_AVAILABLE = 0xFFFFFFFFFFFFFFFF
"""The memory of a process that the driver can't name."""
CLOCK_SM, CLOCK_MEMORY = 1, 2
CORRECTED, UNCORRECTED = 0, 1
VOLATILE, AGGREGATE = 0, 1
MEMORIES = {"dram": 2, "sram": 7}
_MEMBERS = ("real", "u32", "ulong", "u64", "s64", "s32", "u16")  # in the order of NVML's value types


class Memory(ctypes.Structure):
    """Memory in bytes, as drivers before 510 return it."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class MemoryV2(ctypes.Structure):
    """Memory in bytes; `used` excludes the memory that the driver reserves."""

    _fields_ = (
        ("version", ctypes.c_uint),
        ("total", ctypes.c_ulonglong),
        ("reserved", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class Utilization(ctypes.Structure):
    """Percentages of the driver's last sample period."""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Value(ctypes.Union):
    _fields_ = (
        ("real", ctypes.c_double),
        ("s32", ctypes.c_int),
        ("u32", ctypes.c_uint),
        ("ulong", ctypes.c_ulong),
        ("u64", ctypes.c_ulonglong),
        ("s64", ctypes.c_longlong),
        ("u16", ctypes.c_ushort),
    )


class FieldValue(ctypes.Structure):
    """A field that is asked for by its number and scope; its value counts only where `code` is success."""

    _fields_ = (
        ("field", ctypes.c_uint),
        ("scope", ctypes.c_uint),
        ("timestamp", ctypes.c_longlong),
        ("latency", ctypes.c_longlong),
        ("kind", ctypes.c_uint),
        ("code", ctypes.c_uint),
        ("value", _Value),
    )

    def whole(self) -> int | None:
        """Returns the value as a whole number, None where there is none."""
        if self.code or self.kind >= len(_MEMBERS):
            return None
        value = getattr(self.value, _MEMBERS[self.kind])
        return int(value) if abs(value) < 1 << 64 else None


class ProcessV1(ctypes.Structure):
    """A process as drivers before 460 return it; memory in bytes."""

    _fields_ = (("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong))


class ProcessV2(ctypes.Structure):
    """A process of a GPU or a MIG instance; memory in bytes."""

    _fields_ = (*ProcessV1._fields_, ("instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint))


class ProcessSample(ctypes.Structure):
    """Percentages of a process in one sample period; the time is in microseconds of the driver's clock."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("time", ctypes.c_ulonglong),
        ("sm", ctypes.c_uint),
        ("memory", ctypes.c_uint),
        ("encoder", ctypes.c_uint),
        ("decoder", ctypes.c_uint),
    )


FieldKey = Tuple[int, int]
"""A field's number and its scope, 0 where it has none."""


def version_of(structure: type[ctypes.Structure], version: int) -> int:
    """Returns the number by which NVML recognizes a version of a structure: its size, and the version above it."""
    return ctypes.sizeof(structure) | version << 24
