"""NVIDIA's management library, called by ctypes: only the functions that the agent needs, each of which may be missing.

All calls raise NvmlError with the library's code; a function that an old driver lacks answers FUNCTION_NOT_FOUND.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Tuple

from agent.collectors.collector import UnsupportedError
from agent.devices.nvml_codes import FUNCTION_NOT_FOUND, INSUFFICIENT_SIZE, SUCCESS, NvmlError
from agent.devices.nvml_structures import (
    FieldKey,
    FieldValue,
    Memory,
    MemoryV2,
    ProcessSample,
    ProcessV1,
    ProcessV2,
    Utilization,
    version_of,
)

SONAME = "libnvidia-ml.so.1"
FOLDERS = (
    "", "/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/", "/usr/lib64/nvidia/", "/usr/lib/",
    "/usr/local/nvidia/lib64/", "/usr/local/lib/", "/usr/lib/wsl/lib/",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/", "/run/nvidia/driver/usr/lib/aarch64-linux-gnu/",
)  # fmt: skip
"""Where drivers install it; the empty one leaves the search to the loader."""
MAX_ENTRIES = 8192
"""Entries of a list of processes or samples; longer ones cost their GPU's list."""
_FIRST_ENTRIES = 128
_TEXT = 96
_MEMORY_VERSION = version_of(MemoryV2, 2)

Handle = ctypes.c_void_p
Bytes = Tuple[int, int, int, int]


def library_paths() -> tuple[str, ...]:
    """Returns the paths at which the library is looked for, in order."""
    return tuple(folder + SONAME for folder in FOLDERS)


