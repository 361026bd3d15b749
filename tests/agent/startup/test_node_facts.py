"""Facts of fake nodes: processor, start, disks, drivers, mounts, Batch's agent, images."""

import json
import socketserver
import tempfile
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from agent.machine.machine import Machine
from agent.records.record import Record, Value
from agent.startup.batch_agent import batch_agent_records
from agent.startup.boot import boot_records, boot_time
from agent.startup.cpu_lists import cpu_numbers, listed_cpus
from agent.startup.disks import disk_records
from agent.startup.drivers import driver_records, kernel_records
from agent.startup.images import image_records
from agent.startup.mounts import mount_records, shown_device
from agent.startup.processor import processor_records

NOW = 1_795_000_000_123_456_789


def tree(root: Path, files: dict[str, str]) -> Machine:
    for path, text in files.items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Machine(str(root))


def fields(records: Iterable[Record]) -> list[tuple[str, dict[str, Value]]]:
    found = list(records)
    assert all(record.tags["vm_monitor_collection"] == "once" for record in found)
    return [(record.measurement, dict(record.fields)) for record in found]


def test_the_start_has_hundredths_of_a_second_by_uptime(tmp_path: Path) -> None:
    machine = tree(tmp_path, {"/proc/stat": "cpu 1\nbtime 1794999899\n", "/proc/uptime": "100.25 5.0\n"})
    boot, batch = fields(boot_records(machine, NOW))
    assert boot == ("linux_boot", {
        "iso_boot_timestamp": "2026-11-18T11:04:59.873456789Z", "collection_iso_timestamp": "2026-11-18T11:06:40.123456789Z",  # noqa: E501
    })  # fmt: skip
    assert batch == ("batch_vm_info", {"vm_has_system_efi": "false"})


def test_a_containers_uptime_yields_to_the_kernels_start(tmp_path: Path) -> None:
    machine = tree(tmp_path, {"/proc/stat": "btime 1794990000\n", "/proc/uptime": "5.00 1.0"})
    assert boot_time(machine, NOW) == 1_794_990_000_000_000_000


@pytest.mark.parametrize(("stat", "uptime", "expected"), [
    ("btime 5\n", "", 5_000_000_000), ("btime x\n", "1.5 1", NOW - 1_500_000_000), ("", "nan", None), ("", "-1", None),
])  # fmt: skip
def test_the_start_is_known_by_either_figure(tmp_path: Path, stat: str, uptime: str, expected: int | None) -> None:
    assert boot_time(tree(tmp_path, {"/proc/stat": stat, "/proc/uptime": uptime}), NOW) == expected


