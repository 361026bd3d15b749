"""The stub of NVML that the tests build, in place of a driver; its known answers take the place of nvidia-smi's."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from pathlib import Path
from typing import Sequence

from local.prove.gpu.smi import Raw
from local.prove.gpu.smi_fields import REASONS

LIBRARY = "libnvidia-ml.so.1"
_SOURCE = "tests.agent.devices.nvml_stub"
_ACTIVE = ("sw_power_cap", "hw_thermal_slowdown")  # the bits 0x44
_ECC_BASE = 1 << 40


class StubError(Exception):
    """The stub can't be built here; the message says why in one sentence."""


def build(folder: Path) -> None:
    """Compiles the stub into a folder under the driver's name. Raises StubError."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise StubError("No C compiler (cc or gcc) builds the stub of NVML here.")
    try:
        source = importlib.import_module(_SOURCE).SOURCE
    except ImportError as error:
        raise StubError(f"The stub's source isn't in this checkout: {error}.") from error
    (folder / "nvml.c").write_text(source)
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(folder / LIBRARY), str(folder / "nvml.c")]
    if subprocess.run(command, check=False).returncode:
        raise StubError("The compiler refuses the stub of NVML.")


def known_answers(phases: Sequence[dict[str, float]]) -> Raw:
    """Returns nvidia-smi's answers for the stub's first GPU, once towards the end of each phase."""
    times = [phase["begin"] + 0.8 * (phase["end"] - phase["begin"]) for phase in phases]
    empty: list[str] = []
    return {
        "path": "the stub's known answers",
        "gpus": [{"begin": moment, "time": moment, **_values()} for moment in times],
        **dict.fromkeys(("apps", "processes", "listings", "errors", "nvlink"), empty),
    }


def _values() -> dict[str, str]:
    ecc = {
        f"ecc.errors.{kind}.{period}.{memory}": str(base + error * factor + counter * (factor // 10) + offset)
        for memory, base, factor, offset in (("total", _ECC_BASE, 10, 0), ("dram", 0, 100, 2), ("sram", 0, 100, 7))
        for error, kind in enumerate(("corrected", "uncorrected"))
        for counter, period in enumerate(("volatile", "aggregate"))
    }
    return {
        "uuid": "GPU-0", "name": "NVIDIA H100", "driver_version": "550.90.07", "memory.total": "81559",
        "memory.reserved": "500", "memory.used": "100", "memory.free": "80959", "utilization.gpu": "90",
        "utilization.memory": "40", "power.draw": "250.50", "enforced.power.limit": "650.00", "temperature.gpu": "60",
        "temperature.memory": "70", "clocks.current.sm": "1980", "clocks.current.memory": "2619", "pstate": "P0",
        "fan.speed": "[N/A]", "compute_mode": "Default", "mig.mode.current": "Disabled", "pcie.link.gen.current": "5",
        "pcie.link.width.current": "16", "retired_pages.pending": "[N/A]",
        **{f"clocks_event_reasons.{name}": "Active" if name in _ACTIVE else "Not Active" for name in REASONS},
        **ecc,
    }  # fmt: skip
