"""Plain values of GPUs for other packages: memory errors of a GPU, and a process's use of all GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agent.records.record import Value


class GpuErrors(NamedTuple):
    """A GPU's errors as they were last read; None where it doesn't say.

    `number` is the driver's index of the GPU. ECC counts are those since the driver was loaded. `lost` is the name of
    NVML's error where the GPU doesn't answer.
    """

    number: int
    uuid: str = ""
    name: str = ""
    corrected: int | None = None
    uncorrected: int | None = None
    rows_pending: bool | None = None
    rows_failed: bool | None = None
    pages_pending: bool | None = None
    lost: str = ""


class GpuUse(NamedTuple):
    """Use of all GPUs by a process: bytes of memory and percent of their time, None where the driver has neither."""

    memory: int | None
    utilization: float | None


def errors_of(number: int, tags: Mapping[str, str], fields: Mapping[str, Value]) -> GpuErrors:
    """Returns the errors among the fields of a record of `nvidia_smi`."""
    return GpuErrors(
        number,
        tags.get("uuid", ""),
        tags.get("name", ""),
        _count(fields.get("ecc_errors_corrected_volatile_total")),
        _count(fields.get("ecc_errors_uncorrected_volatile_total")),
        _answer(fields.get("remapped_rows_pending")),
        _answer(fields.get("remapped_rows_failure")),
        _answer(fields.get("retired_pages_pending")),
    )


def _count(value: Value | None) -> int | None:
    return value if isinstance(value, int) else None


def _answer(value: Value | None) -> bool | None:
    return None if value is None else value == "Yes"
