"""AMD GPUs from sysfs, as Telegraf's `amd_rocm_smi`: bytes, watts, MHz and degrees Celsius."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.collectors.collector import UnsupportedError
from agent.machine.machine import Machine
from agent.records.record import Record, Value

MEASUREMENT = "amd_rocm_smi"
MAX_CARDS = 64
_CLASS, _VENDOR = "/sys/class/drm", "0x1002"
_CARD = re.compile(r"card\d{1,3}")
_MAX_SENSORS = 4
_CLOCKS = {"sclk": "clocks_current_sm", "mclk": "clocks_current_memory"}
_SENSORS = ("edge", "junction", "mem")


class AmdGpus:
    """The collector of AMD GPUs. `interval` is in seconds."""

    name = "amd"

    def __init__(self, machine: Machine, interval: float = 10.0) -> None:
        self.interval = interval
        self._machine = machine
        self._cards = _cards(machine)
        if not self._cards:
            raise UnsupportedError("The node has no AMD GPU with a loaded driver.")

    def collect(self, now: int) -> Iterable[Record]:
        """Returns a record for each GPU."""
        return [Record(MEASUREMENT, self._fields(card), self._tags(card)) for card in self._cards]

    def _tags(self, card: str) -> dict[str, str]:
        read = self._machine.optional_text
        unique = read(f"{_CLASS}/{card}/device/unique_id")
        return {
            "name": card,
            "gpu_id": read(f"{_CLASS}/{card}/device/device"),
            "gpu_unique_id": f"0x{unique}" if unique else "",
        }

    def _fields(self, card: str) -> dict[str, Value]:
        device = f"{_CLASS}/{card}/device"
        names = {
            "utilization_gpu": "gpu_busy_percent",
            "utilization_memory": "mem_busy_percent",
            "memory_total": "mem_info_vram_total",
            "memory_used": "mem_info_vram_used",
        }
        read = {name: self._machine.whole(f"{device}/{file}") for name, file in names.items()}
        fields: dict[str, Value] = {name: value for name, value in read.items() if value is not None}
        total, used = read["memory_total"], read["memory_used"]
        if total is not None and used is not None:
            fields["memory_free"] = total - used
        for sensors in self._machine.names(f"{device}/hwmon")[:1]:
            fields.update(self._sensors(f"{device}/hwmon/{sensors}"))
        return fields

    def _sensors(self, folder: str) -> dict[str, Value]:
        fields = {**self._temperatures(folder), **self._clocks(folder)}
        power = next(
            filter(None, (self._machine.whole(f"{folder}/power1_{kind}") for kind in ("average", "input"))), None
        )
        if power is not None:
            fields["power_draw"] = power / 1_000_000
        fan = self._machine.whole(f"{folder}/pwm1")
        if fan is not None:
            fields["fan_speed"] = fan * 100 // (self._machine.whole(f"{folder}/pwm1_max") or 255)
        return fields

    def _temperatures(self, folder: str) -> dict[str, Value]:
        """Returns temperatures by the labels of their sensors; one without a label is at the edge."""
        fields: dict[str, Value] = {}
        for number in range(1, _MAX_SENSORS):
            value = self._machine.whole(f"{folder}/temp{number}_input")
            label = self._machine.optional_text(f"{folder}/temp{number}_label") or "edge"
            if value is not None and label in _SENSORS:
                fields[f"temperature_sensor_{'memory' if label == 'mem' else label}"] = value / 1000
        return fields

    def _clocks(self, folder: str) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        for number in range(1, _MAX_SENSORS):
            value = self._machine.whole(f"{folder}/freq{number}_input")
            field = _CLOCKS.get(self._machine.optional_text(f"{folder}/freq{number}_label"))
            if value is not None and field:
                fields[field] = value // 1_000_000
        return fields


def _cards(machine: Machine) -> list[str]:
    names = [name for name in machine.names(_CLASS) if _CARD.fullmatch(name)][:MAX_CARDS]
    return [name for name in names if machine.optional_text(f"{_CLASS}/{name}/device/vendor") == _VENDOR]
