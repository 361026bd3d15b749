"""NVIDIA GPUs as Telegraf's `nvidia_smi`, and as `batchscope_gpu` for further figures.

Errors, limits, links and modes are read at every sixth call only. A GPU that is lost costs its own records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.collectors.collector import UnsupportedError
from agent.devices.gpu_values import GpuErrors, errors_of
from agent.devices.nvidia_mig import mig_records
from agent.devices.nvidia_queries import AS_TAGS, OFTEN, OWN, RARELY, Query
from agent.devices.nvml import Nvml
from agent.devices.nvml_codes import NvmlError
from agent.devices.nvml_session import Gpu, NvmlSession
from agent.records.record import Record, Value

MEASUREMENT, OWN_MEASUREMENT = "nvidia_smi", "batchscope_gpu"
_CALLS_BETWEEN_RARE = 6


class GpuReader:
    """Reads one GPU, without the values that it reported as unsupported."""

    def __init__(self, nvml: Nvml, gpu: Gpu) -> None:
        self._nvml = nvml
        self._gpu = gpu
        self._absent: set[str] = set()
        self._kept: dict[str, Value] = {}

    def read(self, *, rarely: bool) -> dict[str, Value]:
        """Returns the fields of a GPU, tags among them. Raises NvmlError where it is lost or the session ended."""
        fields: dict[str, Value] = {}
        for query in (*OFTEN, *RARELY) if rarely else OFTEN:
            fields.update(self._answer(query))
        self._kept.update((name, fields[name]) for name in (*AS_TAGS, "mig_enabled") if name in fields)
        return {**self._kept, **fields}

    def _answer(self, query: Query) -> dict[str, Value]:
        if query.name in self._absent:
            return {}
        try:
            return dict(query.read(self._nvml, self._gpu.handle))
        except NvmlError as error:
            if error.is_lost or error.ends_session:
                raise
            if error.is_absent:
                self._absent.add(query.name)
            return {}


class NvidiaGpus:
    """The collector of NVIDIA GPUs. `interval` is in seconds."""

    name = "nvidia"

    def __init__(self, session: NvmlSession, interval: float = 10.0) -> None:
        self.interval = interval
        self._session = session
        self._readers: dict[int, GpuReader] = {}
        self._errors: dict[int, GpuErrors] = {}
        self._generation = -1
        self._calls = 0
        try:
            found = session.gpus() or session.unreachable
        except NvmlError as error:
            raise UnsupportedError(f"The NVIDIA driver doesn't answer: {error}") from error
        if not found:
            raise UnsupportedError("The NVIDIA driver has no GPU on this node.")

    def collect(self, now: int) -> Iterable[Record]:
        """Returns the records of all GPUs that answer. Raises NvmlError while the driver is away."""
        gpus = self._session.gpus()
        if self._generation != self._session.generation:
            self._generation, self._readers = self._session.generation, {}
            self._lose(self._session.unreachable)
        rarely, self._calls = self._calls % _CALLS_BETWEEN_RARE == 0, self._calls + 1
        return [record for gpu in gpus for record in self._records(gpu, rarely=rarely)]

    def errors(self) -> tuple[GpuErrors, ...]:
        """Returns each GPU's errors as of the last call, lost GPUs included."""
        return tuple(self._errors[index] for index in sorted(self._errors))

    def _records(self, gpu: Gpu, *, rarely: bool) -> Iterable[Record]:
        try:
            if gpu.number not in self._readers:
                self._readers[gpu.number], rarely = GpuReader(self._session.nvml, gpu), True
            fields = self._readers[gpu.number].read(rarely=rarely)
            records = list(self._described(gpu, fields))
        except NvmlError as error:
            self._session.report(error)
            self._lose({gpu.number: error}, gpu)
            return ()
        if rarely or self._is_lost(gpu.number):
            self._errors[gpu.number] = errors_of(gpu.number, gpu.tags, fields)
        return records

    def _described(self, gpu: Gpu, fields: dict[str, Value]) -> Iterator[Record]:
        tags = {**gpu.tags, **{name: str(fields.pop(name)) for name in AS_TAGS if name in fields}}
        own = {name: fields.pop(name) for name in OWN if name in fields}
        yield Record(MEASUREMENT, fields, tags)
        yield Record(OWN_MEASUREMENT, {name: own[name] for name in sorted(own)}, gpu.tags)
        if own.get("mig_enabled"):
            yield from mig_records(self._session.nvml, gpu.handle, tags)

    def _is_lost(self, index: int) -> bool:
        return index in self._errors and bool(self._errors[index].lost)

    def _lose(self, lost: dict[int, NvmlError], gpu: Gpu | None = None) -> None:
        for index, error in lost.items():
            known = self._errors.get(index) or errors_of(index, gpu.tags if gpu else {}, {})
            self._errors[index] = known._replace(lost=error.name)
