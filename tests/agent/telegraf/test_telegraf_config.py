"""Telegraf's configurations as TOML, for nodes with and without hardware."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.machine.machine import Machine
from agent.telegraf.hardware import Hardware, hardware_of
from agent.telegraf.telegraf_config import continuous_config, once_config
from agent.telegraf.toml_text import section

PLAIN = Hardware(4, "", "", infiniband=False, smartctl="", docker_socket="", pressure=False)
RICH = Hardware(
    96, "/usr/bin/nvidia-smi", "", infiniband=True, smartctl="/usr/sbin/smartctl",
    docker_socket="/var/run/docker.sock", pressure=True,
)  # fmt: skip
TAGS = {"pool_id": "render", "node_id": "tvm#1"}
APPEND = ("/usr/bin/python3", "/mnt/agent.pyz", "append")
LETTERS = some.characters(codec="utf-8", exclude_characters="$")
STANDARD = ["cpu", "mem", "diskio", "net", "disk", "swap", "system", "processes", "kernel", "kernel_vmstat"]


def machine(root: Path, *paths: str, is_root: bool = True) -> Machine:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    return Machine(str(root), is_root=is_root)


def test_a_plain_node_has_the_standard_inputs_and_our_uploader() -> None:
    found = tomllib.loads(continuous_config(PLAIN, TAGS, APPEND))
    assert list(found["inputs"]) == [*STANDARD, "procstat"]
    assert {name: one[0]["interval"] for name, one in found["inputs"].items()} == {
        **dict.fromkeys(["cpu", "mem", "diskio", "net"], "5s"),
        **dict.fromkeys(["disk", "swap", "system", "processes", "kernel", "kernel_vmstat"], "60s"),
        "procstat": "120s",
    }
    assert found["outputs"]["execd"] == [{"command": list(APPEND), "restart_delay": "10s", "data_format": "influx"}]
    assert found["global_tags"] == TAGS
    assert found["inputs"]["cpu"][0]["percpu"] is True


def test_a_rich_node_has_inputs_for_its_hardware() -> None:
    found = tomllib.loads(continuous_config(RICH, TAGS, APPEND))["inputs"]
    assert list(found)[len(STANDARD) :] == ["nvidia_smi", "infiniband", "smartctl", "docker", "procstat"]
    assert found["nvidia_smi"][0]["bin_path"] == "/usr/bin/nvidia-smi"
    assert found["smartctl"][0] == {"interval": "120s", "path": "/usr/sbin/smartctl"}
    assert found["docker"][0]["endpoint"] == "unix:///var/run/docker.sock"
    assert found["kernel"][0]["collect"] == ["psi"]
    assert found["cpu"][0]["percpu"] is False


def test_the_one_time_configuration_begins_a_session_and_has_no_intervals() -> None:
    found = tomllib.loads(once_config(RICH, TAGS, APPEND))
    assert found["global_tags"] == {**TAGS, "vm_monitor_collection": "once"}
    assert not any("interval" in one[0] for one in found["inputs"].values())
    assert "procstat" not in found["inputs"]


@given(some.text(LETTERS))
def test_any_text_is_read_back(text: str) -> None:
    assert tomllib.loads(section("[one]", {"text": text, "list": [text]}))["one"] == {"text": text, "list": [text]}


def test_a_text_that_telegraf_would_expand_is_refused() -> None:
    with pytest.raises(ValueError, match="variable of the environment"):
        continuous_config(PLAIN, {"pool_id": "$HOME"}, APPEND)


def test_hardware_is_found_by_its_files(tmp_path: Path) -> None:
    paths = (
        "proc/driver/nvidia/version", "usr/bin/nvidia-smi", "dev/kfd", "opt/rocm/bin/rocm-smi",
        "sys/class/infiniband/mlx5_0/node_guid", "sys/class/nvme/nvme0/model", "usr/sbin/smartctl",
        "run/docker.sock", "proc/pressure/cpu", "sys/devices/system/cpu/cpu0/online",
        "sys/devices/system/cpu/cpu11/online", "sys/devices/system/cpu/cpufreq/boost",
    )  # fmt: skip
    assert hardware_of(machine(tmp_path, *paths)) == Hardware(
        2, "/usr/bin/nvidia-smi", "/opt/rocm/bin/rocm-smi", infiniband=True, smartctl="/usr/sbin/smartctl",
        docker_socket="/run/docker.sock", pressure=True,
    )  # fmt: skip


def test_programs_without_hardware_or_rights_are_left_out(tmp_path: Path) -> None:
    paths = ("usr/bin/nvidia-smi", "opt/rocm/bin/rocm-smi", "sys/class/nvme/nvme0/model", "usr/sbin/smartctl")
    found = hardware_of(machine(tmp_path, *paths, is_root=False))
    assert found == Hardware(0, "", "", infiniband=False, smartctl="", docker_socket="", pressure=False)
