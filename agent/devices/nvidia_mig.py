"""MIG devices of a GPU as records of Telegraf's `nvidia_smi_mig`, with memory in MiB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from agent.devices.nvml import Handle, Nvml
from agent.devices.nvml_codes import NvmlError
from agent.devices.nvml_structures import MEMORIES, UNCORRECTED, VOLATILE
from agent.records.record import Record, Value

MEASUREMENT = "nvidia_smi_mig"
MAX_DEVICES = 16
_MEBI = 1 << 20


def mig_devices(nvml: Nvml, gpu: Handle) -> Iterator[tuple[int, Handle]]:
    """Yields index and handle of a GPU's MIG devices. Raises NvmlError where the GPU is lost."""
    for index in range(min(nvml.number("MaxMigDeviceCount", gpu), MAX_DEVICES)):
        try:
            yield index, nvml.mig_handle(gpu, index)
        except NvmlError as error:
            if error.is_lost or error.ends_session:
                raise


def mig_records(nvml: Nvml, gpu: Handle, tags: Mapping[str, str]) -> Iterator[Record]:
    """Yields a record for each MIG device; `tags` are those of the GPU."""
    for index, handle in mig_devices(nvml, gpu):
        yield Record(MEASUREMENT, _fields(nvml, handle), {**tags, "index": str(index), **_instances(nvml, handle)})


def _instances(nvml: Nvml, handle: Handle) -> Mapping[str, str]:
    found = {}
    for tag, function in (("gpu_index", "GpuInstanceId"), ("compute_index", "ComputeInstanceId")):
        with suppress(NvmlError):
            found[tag] = str(nvml.number(function, handle))
    return found


def _fields(nvml: Nvml, handle: Handle) -> Mapping[str, Value]:
    fields: dict[str, Value] = {}
    with suppress(NvmlError):
        sizes = (size // _MEBI for size in nvml.memory(handle))
        fields.update(zip(("memory_fb_total", "memory_fb_used", "memory_fb_free", "memory_fb_reserved"), sizes))
    with suppress(NvmlError):
        errors = nvml.large("MemoryErrorCounter", handle, UNCORRECTED, VOLATILE, MEMORIES["sram"])
        fields["sram_uncorrectable"] = errors
    return fields
