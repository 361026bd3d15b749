"""The figures of a GPU that have a judge in nvidia-smi, with the differences that are allowed."""

from __future__ import annotations

from typing import NamedTuple, Sequence

from local.prove.gpu.smi_fields import REASONS


class Figure(NamedTuple):
    """A field of the agent, its names in nvidia-smi, and the difference that is allowed: absolute, and relative.

    With `listed` the name is a path in nvidia-smi's listing in XML. `moves` says that phases have values of their own;
    `rare` that the agent reads it too rarely for that, so that single values are compared.
    """

    name: str
    field: str
    judges: tuple[str, ...]
    absolute: float = 0.0
    relative: float = 0.0
    moves: bool = False
    listed: bool = False
    rare: bool = False
    unit: str = ""


FIGURES: Sequence[Figure] = (
    Figure("name", "name", ("name",)),
    Figure("UUID", "uuid", ("uuid",)),
    Figure("memory, total", "memory_total", ("memory.total",), 1, unit="MiB"),
    Figure("memory, reserved", "memory_reserved", ("memory.reserved",), 2, unit="MiB"),
    Figure("memory, used", "memory_used", ("memory.used",), 2, moves=True, unit="MiB"),
    Figure("memory, free", "memory_free", ("memory.free",), 2, moves=True, unit="MiB"),
    Figure("utilization", "utilization_gpu", ("utilization.gpu",), 5, moves=True, unit="%"),
    Figure("utilization of memory", "utilization_memory", ("utilization.memory",), 5, moves=True, unit="%"),
    Figure("power", "power_draw", ("power.draw",), 5, 0.05, moves=True, unit="W"),
    Figure("power limit", "power_limit", ("enforced.power.limit", "power.limit"), 0.02, unit="W"),
    Figure("temperature", "temperature_gpu", ("temperature.gpu",), 2, moves=True, unit="°C"),
    Figure("temperature of memory", "temperature_memory", ("temperature.memory",), 2, moves=True, unit="°C"),
    Figure("clock of SM", "clocks_current_sm", ("clocks.current.sm", "clocks.sm"), 15, 0.03, moves=True, unit="MHz"),
    Figure(
        "clock of memory", "clocks_current_memory", ("clocks.current.memory", "clocks.mem"), 15, 0.01, moves=True,
        unit="MHz",
    ),
    Figure("performance state", "pstate", ("pstate",), moves=True),
    Figure("fan", "fan_speed", ("fan.speed",), 3, unit="%"),
    Figure("compute mode", "compute_mode", ("compute_mode",)),
    Figure("MIG", "mig_enabled", ("mig.mode.current",)),
    Figure(
        "PCIe generation", "pcie_link_gen_current", ("pcie.link.gen.gpucurrent", "pcie.link.gen.current"), rare=True
    ),
    Figure("PCIe width", "pcie_link_width_current", ("pcie.link.width.current",), rare=True),
    Figure("PCIe replays", "pcie_replays", ("pci/replay_counter",), listed=True),
    *(
        Figure(
            f"reason {reason.replace('_', ' ')}", f"clocks_event_reasons_{reason}",
            (f"clocks_event_reasons.{reason}", f"clocks_throttle_reasons.{reason}"), moves=True,
        )
        for reason in REASONS
    ),
    *(
        Figure(
            f"time of reason {reason.replace('_', ' ')}", f"clocks_event_reasons_counters_{reason}",
            (f"clocks_event_reasons_counters/clocks_event_reasons_counters_{reason}",), 2e6, 0.02, listed=True,
            unit="µs",
        )
        for reason in ("sw_power_cap", "sync_boost", "sw_therm_slowdown", "hw_therm_slowdown", "hw_power_brake")
    ),
    *(
        Figure(f"ECC, {kind} {period}", f"ecc_errors_{kind}_{period}_total", (f"ecc.errors.{kind}.{period}.total",))
        for period in ("volatile", "aggregate")
        for kind in ("corrected", "uncorrected")
    ),
    *(
        Figure(
            f"ECC of {memory}, {kind} {period}", f"ecc_errors_{period}_{memory}_{name}",
            (f"ecc.errors.{kind}.{period}.{memory}",),
        )
        for memory in ("dram", "sram")
        for period in ("volatile", "aggregate")
        for kind, name in (("corrected", "correctable"), ("uncorrected", "uncorrectable"))
    ),
    Figure("retired pages, single bit", "retired_pages_multiple_single_bit", ("retired_pages.single_bit_ecc.count",)),
    Figure("retired pages, double bit", "retired_pages_double_bit", ("retired_pages.double_bit.count",)),
    Figure("retired pages, pending", "retired_pages_pending", ("retired_pages.pending",)),
    Figure("remapped rows", "remapped_rows_correctable", ("remapped_rows/remapped_row_corr",), listed=True),
    Figure(
        "remapped rows, uncorrectable", "remapped_rows_uncorrectable", ("remapped_rows/remapped_row_unc",), listed=True
    ),
    Figure("remapped rows, pending", "remapped_rows_pending", ("remapped_rows/remapped_row_pending",), listed=True),
    Figure("remapped rows, failure", "remapped_rows_failure", ("remapped_rows/remapped_row_failure",), listed=True),
)  # fmt: skip
