"""The fields of `nvidia-smi --query-gpu` that judge the agent; a driver that lacks some is asked for the others."""

from __future__ import annotations

_ECC = tuple(
    f"ecc.errors.{kind}.{period}.{memory}"
    for period in ("volatile", "aggregate")
    for kind in ("corrected", "uncorrected")
    for memory in ("total", "dram", "sram")
)
REASONS = (
    "gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "sync_boost", "sw_thermal_slowdown",
    "hw_thermal_slowdown", "hw_power_brake_slowdown",
)  # fmt: skip
FIELDS = (
    "index", "uuid", "name", "driver_version", "pci.bus_id", "memory.total", "memory.reserved", "memory.used",
    "memory.free", "utilization.gpu", "utilization.memory", "power.draw", "power.draw.average", "power.draw.instant",
    "enforced.power.limit", "power.limit", "temperature.gpu", "temperature.memory", "clocks.sm", "clocks.mem",
    "clocks.current.sm", "clocks.current.memory", "pstate", "fan.speed", "compute_mode", "mig.mode.current",
    "pcie.link.gen.current", "pcie.link.gen.gpucurrent", "pcie.link.width.current", "persistence_mode",
    "retired_pages.single_bit_ecc.count", "retired_pages.double_bit.count", "retired_pages.pending", *_ECC,
    *(f"clocks_event_reasons.{name}" for name in REASONS), *(f"clocks_throttle_reasons.{name}" for name in REASONS),
)  # fmt: skip
"""Where a field has two names, the newer one comes first; a driver knows one of them or both."""
