"""NVIDIA's collector on a stub of NVML: golden lines, and each way in which a GPU or a driver degrades."""

import pytest

from agent.collectors.collector import UnsupportedError
from agent.devices.gpu_report import answers, table
from agent.devices.gpu_values import GpuErrors
from agent.devices.nvidia import NvidiaGpus
from agent.devices.nvml import Nvml
from agent.devices.nvml_codes import NvmlError
from agent.devices.nvml_structures import FieldValue, MemoryV2, ProcessSample, ProcessV1, ProcessV2, version_of
from agent.machine.clock import Clock
from agent.records.line_protocol import text_of
from agent.records.record import Record
from shared.domain.telemetry.catalog.catalog import plugins
from tests.agent.devices.conftest import Stub

NOT_SUPPORTED, LOST, DRIVER_NOT_LOADED, UNKNOWN = 3, 15, 9, 999
TAGS = "arch=Hopper,compute_mode=Default,index=1,name=NVIDIA\\ H100,pstate=P0,uuid=GPU-1"
MIG_TAGS = ("gpu_index=8,index=0,", "gpu_index=10,index=2,")
REASONS = (
    'clocks_event_reasons_gpu_idle="Not Active",clocks_event_reasons_applications_clocks_setting="Not Active",'
    'clocks_event_reasons_sw_power_cap="Active",clocks_event_reasons_hw_slowdown="Not Active",'
    'clocks_event_reasons_sync_boost="Not Active",clocks_event_reasons_sw_thermal_slowdown="Not Active",'
    'clocks_event_reasons_hw_thermal_slowdown="Active",clocks_event_reasons_hw_power_brake_slowdown="Not Active"'
)
FREQUENT = (
    "utilization_gpu=91i,utilization_memory=40i,memory_total=81559i,memory_used=200i,memory_free=80859i,"
    "memory_reserved=500i,power_draw=250.501,temperature_gpu=61i,clocks_current_sm=1980i,clocks_current_memory=2619i,"
    f"{REASONS},temperature_memory=70i,clocks_event_reasons_counters_sw_power_cap=74i,"
    "clocks_event_reasons_counters_sync_boost=76i,clocks_event_reasons_counters_sw_therm_slowdown=269i,"
    "clocks_event_reasons_counters_hw_therm_slowdown=270i,clocks_event_reasons_counters_hw_power_brake=271i"
)
RARE = (
    "power_limit=650.0,pcie_link_gen_current=5i,pcie_link_width_current=16i,"
    "ecc_errors_corrected_volatile_total=1099511627776i,ecc_errors_uncorrected_volatile_total=1099511627786i,"
    "ecc_errors_corrected_aggregate_total=1099511627777i,ecc_errors_uncorrected_aggregate_total=1099511627787i,"
    "ecc_errors_volatile_dram_correctable=2i,ecc_errors_volatile_dram_uncorrectable=102i,"
    "ecc_errors_aggregate_dram_correctable=12i,ecc_errors_aggregate_dram_uncorrectable=112i,"
    "ecc_errors_volatile_sram_correctable=7i,ecc_errors_volatile_sram_uncorrectable=107i,"
    "ecc_errors_aggregate_sram_correctable=17i,ecc_errors_aggregate_sram_uncorrectable=117i,"
    "remapped_rows_correctable=1i,remapped_rows_uncorrectable=2i,"
    'remapped_rows_pending="Yes",remapped_rows_failure="No"'
)
OWN = (
    "energy_joules=1234.567,mig_enabled=false,nvlink_crc_errors=153i,nvlink_receive_bytes=142336i,"
    "nvlink_recovery_errors=4i,nvlink_replay_errors=153i,nvlink_transmit_bytes=141312i,pcie_replays=3i"
)


def lines(records: list[Record]) -> list[str]:
    return text_of(records, 5).splitlines()


def of(records: list[Record], measurement: str) -> list[Record]:
    return [record for record in records if record.measurement == measurement]


def indexes(records: list[Record]) -> list[str]:
    return [record.tags["index"] for record in of(records, "nvidia_smi")]


def test_the_first_call_returns_everything_of_each_gpu(stub: Stub) -> None:
    records = list(NvidiaGpus(stub.session()).collect(0))
    assert len(records) == 16
    assert lines(records[2:4]) == [
        f"nvidia_smi,{TAGS} {FREQUENT},{RARE} 5",
        f"batchscope_gpu,arch=Hopper,index=1,name=NVIDIA\\ H100,uuid=GPU-1 {OWN} 5",
    ]


def test_rare_fields_come_with_every_sixth_call_and_the_tags_stay(stub: Stub) -> None:
    gpus = NvidiaGpus(stub.session())
    calls = [list(gpus.collect(0)) for _ in range(7)]
    assert lines(calls[1][2:3]) == [f"nvidia_smi,{TAGS} {FREQUENT} 5"]
    assert ["power_limit" in records[0].fields for records in calls] == [True, *[False] * 5, True]


def test_what_a_gpu_lacks_is_not_asked_again(stub: Stub) -> None:
    gpus = NvidiaGpus(stub.session())
    list(gpus.collect(0))
    stub.put("calls", 0)
    list(gpus.collect(0))
    assert stub.read("calls") == 8 * 9  # ten frequent queries but the fan's


def test_an_old_driver_costs_only_the_fields_that_it_lacks(old_stub: Stub) -> None:
    first = next(iter(NvidiaGpus(old_stub.session()).collect(0)))
    assert first.fields["memory_used"] == 100
    assert first.fields["memory_reserved"] == 0
    assert first.fields["power_limit"] == 700.0
    assert first.fields["clocks_event_reasons_sw_power_cap"] == "Active"
    assert "remapped_rows_pending" not in first.fields
    assert "arch" not in first.tags


