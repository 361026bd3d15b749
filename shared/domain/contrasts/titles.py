"""A contrast in words: `On node 'n3'`, `Memory peak of 3.7 GiB or more`."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from shared.domain.contrasts.attributes import HOUR, SETTING_CHANGE
from shared.domain.contrasts.contrast import Contrast
from shared.domain.contrasts.setting_eras import SettingEra
from shared.domain.core.stamps import from_milliseconds

_GIB, _MIB, _THOUSAND = 1 << 30, 1 << 20, 1000


def title_of(contrast: Contrast) -> str:
    """Returns the group in words, with the numbers as they are compared."""
    name, low, high = contrast.attribute, contrast.low, contrast.high
    if contrast.is_value:
        return _value(name, low)
    if name == SETTING_CHANGE:
        return f"Started {' and '.join(_changes(low, high))}"
    text = _TEXTS.get(name, str)
    what = _NAMES.get(name) or f"Part {name.removeprefix('idPart')} of the id"
    if high is None:
        return f"{what} {_FROM.get(name, 'of {0} or more').format(text(low))}"
    if low is None:
        return f"{what} {_UNTIL.get(name, 'of {0} or less').format(text(high))}"
    return f"{what} between {text(low)} and {text(high)}"


def _value(name: str, value: Any) -> str:
    if name == "node":
        return f"On node '{value[1]}' of pool '{value[0]}'"
    if name == "startHour":
        return f"Started between {_moment(value)} and {_moment(value + HOUR)}"
    if name == "hourOfDay":
        return f"Started between {value:02}:00 and {(value + 1) % 24:02}:00 (UTC) of a day"
    if name.startswith("idPart"):
        return f"Part {name.removeprefix('idPart')} of the id is '{value}'"
    return f"{_NAMES[name]} {value}"


def _changes(low: SettingEra | None, high: SettingEra | None) -> Iterator[str]:
    if low is not None:
        yield f"after the pool's change of {_moment(low.since)}: {low.begun}"
    if high is not None:
        yield f"before the pool's change of {_moment(high.until)}: {high.ended}"


def _moment(milliseconds: int) -> str:
    return from_milliseconds(milliseconds).strftime("%Y-%m-%d %H:%M:%S")


def _span(milliseconds: int) -> str:
    return str(timedelta(seconds=round(milliseconds / _THOUSAND)))


def _bytes(number: int) -> str:
    return f"{number / _GIB:.1f} GiB" if number >= _GIB else f"{number / _MIB:.1f} MiB"


def _gpus(thousandths: int) -> str:
    return f"{thousandths / _THOUSAND:.2f}"


_TEXTS: Mapping[str, Callable[[int], str]] = {
    "start": _moment, "wait": _span, "runTime": _span, "memoryPeak": _bytes, "gpuMemoryPeak": _bytes, "gpus": _gpus,
}  # fmt: skip
_NAMES = {
    "vmSize": "VM size", "pool": "In pool", "priority": "Nodes that are", "image": "Image", "nodeAgent": "Batch agent",
    "slots": "Task slots:", "start": "Started", "wait": "Wait", "runTime": "Run time", "memoryPeak": "Memory peak",
    "gpuMemoryPeak": "GPU memory peak", "gpus": "GPUs used:", "retries": "Retries:", "requeues": "Requeues:",
    "position": "Position in the job",
}  # fmt: skip
_FROM = {"start": "at {0} or later", "gpus": "{0} or more", "retries": "{0} or more", "requeues": "{0} or more"}
_UNTIL = {"start": "at {0} or before", "gpus": "{0} or less"}
