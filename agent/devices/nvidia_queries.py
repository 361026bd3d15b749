"""Queries of one GPU: each asks NVML for a few fields of Telegraf's `nvidia_smi`, or of our own `batchscope_gpu`.

Memory is in MiB, power in watts, clocks in MHz, throttled time in microseconds, as nvidia-smi has them. Bytes over PCIe
aren't measured: the driver's counters start again after 4 GiB, which PCIe 5 carries in 0.07 s, and NVML's own function
blocks for 20 ms a call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Mapping, NamedTuple

from agent.devices.nvml import Handle, Nvml
from agent.devices.nvml_codes import NOT_SUPPORTED, NvmlError
from agent.devices.nvml_structures import (
    AGGREGATE,
    ALL_LINKS,
    CLOCK_MEMORY,
    CLOCK_SM,
    CORRECTED,
    MEMORIES,
    UNCORRECTED,
    VOLATILE,
)
from agent.records.record import Value

Fields = Mapping[str, Value]
AS_TAGS = ("pstate", "compute_mode")
"""Fields that are tags of the record."""
OWN = frozenset((
    "energy_joules", "pcie_replays", "mig_enabled",
    "nvlink_transmit_bytes", "nvlink_receive_bytes", "nvlink_crc_errors", "nvlink_replay_errors",
    "nvlink_recovery_errors",
))  # fmt: skip
"""Fields of `batchscope_gpu`; all others are of `nvidia_smi`."""
MAX_LINKS = 36
_MEBI, _KIBI = 1 << 20, 1 << 10
_UNKNOWN_STATE = 32
_COMPUTE_MODES = {0: "Default", 1: "Exclusive_Thread", 2: "Prohibited", 3: "Exclusive_Process"}
_REASONS = {
    "gpu_idle": 0x1, "applications_clocks_setting": 0x2, "sw_power_cap": 0x4, "hw_slowdown": 0x8, "sync_boost": 0x10,
    "sw_thermal_slowdown": 0x20, "hw_thermal_slowdown": 0x40, "hw_power_brake_slowdown": 0x80,
}  # fmt: skip
_COUNTERS = "clocks_event_reasons_counters"
_OFTEN = {  # field, divisor
    "temperature_memory": (82, 1), "energy_joules": (83, 0), f"{_COUNTERS}_sw_power_cap": (74, 1000),
    f"{_COUNTERS}_sync_boost": (76, 1000), f"{_COUNTERS}_sw_therm_slowdown": (269, 1000),
    f"{_COUNTERS}_hw_therm_slowdown": (270, 1000), f"{_COUNTERS}_hw_power_brake": (271, 1000),
}  # fmt: skip
_TOTALS = {  # NVLink fields that the driver sums: field, scope, factor
    "nvlink_transmit_bytes": (138, ALL_LINKS, _KIBI), "nvlink_receive_bytes": (139, ALL_LINKS, _KIBI),
    "nvlink_crc_errors": (45, 0, 1), "nvlink_replay_errors": (52, 0, 1), "nvlink_recovery_errors": (59, 0, 1),
}  # fmt: skip
_LINK_COUNT = 91
_OF_LINKS = {  # fields of single links, where the driver has no sum
    "nvlink_transmit_bytes": 202, "nvlink_receive_bytes": 204, "nvlink_crc_errors": 163,
    "nvlink_replay_errors": 161, "nvlink_recovery_errors": 162,
}  # fmt: skip


class Query(NamedTuple):
    """One question to a GPU; `read` raises NvmlError."""

    name: str
    read: Callable[[Nvml, Handle], Fields]


def _utilization(nvml: Nvml, gpu: Handle) -> Fields:
    running, memory = nvml.utilization(gpu)
    return {"utilization_gpu": running, "utilization_memory": memory}


def _memory(nvml: Nvml, gpu: Handle) -> Fields:
    total, used, free, reserved = (size // _MEBI for size in nvml.memory(gpu))
    return {"memory_total": total, "memory_used": used, "memory_free": free, "memory_reserved": reserved}


def _power_limit(nvml: Nvml, gpu: Handle) -> Fields:
    """Returns the limit in force, the lowest of all; old drivers know only the one that was set."""
    try:
        limit = nvml.number("EnforcedPowerLimit", gpu)
    except NvmlError as error:
        if not error.is_absent:
            raise
        limit = nvml.number("PowerManagementLimit", gpu)
    return {"power_limit": limit / 1000}


def _reasons(nvml: Nvml, gpu: Handle) -> Fields:
    try:
        flags = nvml.large("CurrentClocksEventReasons", gpu)
    except NvmlError as error:
        if not error.is_absent:
            raise
        flags = nvml.large("CurrentClocksThrottleReasons", gpu)
    return {f"clocks_event_reasons_{name}": "Active" if flags & bit else "Not Active" for name, bit in _REASONS.items()}


def _state(nvml: Nvml, gpu: Handle) -> Fields:
    state = nvml.number("PerformanceState", gpu)
    return {"pstate": f"P{state}"} if state < _UNKNOWN_STATE else {}


def _often(nvml: Nvml, gpu: Handle) -> Fields:
    values = nvml.field_values(gpu, [(field, 0) for field, _ in _OFTEN.values()])
    return {
        name: value // divisor if divisor else value / 1000
        for (name, (_, divisor)), value in zip(_OFTEN.items(), values)
        if value is not None
    }


def _ecc(nvml: Nvml, gpu: Handle) -> Fields:
    return {
        f"ecc_errors_{kind}_{period}_total": nvml.large("TotalEccErrors", gpu, error, counter)
        for period, counter in (("volatile", VOLATILE), ("aggregate", AGGREGATE))
        for kind, error in (("corrected", CORRECTED), ("uncorrected", UNCORRECTED))
    }


def _ecc_of(memory: str, nvml: Nvml, gpu: Handle) -> Fields:
    return {
        f"ecc_errors_{period}_{memory}_{kind}": nvml.large("MemoryErrorCounter", gpu, error, counter, MEMORIES[memory])
        for period, counter in (("volatile", VOLATILE), ("aggregate", AGGREGATE))
        for kind, error in (("correctable", CORRECTED), ("uncorrectable", UNCORRECTED))
    }


def _rows(nvml: Nvml, gpu: Handle) -> Fields:
    corrected, uncorrected, pending, failed = nvml.numbers("RemappedRows", gpu, count=4)
    return {
        "remapped_rows_correctable": corrected,
        "remapped_rows_uncorrectable": uncorrected,
        "remapped_rows_pending": _yes(pending),
        "remapped_rows_failure": _yes(failed),
    }


def _pages(nvml: Nvml, gpu: Handle) -> Fields:
    single, double, pending = nvml.field_values(gpu, [(29, 0), (30, 0), (31, 0)])
    found: dict[str, Value | None] = {
        "retired_pages_multiple_single_bit": single,
        "retired_pages_double_bit": double,
        "retired_pages_pending": None if pending is None else _yes(pending),
    }
    return _present({name: value for name, value in found.items() if value is not None})


def _links(nvml: Nvml, gpu: Handle) -> Fields:
    """Returns the traffic and errors of NVLinks, summed by the driver, else over the links that answer."""
    count = min(nvml.field_values(gpu, [(_LINK_COUNT, 0)])[0] or 0, MAX_LINKS)
    if not count:
        raise NvmlError(NOT_SUPPORTED)
    values = nvml.field_values(gpu, [(field, scope) for field, scope, _ in _TOTALS.values()])
    found = {name: value * of[2] for (name, of), value in zip(_TOTALS.items(), values) if value is not None}
    missing = [name for name in _OF_LINKS if name not in found]
    asked = [(name, (_OF_LINKS[name], link)) for name in missing for link in range(count)]
    singles = nvml.field_values(gpu, [key for _, key in asked]) if asked else []
    for (name, _), value in zip(asked, singles):
        if value is not None:
            found[name] = found.get(name, 0) + value
    return _present(found)


def _present(fields: Fields) -> Fields:
    """Returns fields, or raises NvmlError where there is none, so that the query isn't made again soon."""
    if not fields:
        raise NvmlError(NOT_SUPPORTED)
    return fields