class Nvml:
    """The library's functions. Names are those of NVML without `nvmlDeviceGet`; numbers are whole."""

    def __init__(self, paths: Iterable[str] | None = None) -> None:
        self._library = _loaded(library_paths() if paths is None else paths)
        self._functions: dict[str, Callable[..., int] | None] = {}

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function by its whole name. Raises NvmlError."""
        if name not in self._functions:
            self._functions[name] = getattr(self._library, name, None)
        function = self._functions[name]
        code = FUNCTION_NOT_FOUND if function is None else function(*arguments)
        if code != SUCCESS:
            raise NvmlError(code)

    def open(self) -> None:
        """Begins a session with the driver; each needs a `close`."""
        self._newest("nvmlInit", ("_v2", ""))

    def close(self) -> None:
        """Ends a session."""
        self.call("nvmlShutdown")

    def count(self) -> int:
        """Returns how many GPUs the driver knows, lost ones included."""
        number = ctypes.c_uint()
        self._newest("nvmlDeviceGetCount", ("_v2", ""), ctypes.byref(number))
        return number.value

    def handle(self, index: int) -> Handle:
        """Returns a GPU's handle, which is good until the session ends."""
        handle = Handle()
        self._newest("nvmlDeviceGetHandleByIndex", ("_v2", ""), ctypes.c_uint(index), ctypes.byref(handle))
        return handle

    def mig_handle(self, gpu: Handle, index: int) -> Handle:
        """Returns the handle of a GPU's MIG device. Raises NvmlError, NOT_FOUND where there is none of that index."""
        handle = Handle()
        self.call("nvmlDeviceGetMigDeviceHandleByIndex", gpu, ctypes.c_uint(index), ctypes.byref(handle))
        return handle

    def number(self, name: str, gpu: Handle, *selectors: int) -> int:
        """Returns the number of 32 bits that a function has for a GPU, of a kind where it has several."""
        return self.numbers(name, gpu, *selectors, count=1)[0]

    def numbers(self, name: str, gpu: Handle, *selectors: int, count: int) -> list[int]:
        """Returns several numbers of 32 bits of one call."""
        found = [ctypes.c_uint() for _ in range(count)]
        self.call(f"nvmlDeviceGet{name}", gpu, *map(ctypes.c_uint, selectors), *map(ctypes.byref, found))
        return [one.value for one in found]

    def large(self, name: str, gpu: Handle, *selectors: int) -> int:
        """Returns a number of 64 bits."""
        found = ctypes.c_ulonglong()
        self.call(f"nvmlDeviceGet{name}", gpu, *map(ctypes.c_uint, selectors), ctypes.byref(found))
        return found.value

    def text(self, name: str, gpu: Handle) -> str:
        """Returns a text of at most 95 bytes."""
        buffer = ctypes.create_string_buffer(_TEXT)
        self.call(f"nvmlDeviceGet{name}", gpu, buffer, ctypes.c_uint(_TEXT))
        return buffer.value.decode("utf-8", "replace")

    def driver_version(self) -> str:
        """Returns the driver's version."""
        buffer = ctypes.create_string_buffer(_TEXT)
        self.call("nvmlSystemGetDriverVersion", buffer, ctypes.c_uint(_TEXT))
        return buffer.value.decode("utf-8", "replace")

    def memory(self, gpu: Handle) -> Bytes:
        """Returns total, used, free and reserved bytes; old drivers count reserved ones as used."""
        try:
            new = MemoryV2(version=_MEMORY_VERSION)
            self.call("nvmlDeviceGetMemoryInfo_v2", gpu, ctypes.byref(new))
        except NvmlError as error:
            if not error.is_absent:
                raise
            old = Memory()
            self.call("nvmlDeviceGetMemoryInfo", gpu, ctypes.byref(old))
            return old.total, old.used, old.free, 0
        return new.total, new.used, new.free, new.reserved

    def utilization(self, gpu: Handle) -> tuple[int, int]:
        """Returns percentages of time in which kernels ran and in which memory was read or written."""
        found = Utilization()
        self.call("nvmlDeviceGetUtilizationRates", gpu, ctypes.byref(found))
        return found.gpu, found.memory

    def field_values(self, gpu: Handle, keys: Sequence[FieldKey]) -> list[int | None]:
        """Returns the values of fields in one call, None for each that the GPU lacks."""
        asked = (FieldValue * len(keys))(*(FieldValue(field, scope) for field, scope in keys))
        self.call("nvmlDeviceGetFieldValues", gpu, ctypes.c_int(len(keys)), asked)
        return [one.whole() for one in asked]

    def processes(self, name: str, gpu: Handle) -> list[tuple[int, int]]:
        """Returns pid and bytes of each process of a kind: Compute, Graphics or MPSCompute."""
        function = f"nvmlDeviceGet{name}RunningProcesses"
        for suffix in ("_v3", "_v2"):
            try:
                found = self._listed(function + suffix, ProcessV2, gpu)
            except NvmlError as error:
                if error.code != FUNCTION_NOT_FOUND:
                    raise
            else:
                return [(one.pid, one.memory) for one in found]
        return [(one.pid, one.memory) for one in self._listed(function, ProcessV1, gpu)]

    def process_samples(self, gpu: Handle, since: int) -> list[tuple[int, int, int]]:
        """Returns pid, the driver's time in microseconds and SM utilization in percent of samples after `since`."""
        found = self._listed(
            "nvmlDeviceGetProcessUtilization", ProcessSample, gpu, ctypes.c_ulonglong(since), last=True
        )
        return [(one.pid, one.time, one.sm) for one in found]

    def _newest(self, name: str, suffixes: Sequence[str], *arguments: object) -> None:
        """Calls the newest version of a function that the driver has."""
        for suffix in suffixes[:-1]:
            try:
                return self.call(name + suffix, *arguments)
            except NvmlError as error:
                if error.code != FUNCTION_NOT_FOUND:
                    raise
        return self.call(name + suffixes[-1], *arguments)

    def _listed(
        self, name: str, structure: type[ctypes.Structure], gpu: Handle, *more: object, last: bool = False
    ) -> list[ctypes.Structure]:
        """Returns a list of structures, asked for again with more room where it was too small.

        NVML puts the size before the list, or after it with `last`.
        """
        room = _FIRST_ENTRIES
        while True:
            entries, size = (structure * room)(), ctypes.c_uint(room)
            order = (entries, ctypes.byref(size)) if last else (ctypes.byref(size), entries)
            try:
                self.call(name, gpu, *order, *more)
                return list(entries)[: size.value]
            except NvmlError as error:
                room = max(2 * room, size.value + 8)
                if error.code != INSUFFICIENT_SIZE or room > MAX_ENTRIES:
                    raise


def _loaded(paths: Iterable[str]) -> ctypes.CDLL:
    for path in paths:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise UnsupportedError(f"The NVIDIA driver's library {SONAME} isn't on this node, or its C library is another one.")
