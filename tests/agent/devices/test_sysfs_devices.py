"""AMD GPUs and InfiniBand ports of a sysfs tree."""

from pathlib import Path

import pytest

from agent.collectors.collector import UnsupportedError
from agent.devices.amd import AmdGpus
from agent.devices.infiniband import InfinibandPorts
from agent.machine.machine import Machine
from agent.records.line_protocol import text_of
from shared.domain.telemetry.catalog.catalog import plugins

CARD = "sys/class/drm/card0/device"
PORT = "sys/class/infiniband/mlx5_ib0/ports/1/counters"
GPU_FILES = {
    "vendor": "0x1002", "device": "0x74b5", "unique_id": "2150e7d042a1124", "gpu_busy_percent": "97",
    "mem_busy_percent": "33", "mem_info_vram_total": "206141652992", "mem_info_vram_used": "1048576",
    "hwmon/hwmon3/temp1_input": "41000", "hwmon/hwmon3/temp1_label": "edge", "hwmon/hwmon3/temp2_input": "55500",
    "hwmon/hwmon3/temp2_label": "junction", "hwmon/hwmon3/temp3_input": "47000", "hwmon/hwmon3/temp3_label": "mem",
    "hwmon/hwmon3/power1_average": "141000000", "hwmon/hwmon3/pwm1": "51", "hwmon/hwmon3/freq1_input": "2100000000",
    "hwmon/hwmon3/freq1_label": "sclk", "hwmon/hwmon3/freq2_input": "1300000000", "hwmon/hwmon3/freq2_label": "mclk",
}  # fmt: skip


def write(root: Path, folder: str, files: dict[str, str]) -> Machine:
    for name, text in files.items():
        path = root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return Machine(str(root))


def test_an_amd_gpu_is_a_line_of_rocm_smi(tmp_path: Path) -> None:
    write(tmp_path, "sys/class/drm/card1/device", {"vendor": "0x1414"})
    write(tmp_path, "sys/class/drm/card0-HDMI-A-1/device", {"vendor": "0x1002"})
    gpus = AmdGpus(write(tmp_path, CARD, GPU_FILES))
    assert text_of(gpus.collect(0), 5) == (
        "amd_rocm_smi,gpu_id=0x74b5,gpu_unique_id=0x2150e7d042a1124,name=card0 utilization_gpu=97i,"
        "utilization_memory=33i,memory_total=206141652992i,memory_used=1048576i,memory_free=206140604416i,"
        "temperature_sensor_edge=41.0,temperature_sensor_junction=55.5,temperature_sensor_memory=47.0,"
        "clocks_current_sm=2100i,clocks_current_memory=1300i,power_draw=141.0,fan_speed=20i 5\n"
    )


def test_a_garbled_file_of_an_amd_gpu_costs_its_own_field(tmp_path: Path) -> None:
    files = {**GPU_FILES, "gpu_busy_percent": "busy", "mem_info_vram_used": "", "hwmon/hwmon3/temp2_input": "x"}
    (record,) = AmdGpus(write(tmp_path, CARD, files)).collect(0)
    missing = {"utilization_gpu", "memory_used", "memory_free", "temperature_sensor_junction"}
    assert not missing & set(record.fields)
    assert record.fields["power_draw"] == 141.0


def test_an_amd_gpu_without_sensors_or_with_the_newer_power_file_is_read(tmp_path: Path) -> None:
    files = {"vendor": "0x1002", "hwmon/hwmon0/power1_input": "5000000"}
    (record,) = AmdGpus(write(tmp_path, CARD, files)).collect(0)
    assert record.fields == {"power_draw": 5.0}


def test_a_port_has_the_counters_of_the_kernel(tmp_path: Path) -> None:
    counters = {
        "port_xmit_data": "18446744073709551615",
        "port_rcv_data": "12",
        "link_downed": "0",
        "symbol_error": "N/A",
    }
    machine = write(tmp_path, PORT, counters)
    (tmp_path / "sys/class/infiniband/mana_0/ports/1").mkdir(parents=True)
    assert text_of(InfinibandPorts(machine).collect(0), 5) == (
        "infiniband,device=mlx5_ib0,port=1 link_downed=0i,port_rcv_data=12i,port_xmit_data=18446744073709551615u 5\n"
    )
    assert {"port_xmit_data", "link_downed"} < set(plugins()["infiniband"].fields)


def test_nodes_without_the_devices_say_so(tmp_path: Path) -> None:
    machine = Machine(str(tmp_path))
    with pytest.raises(UnsupportedError, match="no AMD GPU"):
        AmdGpus(machine)
    with pytest.raises(UnsupportedError, match="no InfiniBand port"):
        InfinibandPorts(machine)