def _yes(value: int) -> str:
    return "Yes" if value else "No"


OFTEN = (
    Query("UtilizationRates", _utilization),
    Query("MemoryInfo", _memory),
    Query("PowerUsage", lambda nvml, gpu: {"power_draw": nvml.number("PowerUsage", gpu) / 1000}),
    Query("Temperature", lambda nvml, gpu: {"temperature_gpu": nvml.number("Temperature", gpu, 0)}),
    Query("ClockInfo/SM", lambda nvml, gpu: {"clocks_current_sm": nvml.number("ClockInfo", gpu, CLOCK_SM)}),
    Query("ClockInfo/MEM", lambda nvml, gpu: {"clocks_current_memory": nvml.number("ClockInfo", gpu, CLOCK_MEMORY)}),
    Query("ClocksEventReasons", _reasons),
    Query("PerformanceState", _state),
    Query("FanSpeed", lambda nvml, gpu: {"fan_speed": nvml.number("FanSpeed", gpu)}),
    Query("FieldValues", _often),
)
"""Queries of every call."""
RARELY = (
    Query("EnforcedPowerLimit", _power_limit),
    Query("PcieLinkGeneration", lambda v, gpu: {"pcie_link_gen_current": v.number("CurrPcieLinkGeneration", gpu)}),
    Query("PcieLinkWidth", lambda v, gpu: {"pcie_link_width_current": v.number("CurrPcieLinkWidth", gpu)}),
    Query("PcieReplayCounter", lambda nvml, gpu: {"pcie_replays": nvml.number("PcieReplayCounter", gpu)}),
    Query("TotalEccErrors", _ecc),
    *(Query(f"MemoryErrorCounter/{memory}", partial(_ecc_of, memory)) for memory in MEMORIES),
    Query("RemappedRows", _rows),
    Query("FieldValues/retired", _pages),
    Query("FieldValues/NVLink", _links),
    Query("MigMode", lambda nvml, gpu: {"mig_enabled": nvml.numbers("MigMode", gpu, count=2)[0] == 1}),
    Query("ComputeMode", lambda v, gpu: {"compute_mode": _COMPUTE_MODES.get(v.number("ComputeMode", gpu), "")}),
)
"""Queries of every sixth call: limits, errors, links, and modes."""
