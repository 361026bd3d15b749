"""NVMe drives: a literal health log, and the temperature of those that show none."""

import struct
from pathlib import Path

import pytest

from agent.collectors.collector import UnsupportedError
from agent.devices.nvme import NvmeDrives, health
from agent.devices.nvme_ioctl import HealthLogs, _command
from agent.machine.machine import Machine
from agent.records.line_protocol import text_of
from shared.domain.telemetry.catalog.catalog import plugins

LOG = (
    bytes([0x04, 0x2F, 0x01, 100, 10, 3]).ljust(32, b"\0")
    + b"".join(value.to_bytes(16, "little") for value in (1 << 64, 7, 11, 12, 90, 5, 6, 8, 2, 4))
).ljust(512, b"\0")
FIELDS = {
    "critical_warning": 4, "available_spare": 100, "percentage_used": 3, "data_units_read": 1 << 64,
    "data_units_written": 7, "controller_busy_time": 90, "media_errors": 2, "temperature": 30,
}  # fmt: skip


class Logs:
    """Health logs by the name of their device file."""

    def __init__(self, logs: dict[str, bytes]) -> None:
        self.logs = logs
        self.reads = 0

    def read(self, path: str) -> bytes:
        self.reads += 1
        if Path(path).name not in self.logs:
            raise OSError("Operation not permitted")
        return self.logs[Path(path).name]


def machine(root: Path, *sensors: str, is_root: bool = True) -> Machine:
    for drive in ("nvme0", "nvme1"):
        (root / f"sys/class/nvme/{drive}").mkdir(parents=True, exist_ok=True)
        (root / f"sys/class/nvme/{drive}/model").write_text("Microsoft NVMe Direct Disk v2          \n")
    for sensor in sensors:
        (root / "sys/class/nvme" / sensor).mkdir(parents=True)
        (root / "sys/class/nvme" / sensor / "temp1_input").write_text("38850\n")
    return Machine(str(root), is_root=is_root)


def test_a_health_log_has_the_fields_of_the_specification() -> None:
    assert health(LOG) == FIELDS
    assert set(FIELDS) == set(plugins()["nvme"].fields)


@pytest.mark.parametrize("log", [b"", LOG[:511], bytes(512)])
def test_an_empty_or_short_log_is_no_health(log: bytes) -> None:
    with pytest.raises(ValueError, match="empty or too short"):
        health(log)


def test_a_drive_without_a_temperature_has_none() -> None:
    assert "temperature" not in health(LOG[:1] + b"\0\0" + LOG[3:])


def test_root_reads_the_log_and_a_drive_without_one_shows_its_sensor(tmp_path: Path) -> None:
    logs = Logs({"nvme0": LOG.replace(bytes([0, 1]), bytes([0, 0]))})
    drives = NvmeDrives(machine(tmp_path, "nvme1/hwmon4"), logs)
    first, second = text_of(drives.collect(0), 5).splitlines()
    assert first.startswith("nvme,device=nvme0,model=Microsoft\\ NVMe\\ Direct\\ Disk\\ v2 critical_warning=4i,")
    assert second == "nvme,device=nvme1,model=Microsoft\\ NVMe\\ Direct\\ Disk\\ v2 temperature=38i 5"


def test_a_drive_that_refused_its_log_is_not_asked_again(tmp_path: Path) -> None:
    logs = Logs({"nvme0": LOG})
    drives = NvmeDrives(machine(tmp_path, "nvme1/hwmon4"), logs)
    list(drives.collect(0))
    logs.reads = 0
    list(drives.collect(0))
    assert logs.reads == 1


@pytest.mark.parametrize("sensor", ["nvme0/hwmon1", "nvme0/hwmon/hwmon1", "nvme0/device/hwmon/hwmon1"])
def test_a_plain_user_gets_the_temperature_of_each_kernel(tmp_path: Path, sensor: str) -> None:
    logs = Logs({"nvme0": LOG})
    drives = NvmeDrives(machine(tmp_path, sensor, is_root=False), logs)
    assert [dict(record.fields) for record in drives.collect(0)] == [{"temperature": 38}, {}]
    assert logs.reads == 0


def test_nodes_without_drives_or_readable_ones_say_so(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no NVMe drive"):
        NvmeDrives(Machine(str(tmp_path)))
    with pytest.raises(UnsupportedError, match="needs root"):
        NvmeDrives(machine(tmp_path, is_root=False))


def test_the_command_asks_for_512_bytes_of_log_page_2() -> None:
    command = _command(0x1122334455667788)
    assert len(command) == 72
    assert struct.unpack_from("=B3xI", command) == (2, 0xFFFFFFFF)
    assert struct.unpack_from("=Q", command, 24) == (0x1122334455667788,)
    assert struct.unpack_from("=II", command, 36) == (512, 0x7F0002)


def test_a_file_that_is_no_controller_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "nvme0").write_text("")
    with pytest.raises(OSError, match="ioctl"):
        HealthLogs().read(str(tmp_path / "nvme0"))
