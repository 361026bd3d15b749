"""NVMe drives as measurement `nvme`: the health log where the agent is root, else the temperature from sysfs.

Units are those of the log: percentages, minutes, data in units of 512,000 bytes. Temperatures are in degrees Celsius.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from agent.collectors.collector import UnsupportedError
from agent.devices.nvme_ioctl import LOG_SIZE, HealthLogs
from agent.machine.machine import Machine
from agent.records.record import Record, Value

MEASUREMENT = "nvme"
MAX_DRIVES = 64
_CLASS = "/sys/class/nvme"
_CONTROLLER = re.compile(r"nvme\d{1,4}")
_KELVIN = 273
_LONG = {"data_units_read": 32, "data_units_written": 48, "controller_busy_time": 96, "media_errors": 160}
_SENSORS = (("", "hwmon"), ("/hwmon", ""), ("/device/hwmon", ""))  # by the kernel's version: folder, prefix of names


class Logs(Protocol):
    """Reads the health log of a device file. Raises OSError."""

    def read(self, path: str) -> bytes: ...


class NvmeDrives:
    """The collector of NVMe drives. `interval` is in seconds; a log is read by a command to the drive."""

    name = "nvme"

    def __init__(self, machine: Machine, logs: Logs | None = None, interval: float = 60.0) -> None:
        self.interval = interval
        self._machine = machine
        self._logs = logs or HealthLogs()
        self._without_log: dict[str, bool] = {}
        drives = self._drives()
        if not drives:
            raise UnsupportedError("The node has no NVMe drive.")
        if not any(map(self._fields, drives)):
            raise UnsupportedError("The NVMe drives show neither health log (it needs root) nor temperature.")

    def collect(self, now: int) -> Iterable[Record]:
        """Returns a record for each drive that shows anything."""
        return [Record(MEASUREMENT, self._fields(drive), self._tags(drive)) for drive in self._drives()]

    def _drives(self) -> list[str]:
        return [name for name in self._machine.names(_CLASS) if _CONTROLLER.fullmatch(name)][:MAX_DRIVES]

    def _tags(self, drive: str) -> dict[str, str]:
        return {"device": drive, "model": self._machine.optional_text(f"{_CLASS}/{drive}/model")}

    def _fields(self, drive: str) -> dict[str, Value]:
        return self._logged(drive) or self._temperature(drive)

    def _logged(self, drive: str) -> dict[str, Value]:
        """Returns the health log's fields; a drive that once had none isn't asked again."""
        if not self._machine.is_root or self._without_log.get(drive):
            return {}
        try:
            return health(self._logs.read(self._machine.path(f"/dev/{drive}")))
        except (OSError, ValueError):
            self._without_log[drive] = True
            return {}

    def _temperature(self, drive: str) -> dict[str, Value]:
        for folder, prefix in _SENSORS:
            for name in self._machine.names(f"{_CLASS}/{drive}{folder}"):
                path = f"{_CLASS}/{drive}{folder}/{name}/temp1_input"
                value = self._machine.whole(path) if name.startswith(prefix or "hwmon") else None
                if value is not None:
                    return {"temperature": value // 1000}
        return {}


def health(log: bytes) -> dict[str, Value]:
    """Returns the fields of a health log. Raises ValueError where it is too short or empty."""
    if len(log) < LOG_SIZE or not any(log):
        raise ValueError("The health log is empty or too short.")
    fields: dict[str, Value] = {
        "critical_warning": log[0],
        "available_spare": log[3],
        "percentage_used": log[5],
        **{name: int.from_bytes(log[start : start + 16], "little") for name, start in _LONG.items()},
    }
    kelvin = int.from_bytes(log[1:3], "little")
    return {**fields, "temperature": kelvin - _KELVIN} if kelvin else fields
