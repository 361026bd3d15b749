"""CUDA's driver API, called by ctypes: memory, copies and one kernel on the first GPU. Each call raises CudaError."""

from __future__ import annotations

import ctypes
import time
import uuid
from contextlib import suppress

from agent.devices.nvml import FOLDERS
from local.prove.gpu.kernel import BLOCKS_PER_PROCESSOR, HEADS, NAME, THREADS, ptx

SONAME = "libcuda.so.1"
MEBI = 1 << 20
_PROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
_NAME_BYTES = 100
Address = ctypes.c_ulonglong


class CudaError(Exception):
    """The driver refused a call, or its library isn't there."""


class Cuda:
    """A context on the first GPU, with the kernel loaded."""

    def __init__(self) -> None:
        self._library = _loaded()
        self._device = ctypes.c_int()
        self.call("cuInit", ctypes.c_uint(0))
        self.call("cuDeviceGet", ctypes.byref(self._device), ctypes.c_int(0))
        self._context = ctypes.c_void_p()
        self.call("cuCtxCreate_v2", ctypes.byref(self._context), ctypes.c_uint(0), self._device)
        self._module = ctypes.c_void_p()
        self.ptx = self._load()
        self._kernel = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(self._kernel), self._module, NAME)
        self._processors = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(self._processors), ctypes.c_int(_PROCESSORS), self._device)
        self._out = self.allocate(4096)

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function by its whole name. Raises CudaError."""
        function = getattr(self._library, name, None)
        if function is None:
            raise CudaError(f"{SONAME} lacks {name}.")
        code = function(*arguments)
        if code:
            text = ctypes.c_char_p()
            self._library.cuGetErrorName(ctypes.c_int(code), ctypes.byref(text))
            raise CudaError(f"{name} answered {(text.value or b'?').decode()} ({code}).")

    def facts(self) -> dict[str, str | int]:
        """Returns the GPU's name, UUID, bytes of memory, number of multiprocessors, and the API's version."""
        name, identity = ctypes.create_string_buffer(_NAME_BYTES), ctypes.create_string_buffer(16)
        total, version = ctypes.c_size_t(), ctypes.c_int()
        self.call("cuDeviceGetName", name, ctypes.c_int(_NAME_BYTES), self._device)
        self.call("cuDeviceGetUuid", identity, self._device)
        self.call("cuDeviceTotalMem_v2", ctypes.byref(total), self._device)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return {
            "name": name.value.decode("utf-8", "replace"),
            "uuid": f"GPU-{uuid.UUID(bytes=identity.raw)}",
            "total": total.value,
            "processors": self._processors.value,
            "cuda": version.value,
            "ptx": self.ptx,
        }

    def allocate(self, size: int) -> Address:
        """Returns the address of new memory on the GPU, of `size` bytes."""
        address = Address()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def free(self, address: Address) -> None:
        self.call("cuMemFree_v2", address)

    def memory(self) -> tuple[int, int]:
        """Returns free and total bytes of the GPU, as CUDA has them."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def burn(self, seconds: float) -> float:
        """Keeps the whole GPU busy; returns how long the host waited, in seconds."""
        nanoseconds = ctypes.c_ulonglong(int(seconds * 1e9))
        pointers = (ctypes.c_void_p * 2)(ctypes.addressof(self._out), ctypes.addressof(nanoseconds))
        grid = (self._processors.value * BLOCKS_PER_PROCESSOR, 1, 1, THREADS, 1, 1, 0)
        begin = time.monotonic()
        self.call("cuLaunchKernel", self._kernel, *map(ctypes.c_uint, grid), None, pointers, None)
        self.call("cuCtxSynchronize")
        return time.monotonic() - begin

    def close(self) -> None:
        self.call("cuCtxDestroy_v2", self._context)

    def _load(self) -> str:
        """Loads the kernel with the first head that the driver takes, and returns that head."""
        errors = []
        for head in HEADS:
            error = self._error_of_loading(head)
            if not error:
                return "{}.{} sm_{}".format(*head)
            errors.append(error)
        raise CudaError(" ".join(errors))

    def _error_of_loading(self, head: tuple[int, int, int]) -> str:
        try:
            self.call("cuModuleLoadData", ctypes.byref(self._module), ptx(*head))
        except CudaError as error:
            return str(error)
        return ""


def _loaded() -> ctypes.CDLL:
    for folder in FOLDERS:
        with suppress(OSError):
            return ctypes.CDLL(folder + SONAME)
    raise CudaError(f"{SONAME} isn't on this node.")