def test_processors_are_counted_by_sockets_cores_and_numa_nodes(tmp_path: Path) -> None:
    files = {
        "/proc/cpuinfo": "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nflags\t: a b\n\nprocessor : 1\n",  # noqa: E501
        "/sys/devices/system/cpu/online": "0-7\n",
        "/sys/devices/system/node/node0/cpulist": "0-3\n",
        "/sys/devices/system/node/node1/cpulist": "4-7\n",
    }
    for cpu in range(8):
        files[f"/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"] = str(cpu // 4)
        files[f"/sys/devices/system/cpu/cpu{cpu}/topology/core_id"] = str(cpu // 2)
    cpuinfo, lscpu = fields(processor_records(tree(tmp_path, files), "x86_64"))
    assert cpuinfo == (
        "vm_cpuinfo_metadata",
        {"model_name": "AMD EPYC", "vendor_id": "AuthenticAMD", "flags_count": 2},
    )
    assert lscpu == ("vm_lscpu_metadata", {
        "Architecture": "x86_64", "Model_name": "AMD EPYC", "CPUs": 8, "Socket(s)": 2, "Core(s)_per_socket": 2,
        "Thread(s)_per_core": 2, "NUMA_node(s)": 2, "NUMA_node0_CPU(s)": "0-3", "NUMA_node1_CPU(s)": "4-7",
        "Vendor_ID": "AuthenticAMD",
    })  # fmt: skip


def test_arms_processors_are_named_by_their_numbers(tmp_path: Path) -> None:
    text = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nprocessor\t: 1\n"
    _, (_, lscpu) = fields(processor_records(tree(tmp_path, {"/proc/cpuinfo": text}), "aarch64"))
    assert lscpu == {"Architecture": "aarch64", "Model_name": "Neoverse-N1", "CPUs": 2}


def test_a_node_without_cpuinfo_has_only_its_architecture(tmp_path: Path) -> None:
    assert fields(processor_records(Machine(str(tmp_path)), "x86_64")) == [
        ("vm_lscpu_metadata", {"Architecture": "x86_64"})
    ]


@pytest.mark.parametrize(("text", "expected"), [
    ("0-3,8", [0, 1, 2, 3, 8]), ("", []), ("x", []), ("1-", [1]), ("0-99999999", []), ("0-\u0663", []),
])  # fmt: skip
def test_lists_of_processors_are_bounded(text: str, expected: list[int]) -> None:
    assert listed_cpus(text) == expected


def test_garbled_processor_numbers_are_left_out() -> None:
    assert cpu_numbers("processor : 1\nprocessor : x\nprocessor : 0\n") == [0, 1]


def test_disks_and_nvme_drives_have_sizes_in_bytes(tmp_path: Path) -> None:
    machine = tree(tmp_path, {
        "/sys/block/sda/size": "62914560\n", "/sys/block/sda/device/model": "Virtual Disk    \n",
        "/sys/block/sda/queue/scheduler": "[none] mq-deadline\n", "/sys/block/sdb/size": "garbage",
        "/sys/block/nvme0n1/size": "1000\n", "/sys/block/nvme0n1/device/firmware_rev": "1.0 \n",
        "/sys/block/loop0/size": "8", "/sys/block/sr0/size": "8", "/sys/block/md0/size": "8",
        "/sys/block/md0/md/level": "raid0\n",
    })  # fmt: skip
    assert fields(disk_records(machine)) == [
        ("exec.lsblk", {"name": "md0", "size": 4096, "type": "raid0"}),
        ("exec.lsblk", {"name": "nvme0n1", "size": 512_000, "type": "disk"}),
        ("nvme_metadata", {"name": "/dev/nvme0n1", "physical_size": 512_000, "firmware": "1.0"}),
        (
            "exec.lsblk",
            {"name": "sda", "size": 32_212_254_720, "model": "Virtual Disk", "type": "disk", "scheduler": "none"},
        ),
    ]


@pytest.mark.parametrize(("text", "version", "is_open"), [
    ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Tue Mar  5\n", "535.161.08", False),
    ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n", "550.54.15", True),
])  # fmt: skip
def test_drivers_have_versions(tmp_path: Path, text: str, version: str, *, is_open: bool) -> None:
    machine = tree(tmp_path, {
        "/proc/driver/nvidia/version": text, "/sys/module/mlx5_core/version": "23.10-1.1.9\n",
        "/sys/class/infiniband/mlx5_0/fw_ver": "20.31.1014\n",
    })  # fmt: skip
    found = list(driver_records(machine))
    assert [dict(record.fields) for record in found] == [
        {"version": version, "is_open": is_open}, {"version": "23.10-1.1.9"}, {"version": "20.31.1014"},
    ]  # fmt: skip
    assert [record.tags.get("name", record.tags.get("device")) for record in found] == [
        "nvidia_driver", "mlx5_core", "mlx5_0",
    ]  # fmt: skip


def test_the_kernel_and_the_distribution_are_named(tmp_path: Path) -> None:
    machine = tree(
        tmp_path,
        {"/proc/sys/kernel/osrelease": "6.8.0-azure\n", "/etc/os-release": 'ID=ubuntu\nX\nVERSION_ID="22.04"\n'},
    )
    expected = {
        "release": "6.8.0-azure",
        "distribution_id": "ubuntu",
        "distribution_version": "22.04",
        "is_cgroup_v2": False,
    }
    assert fields(kernel_records(machine)) == [("batchscope_kernel", expected)]


def test_mounts_show_only_options_that_hold_no_secret(tmp_path: Path) -> None:
    machine = tree(tmp_path, {"/proc/self/mountinfo": (
        "22 1 0:5 / /proc rw - proc proc rw\n23 1 0:6 / / rw - overlay overlay rw,lowerdir=/a\ngarbage\n"
        "24 1 0:7 / /mnt/a\\040b rw shared:1 - cifs //x.file.core.windows.net/s "
        "rw,vers=3.0,username=x,password=hunter2,uid=0\n"
    )})  # fmt: skip
    assert fields(mount_records(machine)) == [
        ("exec.mount", {"device": "overlay", "mountpoint": "/", "type": "overlay", "options": "rw"}),
        ("exec.mount", {
            "device": "//x.file.core.windows.net/s", "mountpoint": "/mnt/a b", "type": "cifs", "options": "rw,vers=3.0",
        }),
    ]  # fmt: skip


def test_a_devices_query_and_user_are_left_out() -> None:
    assert shown_device("https://user:x@host/c@d?sig=abc") == "https://host/c@d"
    assert shown_device("/dev/sda1") == "/dev/sda1"
    assert shown_device("user:swordfish@host:/share") == "host:/share"
    assert shown_device("10.0.0.4@tcp:/lustre") == "10.0.0.4@tcp:/lustre"


def test_only_times_are_taken_from_the_log_of_batchs_agent(tmp_path: Path) -> None:
    machine = tree(tmp_path, {"/mnt/batch/sys/logs/agent-debug.log": (
        'get_entity_with_sas {"TVMAllocationTime":"133576055525000000","TVMName":"tvm","sas":"sig=abc"}\n'
        "{'TVMBootTime': '13357605'}\n"
    )})  # fmt: skip
    assert fields(batch_agent_records(machine)) == [
        ("batch_agent_data", {"batch_log_found": "true", "batch_allocation_time": "2024-04-14T21:59:12.500000000Z"})
    ]
    assert fields(batch_agent_records(Machine(str(tmp_path / "none")))) == []


def served_images(body: bytes) -> list[Record]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def address_string(self) -> str:
            return ""

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
            pass

    with tempfile.TemporaryDirectory() as root:  # a socket's path has at most 107 characters
        (Path(root) / "run").mkdir()
        with socketserver.UnixStreamServer(f"{root}/run/docker.sock", Handler) as server:
            thread = threading.Thread(target=server.handle_request)
            thread.start()
            found = list(image_records(Machine(root)))
            thread.join()
    return found


def test_images_are_those_with_a_tag() -> None:
    images = [
        {"RepoTags": ["<none>:<none>", "ubuntu:22.04"], "Id": "sha256:ab", "Size": 77, "Created": 5, "Labels": {"token": "x"}},  # noqa: E501
        {"RepoTags": None, "Id": "sha256:cd", "Size": True}, "garbage",
    ]  # fmt: skip
    assert fields(served_images(json.dumps(images).encode())) == [
        ("batchscope_container_image", {"name": "ubuntu:22.04", "id": "sha256:ab", "size": 77, "created": 5})
    ]


@pytest.mark.parametrize("body", [b"<html>", b"{}"])
def test_garbled_images_are_none(body: bytes) -> None:
    assert served_images(body) == []


def test_without_docker_there_are_no_images(tmp_path: Path) -> None:
    assert list(image_records(Machine(str(tmp_path)))) == []
    assert list(image_records(tree(tmp_path, {"/run/docker.sock": ""}))) == []


def test_a_mount_point_may_hold_line_separators_of_unicode(tmp_path: Path) -> None:
    machine = tree(
        tmp_path, {"/proc/self/mountinfo": "24 1 8:1 / /mnt/a\u2028b rw,noatime - ext4 /dev/sda1 rw,data=x\n"}
    )
    assert fields(mount_records(machine)) == [
        ("exec.mount", {
            "device": "/dev/sda1", "mountpoint": "/mnt/a b", "type": "ext4", "options": "rw,noatime,data=x",
        }),
    ]  # fmt: skip
