"""Which devices a node has, and the notes for those that it hasn't."""

import subprocess
import sys
from pathlib import Path

from agent.devices.registry import devices
from agent.machine.machine import Machine
from tests.agent.devices.conftest import Stub


def pci(root: Path, vendor: str, kind: str) -> None:
    folder = root / "sys/bus/pci/devices/0001:00:00.0"
    folder.mkdir(parents=True)
    (folder / "vendor").write_text(vendor)
    (folder / "class").write_text(kind)


def test_a_node_without_devices_has_a_note_for_each_kind(tmp_path: Path) -> None:
    found = devices(Machine(str(tmp_path)), 10.0)
    assert (found.collectors, found.nvidia) == ([], None)
    assert found.notes == {
        "nvidia": "The node has no NVIDIA GPU.",
        "amd": "The node has no AMD GPU with a loaded driver.",
        "nvme": "The node has no NVMe drive.",
        "infiniband": "The node has no InfiniBand port with counters.",
    }


def test_a_gpu_without_a_driver_is_named(tmp_path: Path) -> None:
    pci(tmp_path, "0x10de\n", "0x030200\n")
    assert "its driver isn't loaded" in devices(Machine(str(tmp_path)), 10.0).notes["nvidia"]


def test_another_device_of_nvidia_is_no_gpu(tmp_path: Path) -> None:
    pci(tmp_path, "0x10de\n", "0x068000\n")
    assert devices(Machine(str(tmp_path)), 10.0).notes["nvidia"] == "The node has no NVIDIA GPU."


def test_a_driver_gives_a_collector_and_access(tmp_path: Path, stub: Stub) -> None:
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    found = devices(Machine(str(tmp_path)), 10.0, ("nvidia",), [stub.path])
    assert ([one.name for one in found.collectors], found.notes) == (["nvidia"], {})
    assert found.nvidia
    list(found.collectors[0].collect(0))
    assert len(found.nvidia.errors()) == 8
    assert found.nvidia.processes()[1000].memory == 3600 << 20
    found.nvidia.close()
    assert stub.read("sessions") == 0


def test_a_driver_without_gpus_is_a_note_and_leaves_no_session(tmp_path: Path, stub: Stub) -> None:
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    stub.put("gpu_count", 0)
    assert devices(Machine(str(tmp_path)), 10.0, ("nvidia",), [stub.path]).notes == {
        "nvidia": "The NVIDIA driver has no GPU on this node."
    }
    assert stub.read("sessions") == 0


def test_only_the_kinds_that_are_asked_for_are_looked_at(tmp_path: Path) -> None:
    assert set(devices(Machine(str(tmp_path)), 10.0, ("amd", "nvme")).notes) == {"amd", "nvme"}


def test_ctypes_stays_out_where_there_is_no_driver() -> None:
    code = "import sys, agent.devices.registry; sys.exit('ctypes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