def test_a_lost_gpu_costs_its_own_records_only(stub: Stub) -> None:
    gpus = NvidiaGpus(stub.session())
    list(gpus.collect(0))
    stub.fail(3, LOST)
    assert indexes(list(gpus.collect(0))) == ["0", "1", "2", "4", "5", "6", "7"]
    assert [(one.number, one.lost) for one in gpus.errors() if one.lost] == [(3, "GPU_IS_LOST")]
    stub.fail(3, 0)
    assert len(indexes(list(gpus.collect(0)))) == 8
    assert not any(one.lost for one in gpus.errors())


def test_a_gpu_that_was_lost_before_the_agent_began_is_named(stub: Stub) -> None:
    stub.fail(7, LOST)
    gpus = NvidiaGpus(stub.session())
    assert len(indexes(list(gpus.collect(0)))) == 7
    assert gpus.errors()[7] == GpuErrors(7, lost="GPU_IS_LOST")


def test_an_unknown_error_costs_fields_for_this_call_only(stub: Stub) -> None:
    gpus = NvidiaGpus(stub.session())
    list(gpus.collect(0))
    stub.fail(0, UNKNOWN)
    assert "utilization_gpu" not in next(iter(gpus.collect(0))).fields
    stub.fail(0, 0)
    assert "utilization_gpu" in next(iter(gpus.collect(0))).fields


def test_a_reloaded_driver_is_found_again_and_no_session_leaks(stub: Stub) -> None:
    session = stub.session()
    gpus = NvidiaGpus(session)
    list(gpus.collect(0))
    stub.put("session_code", DRIVER_NOT_LOADED)
    assert list(gpus.collect(0)) == []
    with pytest.raises(NvmlError, match="DRIVER_NOT_LOADED"):
        gpus.collect(0)
    assert stub.read("sessions") == 0
    stub.put("session_code", 0)
    for _ in range(5):  # attempts are rare
        with pytest.raises(NvmlError):
            gpus.collect(0)
    assert len(indexes(list(gpus.collect(0)))) == 8
    assert stub.read("sessions") == 1
    session.close()
    session.close()
    assert stub.read("sessions") == 0


def test_mig_devices_are_records_of_their_own(stub: Stub) -> None:
    stub.put("mig_gpu", 1)
    records = list(NvidiaGpus(stub.session()).collect(0))
    tags = TAGS.replace("compute_mode", "compute_index=0,compute_mode")
    first, second = (f"nvidia_smi_mig,{tags.replace('index=1,', by)}" for by in MIG_TAGS)
    rest = "memory_fb_reserved=500i,sram_uncorrectable=107i 5"
    assert lines(of(records, "nvidia_smi_mig")) == [
        f"{first} memory_fb_total=81559i,memory_fb_used=201i,memory_fb_free=80858i,{rest}",
        f"{second} memory_fb_total=81559i,memory_fb_used=203i,memory_fb_free=80856i,{rest}",
    ]
    assert "utilization_gpu" not in of(records, "nvidia_smi")[1].fields


def test_errors_are_plain_values(stub: Stub) -> None:
    gpus = NvidiaGpus(stub.session())
    list(gpus.collect(0))
    assert gpus.errors()[2] == GpuErrors(
        2, "GPU-2", "NVIDIA H100", 1 << 40, (1 << 40) + 10, rows_pending=True, rows_failed=False
    )


def test_fields_that_ingestion_knows_have_its_names(stub: Stub) -> None:
    fields = set(next(iter(NvidiaGpus(stub.session()).collect(0))).fields)
    unmapped = {name for name in fields - set(plugins()["nvidia_smi"].fields) if "aggregate" not in name}
    assert unmapped == {"memory_free", "memory_reserved"}


@pytest.mark.parametrize("code", [DRIVER_NOT_LOADED, 18])
def test_a_driver_that_is_not_loaded_is_unsupported(stub: Stub, code: int) -> None:
    stub.put("session_code", code)
    with pytest.raises(UnsupportedError, match="doesn't answer"):
        NvidiaGpus(stub.session())


def test_a_driver_without_gpus_is_unsupported(stub: Stub) -> None:
    stub.put("gpu_count", 0)
    with pytest.raises(UnsupportedError, match="no GPU"):
        NvidiaGpus(stub.session())


def test_a_missing_library_is_unsupported() -> None:
    with pytest.raises(UnsupportedError, match=r"libnvidia-ml\.so\.1"):
        Nvml(["/nowhere/libnvidia-ml.so.1"])


def test_structures_have_the_sizes_of_c_on_x64_and_arm64() -> None:
    assert version_of(MemoryV2, 2) == 0x2000028
    assert [len(bytes(one())) for one in (FieldValue, ProcessV1, ProcessV2, ProcessSample)] == [40, 16, 24, 32]


def test_every_code_has_a_name() -> None:
    assert [NvmlError(code).name for code in (3, 15, 30, 31, 999)] == [
        "NOT_SUPPORTED", "GPU_IS_LOST", "RESET_TYPE_NOT_SUPPORTED", "UNKNOWN", "UNKNOWN",
    ]  # fmt: skip


def test_a_table_shows_each_answer_and_error(stub: Stub) -> None:
    shown = table(answers(stub.session(), Clock())).splitlines()
    assert len(shown) == 2 + 8 * 22
    assert shown[2].startswith("| 0 | UtilizationRates | utilization_gpu=90, utilization_memory=40 | ")
    assert any(row.startswith("| 0 | FanSpeed | NOT_SUPPORTED | ") for row in shown)
