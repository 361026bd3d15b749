"""GPU memory and utilization of single processes, as NVML has them. Pids are those of the node.

Utilization is the mean of the driver's samples since the last call; a GPU in MIG mode has none. A process on several
GPUs has the sum of all, so two busy GPUs are 200 percent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TypeVar

from agent.devices.gpu_values import GpuUse
from agent.devices.nvidia_mig import mig_devices
from agent.devices.nvml import Handle
from agent.devices.nvml_codes import NvmlError
from agent.devices.nvml_session import Gpu, NvmlSession
from agent.devices.nvml_structures import NOT_AVAILABLE

_Number = TypeVar("_Number", int, float)
_KINDS = ("Compute", "Graphics", "MPSCompute")
_MAX_PID = 1 << 22  # a driver of another layout returns nonsense
_MAX_PERCENT = 100


class GpuProcesses:
    """Returns the use of each process at a call; a GPU or driver that doesn't answer has none."""

    def __init__(self, session: NvmlSession) -> None:
        self._session = session
        self._since: dict[int, int] = {}

    def __call__(self) -> dict[int, GpuUse]:
        memory: dict[int, int] = {}
        percent: dict[int, float] = {}
        for gpu in self._gpus():
            try:
                _add(memory, self._memory(gpu))
                _add(percent, self._utilization(gpu))
            except NvmlError as error:
                self._session.report(error)
        return {pid: GpuUse(memory.get(pid), percent.get(pid)) for pid in {*memory, *percent}}

    def _gpus(self) -> tuple[Gpu, ...]:
        try:
            return self._session.gpus()
        except NvmlError:
            return ()

    def _memory(self, gpu: Gpu) -> dict[int, int]:
        """Returns bytes by pid: of the GPU's MIG devices where it has some, else of the GPU."""
        parts = []
        with suppress(NvmlError):
            parts = [handle for _, handle in mig_devices(self._session.nvml, gpu.handle)]
        found: dict[int, int] = {}
        for handle in parts or [gpu.handle]:
            _add(found, self._memory_of(handle))
        return found

    def _memory_of(self, handle: Handle) -> dict[int, int]:
        found: dict[int, int] = {}
        for pid, size in self._listed(handle):
            if 0 < pid <= _MAX_PID and size != NOT_AVAILABLE:
                found[pid] = max(size, found.get(pid, 0))  # of one process, each kind names the whole
        return found

    def _listed(self, handle: Handle) -> Iterator[tuple[int, int]]:
        for kind in _KINDS:
            try:
                yield from self._session.nvml.processes(kind, handle)
            except NvmlError as error:
                if error.is_lost or error.ends_session:
                    raise

    def _utilization(self, gpu: Gpu) -> dict[int, float]:
        try:
            samples = self._session.nvml.process_samples(gpu.handle, self._since.get(gpu.number, 0))
        except NvmlError as error:  # NOT_FOUND: no process ran
            if error.is_lost or error.ends_session:
                raise
            return {}
        self._since[gpu.number] = max([self._since.get(gpu.number, 0), *(time for _, time, _ in samples)])
        taken: dict[int, list[int]] = {}
        for pid, _, percent in samples:
            if 0 < pid <= _MAX_PID and percent <= _MAX_PERCENT:
                taken.setdefault(pid, []).append(percent)
        return {pid: sum(values) / len(values) for pid, values in taken.items()}


def _add(totals: dict[int, _Number], more: Mapping[int, _Number]) -> None:
    for pid, value in more.items():
        totals[pid] = totals[pid] + value if pid in totals else value
